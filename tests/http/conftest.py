"""Both clients, and certificates."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Callable

import pytest

from support.http_certificates import KEY, SMALL, Authority, Certificates
from toolcert.core.secrets import Eraser, Secret
from toolcert.http.aiohttp_client import AiohttpClient
from toolcert.http.base import HttpClient
from toolcert.http.client import DirectClient


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop that the program itself runs on; for the direct client, which stands on it, also the other one."""
    plain = {"asyncio": asyncio.new_event_loop}
    if sys.platform == "win32":
        return plain
    import uvloop

    return {"uvloop": uvloop.new_event_loop} | (plain if item.path.name == "test_direct.py" else {})


@pytest.fixture(params=[DirectClient, AiohttpClient])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[HttpClient]:
    """Each of the two clients: what holds for one must hold for the other."""
    kind: type[DirectClient | AiohttpClient] = request.param
    opened = kind(eraser=Eraser([Secret(KEY, source="test")]), caps=SMALL)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    authority, stranger = Authority("toolcert test"), Authority("stranger")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(authority.issue(folder / "server.pem"))
    return Certificates(server, authority.save(folder / "ca.pem"), stranger.save(folder / "other.pem"))
