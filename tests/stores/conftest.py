from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.s3_server import BUCKET, KEYS, Door, s3_server


@pytest.fixture(scope="session")
def s3_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with s3_server(tmp_path_factory.mktemp("s3") / "server.log") as port:
        yield port


@pytest.fixture
def door(s3_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    """The way to the S3 server, which this process and those that it starts take."""
    door = Door(s3_port)
    door.open()
    settings = KEYS | {"AWS_ENDPOINT_URL": door.url, "AWS_REGION": "us-east-1"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield door
    door.close()


@pytest.fixture
def url(door: Door) -> str:
    """A place in the store that nobody has used."""
    return f"s3://{BUCKET}/runs/{secrets.token_hex(4)}"


@pytest.fixture
def other_machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that shares nothing with this one but the store."""
    return dict(os.environ) | {"XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
