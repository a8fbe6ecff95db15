"""Opening the store: SQLite in a file by default, PostgreSQL by URL, the schema brought up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcert.core.errors import ConfigurationError, InputError, MissingExtraError, OutputError, install_line
from toolcert.core.secrets import HIDDEN, passwords_in, without_password

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

DEFAULT_FILE = "toolcert-history.sqlite"
BUSY_SECONDS = 60.0
"""How long a writer waits for the others; an add takes milliseconds."""


def open_engine(location: str) -> Engine:
    """The engine for a path or a URL, its schema current."""
    from sqlalchemy.exc import SQLAlchemyError

    from toolcert.history.migrations import bring_up_to_date

    engine = _engine(location)
    try:
        bring_up_to_date(engine)
    except SQLAlchemyError as error:
        raise _unusable(location, error) from error
    return engine


@contextmanager
def transaction(engine: Engine, *, write: bool) -> Iterator[Connection]:
    """A transaction that sees one state of the store; a writer takes its turn at the start.

    SQLite refuses a reader that turns writer half-way, so writers ask for the lock at once.
    """
    from sqlalchemy.exc import OperationalError

    try:
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection
    except OperationalError as error:  # a full disk, a file that cannot be written, a server that is gone
        raise _unusable(engine.url.render_as_string(hide_password=True), error) from error


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
            f"{shown(location)} is no address of a history: {cause}.",
            remedy="Use a file name or postgresql://user@host/database.",
        ) from None


def _file(path: Path) -> Engine:
    from sqlalchemy import create_engine, event

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder of {path}: {error.strerror or error}.") from None
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # `transaction` says when one begins
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
    cause = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    return InputError(
        f"the history at {shown(location)} cannot be used: {_without_passwords(cause, location)}.",
        remedy="Check that it is a history of toolcert and that you may write to it.",
    )
