"""What only the direct client promises."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import ssl
import threading
import time
import weakref
from collections.abc import AsyncIterator

import brotli
import pytest

import toolcert.http.connection as pool_module
from support.http_certificates import KEY, Certificates
from support.http_servers import OK, Dialogue, always, arrivals, once, post, serving, sized
from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import FaultKind
from toolcert.core.targets import Timeouts
from toolcert.http.client import DirectClient
from toolcert.http.connection import MOST_TOGETHER, Connection, open_connection, tls_context
from toolcert.http.response import MAX_HEAD, Body, Caps, IncomingResponse
from toolcert.http.url import parse_address


@pytest.fixture
async def direct() -> AsyncIterator[DirectClient]:
    client = DirectClient()
    yield client
    await client.close()


async def test_a_ca_bundle_is_trusted_besides_the_system(certificates: Certificates) -> None:
    client = DirectClient(ca_bundle=str(certificates.authority))
    async with serving(always(sized(b"{}")), certificates.server) as server:
        for host in ("localhost", "127.0.0.1"):
            assert (await client.send(post(server.url(scheme="https", host=host)))).status == 200
        await client.close()


def test_the_authorities_of_the_system_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ssl.Purpose] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda _, purpose: asked.append(purpose))
    tls_context(None)
    assert asked == [ssl.Purpose.SERVER_AUTH]


async def test_another_authority_is_not_trusted(certificates: Certificates) -> None:
    client = DirectClient(ca_bundle=str(certificates.stranger))
    async with serving(always(sized(b"{}")), certificates.server) as server:
        response = await client.send(post(server.url(scheme="https", host="localhost")))
    assert response.fault is not None
    assert response.fault.kind is FaultKind.TLS
    await client.close()


@pytest.mark.parametrize("content", [None, b"no certificate"])
async def test_a_ca_bundle_that_cannot_be_read_is_our_users_to_mend(tmp_path, content: bytes | None) -> None:
    bundle = tmp_path / "ca.pem"
    if content is not None:
        bundle.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"ca\.pem"):
        await DirectClient(ca_bundle=str(bundle)).send(post("https://127.0.0.1:9/"))


async def test_an_idle_connection_is_not_trusted_for_long(
    direct: DirectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(always(sized(b"{}"))) as server:
        await direct.send(post(server.url()))
        monkeypatch.setattr(pool_module, "IDLE_SECONDS", -1.0)
        await direct.send(post(server.url()))
        assert server.connections == 2


async def test_only_so_many_idle_connections_are_kept() -> None:
    client = DirectClient(limit=1)
    async with serving(always(sized(b"{}"))) as server:
        await asyncio.gather(*(client.send(post(server.url())) for _ in range(3)))
        await asyncio.gather(*(client.send(post(server.url())) for _ in range(3)))
        assert server.connections == 5
    await client.close()


async def test_bytes_nobody_asked_for_end_the_connection(direct: DirectClient) -> None:
    async with serving(always(sized(b"{}") + sized(b"smuggled"))) as server:
        answers = [await direct.send(post(server.url())) for _ in range(2)]
        assert server.connections == 2
    assert [answer.payload for answer in answers] == [b"{}", b"{}"]


async def test_late_bytes_nobody_asked_for_end_the_connection(direct: DirectClient) -> None:
    async with serving(once(sized(b"{}"), sized(b"late"), pause=0.02)) as server:
        await direct.send(post(server.url()))
        await arrivals()
        assert (await direct.send(post(server.url()))).payload == b"{}"
        assert server.connections == 2


async def test_an_answer_before_the_request_is_sent_is_taken_and_the_connection_dropped(direct: DirectClient) -> None:
    async def script(dialogue: Dialogue) -> None:
        await dialogue._reader.readuntil(b"\r\n\r\n")
        await dialogue.write(sized(b"too large", status="413 Content Too Large"))
        await asyncio.sleep(0.2)

    async with serving(script) as server:
        response = await direct.send(post(server.url(), b"x" * 20_000_000))
        assert (response.status, response.payload) == (413, b"too large")
        await direct.send(post(server.url()))
        assert server.connections == 2


STREAM = sized(b"data: [DONE]\n\n", "Content-Type: text/event-stream")


async def test_a_goodbye_that_the_loop_has_not_seen_yet_is_noticed(direct: DirectClient) -> None:
    """The next request follows without a turn of the loop, so only the socket itself can tell."""
    closed = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer_and_close, args=(listener, 2, closed), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        assert (await direct.send(post(url))).status == 200
        assert closed.wait(60)  # the loop must not turn while the goodbye arrives
        time.sleep(0.05)  # noqa: ASYNC251 - same
        assert (await direct.send(post(url))).fault is None


def _answer_and_close(listener: socket.socket, times: int, closed: threading.Event) -> None:
    for _ in range(times):
        connection, _address = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(sized(b"{}"))
        closed.set()


async def test_a_server_that_closes_after_streams_without_saying_so_is_learnt(direct: DirectClient) -> None:
    async def script(dialogue: Dialogue) -> None:
        await dialogue.request()
        await dialogue.write(STREAM)
        await asyncio.sleep(0.005)

    async with serving(script) as server:
        await direct.send(post(server.url()))
        await arrivals()
        for _ in range(3):
            assert (await direct.send(post(server.url()))).fault is None
        assert server.connections == 4


async def test_connections_are_kept_after_streams_where_the_server_keeps_them(direct: DirectClient) -> None:
    async with serving(always(STREAM)) as server:
        for _ in range(3):
            assert (await direct.send(post(server.url()))).fault is None
        assert server.connections == 1


async def test_what_we_close_ourselves_teaches_nothing_about_the_server() -> None:
    client = DirectClient(limit=1)
    async with serving(always(STREAM)) as server:
        await asyncio.gather(*(client.send(post(server.url())) for _ in range(3)))
        await arrivals()
        await client.send(post(server.url()))
        assert server.connections == 3
    await client.close()


async def test_headers_without_end_are_oversized(direct: DirectClient) -> None:
    async with serving(once(OK + b"X: " + b"y" * (MAX_HEAD + 10), pause=0.3)) as server:
        response = await direct.send(post(server.url()))
    assert response.fault is not None
    assert response.fault.kind is FaultKind.OVERSIZED


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\n", "a\r"])
async def test_a_header_with_a_line_break_is_refused_without_showing_it(direct: DirectClient, value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await direct.send(post("http://127.0.0.1:9/", Authorization=KEY + value))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("under_way", ["opening", "asked"])
async def test_closing_ends_what_is_under_way(under_way: str) -> None:
    """Also a connection that is still being opened."""
    client, asked = DirectClient(), asyncio.Event()

    async def script(dialogue: Dialogue) -> None:
        await dialogue.request()
        asked.set()
        await asyncio.sleep(60)

    async with serving(script) as server:
        task = asyncio.create_task(client.send(post(server.url())))
        await (asked.wait() if under_way == "asked" else asyncio.sleep(0))
        await client.close()
        response = await asyncio.wait_for(task, 50)
    assert response.fault is not None
    assert response.fault.kind is FaultKind.RESET


def test_an_answer_is_freed_without_the_garbage_collector() -> None:
    """Bodies must not pile up between collections: memory does not grow with the dataset."""

    class Watched(Body):
        __slots__ = ("__weakref__",)

    gc.disable()
    try:
        answer = IncomingResponse(Watched(Caps()))
        seen = weakref.ref(answer.body)
        assert answer.feed(sized(b"{}"), 1.0)
        del answer
        assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "answer",
    [
        sized(brotli.compress(b"{}") + b"garbage", "Content-Encoding: br"),
        OK + b"Transfer-Encoding: chunked\r\n\r\n1f4\r\n" + b"x" * 500 + b"\r\n0\r\n\r\n",
    ],
    ids=["wrong encoding", "oversized"],
)
def test_an_answer_that_is_refused_and_complete_in_one_read_ends_once(answer: bytes) -> None:
    refused = IncomingResponse(Body(Caps(payload=100)))
    assert refused.feed(answer, 1.0)
    assert refused.fault is not None
    assert not refused.keep_alive


def test_trailers_change_nothing_that_the_headers_said() -> None:
    head = OK + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = IncomingResponse(Body(Caps()))
    assert answer.feed(head + b"2\r\n{}\r\n0\r\nContent-Type: text/html\r\nX-Late: 1\r\n\r\n", 1.0)
    assert answer.headers["content-type"] == "application/json"
    assert "x-late" not in answer.headers


async def test_the_limit_of_the_whole_attempt_bounds_connecting_too(direct: DirectClient) -> None:
    """A server that takes the connection and never agrees on TLS."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        began = time.monotonic()
        response = await direct.send(post(url, timeouts=Timeouts(connect=100.0, total=0.2)))
    assert time.monotonic() - began < 50
    assert response.fault is not None
    assert response.fault.kind is FaultKind.TIMEOUT


@pytest.mark.parametrize("closed_ones", [0, 1])
async def test_the_address_that_answers_is_taken_and_sends_without_delay(
    monkeypatch: pytest.MonkeyPatch, closed_ones: int
) -> None:
    """A server with one address, and one whose first address refuses."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        places = [*[unused.getsockname()] * closed_ones, listener.getsockname()]

        async def resolve(_: object) -> list[object]:
            return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place) for place in places]

        monkeypatch.setattr(pool_module._Opening, "_resolve", resolve)
        connection = await open_connection(parse_address("http://server").origin, None, 50.0)
        assert isinstance(connection, Connection)
        assert connection._transport is not None
        opened = connection._transport.get_extra_info("socket")
        assert opened.getpeername() == listener.getsockname()
        assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        connection.abort()


@pytest.mark.parametrize(
    ("url", "origin", "target"),
    [
        ("http://h", "http://h", "/"),
        ("https://h:443/v1", "https://h", "/v1"),
        ("http://H:8000/v1/", "http://h:8000", "/v1/"),
        ("http://[::1]:8000/v1", "http://[::1]:8000", "/v1"),
        ("http://bücher.example/ü?q=ü", "http://xn--bcher-kva.example", "/%C3%BC?q=%C3%BC"),
        ("https://h/a%20b?version=2024-01-01&x=%2F", "https://h", "/a%20b?version=2024-01-01&x=%2F"),
        ("https://h/a b", "https://h", "/a%20b"),
    ],
)
def test_addresses_are_taken_apart(url: str, origin: str, target: str) -> None:
    address = parse_address(url)
    assert (str(address.origin), address.target) == (origin, target)


@pytest.mark.parametrize("host", ["a..b", f"{64 * 'a'}.example", f"{64 * 'ü'}.example"])
def test_a_name_that_no_resolver_takes_is_refused(host: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a host name"):
        parse_address(f"http://{host}/v1")


async def test_many_requests_of_one_turn_are_all_sent(direct: DirectClient) -> None:
    async with serving(always(sized(b"{}"))) as server:
        for _ in range(3):
            responses = await asyncio.gather(*(direct.send(post(server.url())) for _ in range(MOST_TOGETHER + 9)))
            assert [response.status for response in responses] == [200] * (MOST_TOGETHER + 9)


async def test_the_wait_for_others_that_are_sent_together_is_in_no_time_of_the_server(direct: DirectClient) -> None:
    async def occupy_the_loop() -> None:
        time.sleep(0.4)  # noqa: ASYNC251 - that is what it is for

    async with serving(always(sized(b"{}"))) as server:
        await direct.send(post(server.url()))
        response, _ = await asyncio.gather(direct.send(post(server.url())), occupy_the_loop())
    timing = response.timing
    assert timing.connect is not None
    assert timing.first_byte is not None
    assert timing.last_byte is not None
    assert 0 <= timing.connect < 0.2
    assert 0 < timing.first_byte <= timing.last_byte < 0.2


async def test_a_connection_that_the_server_closes_while_a_request_waits_is_replaced_by_another(
    direct: DirectClient,
) -> None:
    """Nothing was on the wire: it is no attempt that failed."""
    dialogues: list[Dialogue] = []

    async def answer(dialogue: Dialogue) -> None:
        dialogues.append(dialogue)
        while await dialogue.request():
            await dialogue.write(sized(b"{}"))

    async def close_first() -> None:
        with socket.socket(fileno=os.dup(dialogues[0].writer.get_extra_info("socket").fileno())) as first:
            first.shutdown(socket.SHUT_RDWR)

    async with serving(answer) as server:
        await direct.send(post(server.url()))
        response, _ = await asyncio.gather(direct.send(post(server.url())), close_first())
    assert (response.status, response.fault) == (200, None)
    assert (server.connections, len(server.requests)) == (2, 2)
