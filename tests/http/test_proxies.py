"""Proxies of the environment are used where they apply, and only there."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from support.http_certificates import Certificates
from support.http_servers import Dialogue, always, post, serving, sized
from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import FaultCause, FaultKind
from toolcert.http.client import Client
from toolcert.http.url import Proxies, parse_address


async def test_a_plain_request_goes_through_the_proxy_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(always(sized(b"from the proxy"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url(""))
        client = Client()
        response = await client.send(post("http://models.example/v1/x", b'{"q":1}'))
        await client.close()
        assert proxy.requests[0].startswith(b"POST http://models.example/v1/x HTTP/1.1")
        assert proxy.requests[0].endswith(b'{"q":1}')
    assert (response.status, response.payload) == (200, b"from the proxy")
    assert response.timing.connect is not None


async def test_a_stream_through_a_proxy_has_its_times(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = b"data: {}\n\ndata: [DONE]\n\n"
    async with serving(always(sized(stream, "Content-Type: text/event-stream"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url(""))
        client = Client()
        response = await client.send(post("http://models.example/v1/x", b"{}"))
        await client.close()
    assert response.arrivals is not None
    assert sum(response.arrivals.pieces[1::2]) == len(stream)


async def test_tls_goes_through_a_tunnel(monkeypatch: pytest.MonkeyPatch, certificates: Certificates) -> None:
    async with serving(always(sized(b"inside")), certificates.server) as server, serving(_tunnel) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url(""))
        client = Client(ca_bundle=str(certificates.authority))
        response = await client.send(post(server.url(scheme="https", host="localhost"), Authorization="Bearer k"))
        await client.close()
        assert proxy.requests[0].startswith(f"CONNECT localhost:{server.port} HTTP/1.1".encode())
        assert b"Bearer" not in proxy.requests[0]
    assert (response.payload, response.fault) == (b"inside", None)


async def _tunnel(dialogue: Dialogue) -> None:
    """Do what a proxy does after CONNECT."""
    request = await dialogue.request()
    host, _, port = request.split()[1].decode().partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await dialogue.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

    async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            target.write(data)
        target.close()

    await asyncio.gather(pump(reader, dialogue.writer), pump(dialogue._reader, writer))


async def test_a_proxy_that_refuses_is_a_connect_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(always(sized(b"", status="403 Forbidden"))) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url(""))
        client = Client()
        response = await client.send(post("https://models.example/v1"))
        await client.close()
    assert response.fault is not None
    assert (response.fault.kind, "status 403" in response.fault.message) == (FaultKind.CONNECT, True)
    assert response.fault.cause is FaultCause.PROXY


async def test_a_proxy_that_is_not_there_is_a_connect_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(always(b"")) as proxy:
        address = proxy.url("")
    monkeypatch.setenv("HTTP_PROXY", address)
    client = Client()
    response = await client.send(post("http://models.example/v1"))
    await client.close()
    assert response.fault is not None
    assert (response.fault.kind, "the proxy 127.0.0.1" in response.fault.message) == (FaultKind.CONNECT, True)
    assert response.fault.cause is FaultCause.PROXY


async def test_hosts_in_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    client = Client()
    async with serving(always(sized(b"direct"))) as server:
        assert (await client.send(post(server.url()))).payload == b"direct"
    await client.close()


async def test_the_environment_is_left_alone_where_it_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    client = Client(trust_env=False)
    async with serving(always(sized(b"direct"))) as server:
        assert (await client.send(post(server.url()))).payload == b"direct"
    await client.close()


@pytest.mark.parametrize(
    ("variable", "value", "url", "proxy"),
    [
        ("HTTP_PROXY", "http://p:1", "http://h/", "http://p:1"),
        ("http_proxy", "p:1", "http://h/", "http://p:1"),
        ("HTTP_PROXY", "http://p:1", "https://h/", None),
        ("HTTPS_PROXY", "http://p:1", "https://h/", "http://p:1"),
        ("ALL_PROXY", "http://p:1", "https://h/", "http://p:1"),
        ("NO_PROXY", "h", "https://h/", None),
    ],
)
def test_each_variable_has_its_meaning(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, url: str, proxy: str | None
) -> None:
    monkeypatch.setenv(variable, value)
    assert Proxies().for_origin(parse_address(url).origin) == proxy


def test_a_proxy_of_another_kind_is_our_users_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:pw@p:1080")
    with pytest.raises(ConfigurationError) as caught:
        Proxies().for_origin(parse_address("http://h/").origin)
    assert "pw" not in str(caught.value)


def test_without_a_proxy_aiohttp_is_not_even_imported() -> None:
    """It takes a tenth of a second to import, and the direct way does not need it."""
    code = "import sys, toolcert.http.client, toolcert.protocol.reply; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
