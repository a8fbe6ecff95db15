"""The schema's way from any earlier version to the current one, in one transaction."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, Engine, inspect, select, text

from toolcert.core.errors import InputError
from toolcert.history.opening import transaction
from toolcert.history.tables import SCHEMA_VERSION, meta, metadata


def bring_up_to_date(engine: Engine) -> None:
    """Create the tables, or bring those of an earlier version up to date."""
    with transaction(engine, write=True) as connection:
        _lock(connection)
        version = _version(connection)
        if version is None:
            metadata.create_all(connection)
            connection.execute(meta.insert().values(name="schema", value=str(SCHEMA_VERSION)))
            return
        if version > SCHEMA_VERSION:
            raise InputError(
                f"the history has schema {version}; this toolcert knows up to {SCHEMA_VERSION}.",
                remedy="Update toolcert.",
            )
        for step in range(version, SCHEMA_VERSION):
            _STEPS[step](connection)
        connection.execute(meta.update().where(meta.c.name == "schema").values(value=str(SCHEMA_VERSION)))


def _lock(connection: Connection) -> None:
    """Two processes that open a new PostgreSQL store at once must not both create it; SQLite locks by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7067201)"))


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(meta.name):
        return None
    value = connection.execute(select(meta.c.value).where(meta.c.name == "schema")).scalar()
    return None if value is None else int(value)


def _from_1(connection: Connection) -> None:
    """Version 1 kept no time to the first token and no imported registry."""
    connection.execute(text("ALTER TABLE toolcert_observations ADD COLUMN first_token_p50 FLOAT"))
    metadata.tables["toolcert_registry"].create(connection, checkfirst=True)


_STEPS: dict[int, Callable[[Connection], None]] = {1: _from_1}
