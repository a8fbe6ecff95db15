"""The database of the store: tables and migrations, SQLite in a file by default, PostgreSQL by URL."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    inspect,
    select,
    text,
)

from toolcert.core.errors import (
    ConfigurationError,
    InputError,
    MissingExtraError,
    OutputError,
    ToolcertWarning,
    install_line,
)
from toolcert.core.secrets import HIDDEN, passwords_in, without_password
from toolcert.core.statistics.rates import PROBE_THRESHOLD

SCHEMA_VERSION = 3
"""Raise it together with a new step in `_STEPS`."""

metadata = MetaData()

meta = Table(
    "toolcert_meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "toolcert_runs",
    metadata,
    Column("run", String(80), primary_key=True),
    Column("day", String(10), nullable=False, index=True),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("interrupted", Boolean, nullable=False, default=False),
    Column("source", String(20), nullable=False),
    Column("toolcert", String(40), nullable=False, default=""),
    Column("suite", String(40)),
    Column("iterations", Integer),
    Column("threshold", Float, nullable=False, default=PROBE_THRESHOLD),
    Column("versions", JSON, nullable=False, default=dict),
    Column("partial", Boolean, nullable=False, default=False, server_default=false()),
)

observations = Table(
    "toolcert_observations",
    metadata,
    Column("run", String(80), ForeignKey("toolcert_runs.run", ondelete="CASCADE"), primary_key=True),
    Column("endpoint", String(200), primary_key=True),
    Column("model", String(300), primary_key=True),
    Column("probe", String(80), primary_key=True),
    Column("day", String(10), nullable=False),
    Column("at", Float, nullable=False),
    Column("passed", Integer, nullable=False, default=0),
    Column("failed", Integer, nullable=False, default=0),
    Column("unsupported", Integer, nullable=False, default=0),
    Column("not_measured", Integer, nullable=False, default=0),
    Column("skipped", Integer, nullable=False, default=0),
    Column("called", Integer, nullable=False, default=0),
    Column("callable", Integer, nullable=False, default=0),
    Column("handled", Integer, nullable=False, default=0),
    Column("handleable", Integer, nullable=False, default=0),
    Column("low", Float),
    Column("high", Float),
    Column("call_p50", Float),
    Column("call_p95", Float),
    Column("answer_p50", Float),
    Column("answer_p95", Float),
    Column("first_token_p50", Float),
    Column("reason", Text, nullable=False, default=""),
    Column("fingerprint", String(200)),
    Column("original", JSON),
    Index("toolcert_observations_by_model", "model", "probe", "day"),
    Index("toolcert_observations_by_day", "day"),
)

findings = Table(
    "toolcert_findings",
    metadata,
    Column("run", String(80), ForeignKey("toolcert_runs.run", ondelete="CASCADE"), primary_key=True),
    Column("endpoint", String(200), primary_key=True),
    Column("model", String(300), primary_key=True),
    Column("probe", String(80), primary_key=True),
    Column("code", String(120), primary_key=True),
    Column("severity", String(10), nullable=False),
    Column("count", Integer, nullable=False),
    Column("evidence", Text, nullable=False, default=""),
)

registry = Table(
    "toolcert_registry",
    metadata,
    Column("model", String(300), primary_key=True),
    Column("original", JSON, nullable=False),
)
"""Rows of an imported models_registry.csv, unchanged."""

BUSY_SECONDS = 60.0
"""How long a writer waits for other writers; adding a run takes milliseconds."""
_SLICE_MILLISECONDS = 500


def open_engine(location: str) -> Engine:
    """Connect to a path or URL and bring its schema up to date."""
    from sqlalchemy.exc import SQLAlchemyError

    engine = _engine(location)
    try:
        bring_up_to_date(engine)
    except SQLAlchemyError as error:
        raise _unusable(location, error) from error
    return engine


@contextmanager
def transaction(engine: Engine, *, write: bool) -> Iterator[Connection]:
    """A transaction that sees one consistent state of the store.

    SQLite does not let a reader become a writer half-way, so a writer takes the lock at the start.
    """
    from sqlalchemy.exc import OperationalError

    try:
        with ExitStack() as stack:
            yield _begun(engine, stack, write=write)
    except OperationalError as error:  # a full disk, a read-only file, a server that does not answer
        raise _unusable(engine.url.render_as_string(hide_password=True), error) from error
    except (KeyError, OverflowError, TypeError, ValueError, msgspec.ValidationError) as error:
        # SQLite keeps any value in any column, and a history, like a run, may come from a stranger.
        raise InputError(
            f"a value does not fit the history {engine.url.render_as_string(hide_password=True)}: {error}.",
            remedy="Use a copy from before it was changed; if only toolcert wrote to it, please report this.",
        ) from error


def _begun(engine: Engine, stack: ExitStack, *, write: bool) -> Connection:
    """A connection whose transaction has begun; waits for another process that holds the lock, and says so."""
    from sqlalchemy.exc import OperationalError

    if engine.dialect.name != "sqlite":
        return stack.enter_context(engine.begin())
    until = None
    while True:
        try:
            with ExitStack() as attempt:
                connection = attempt.enter_context(engine.begin())
                # Short waits: SQLite does not react to Ctrl-C while it waits.
                connection.exec_driver_sql(f"PRAGMA busy_timeout={_SLICE_MILLISECONDS}")
                connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
                connection.exec_driver_sql(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
                stack.push(attempt.pop_all())
                return connection
        except OperationalError as error:
            if not _is_locked(error) or (until is not None and time.monotonic() > until):
                raise
            if until is None:
                until = time.monotonic() + BUSY_SECONDS
                place = engine.url.database
                message = f"another process is writing to the history {place}; waiting up to {BUSY_SECONDS:.0f} s."
                warnings.warn(message, ToolcertWarning, stacklevel=2)


def _is_locked(error: Exception) -> bool:
    return "database is locked" in str(error)


def is_url(location: str) -> bool:
    """Whether the store is a server rather than a file."""
    return "://" in location


def _engine(location: str) -> Engine:
    return _server(location) if is_url(location) else _file(Path(location))


def _server(location: str) -> Engine:
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    url = location
    for scheme in ("postgresql://", "postgres://"):
        if location.startswith(scheme):
            url = "postgresql+psycopg://" + location.removeprefix(scheme)
    try:
        return create_engine(url, hide_parameters=True, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"the history at {shown(location)} needs {error.name}.", remedy=install_line("postgres")
        ) from None
    except (ArgumentError, NoSuchModuleError) as error:
        cause = _without_passwords(str(error).splitlines()[0], location)
        raise ConfigurationError(
            f"{shown(location)} is not a valid address of a history: {cause}.",
            remedy="Use a file name or postgresql://user@host/database.",
        ) from None


def _file(path: Path) -> Engine:
    from sqlalchemy import create_engine, event

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create the folder of {path}: {error.strerror or error}.") from None
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _SLICE_MILLISECONDS / 1000})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # `transaction` begins them itself
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    return engine


def shown(location: str) -> str:
    """The location without a password."""
    return without_password(location)


def _without_passwords(text: str, location: str) -> str:
    for password in passwords_in(location):
        text = text.replace(password, HIDDEN)
    return text


def _unusable(location: str, error: Exception) -> InputError:
    if _is_locked(error):
        return InputError(
            f"the history at {shown(location)} is locked by another process.",
            remedy="Wait until that has finished, and run the same command again.",
        )
    cause = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    return InputError(
        f"the history at {shown(location)} cannot be used: {_without_passwords(cause, location)}.",
        remedy="Check that it is a history of toolcert and that you may write to it.",
    )


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
    """Keep two processes from creating the same PostgreSQL store at once; SQLite locks the file anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7067201)"))


def lock_run(connection: Connection, name: str) -> None:
    """Keep two processes from adding the same run to PostgreSQL at once: neither sees the rows of the other."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7067202, hashtext(:name))"), {"name": name})


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(meta.name):
        return None
    value = connection.execute(select(meta.c.value).where(meta.c.name == "schema")).scalar()
    return None if value is None else int(value)


def _from_1(connection: Connection) -> None:
    """Version 1 had neither the time to the first token nor the imported registry."""
    connection.execute(text("ALTER TABLE toolcert_observations ADD COLUMN first_token_p50 FLOAT"))
    metadata.tables["toolcert_registry"].create(connection, checkfirst=True)


def _from_2(connection: Connection) -> None:
    """Version 2 did not know which runs asked only some of the listed models."""
    connection.execute(text("ALTER TABLE toolcert_runs ADD COLUMN partial BOOLEAN NOT NULL DEFAULT FALSE"))


_STEPS: dict[int, Callable[[Connection], None]] = {1: _from_1, 2: _from_2}
