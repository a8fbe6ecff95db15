"""What both clients do with whatever a server does: one request out, one account of what came back."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
import zlib

import brotli
import pytest

from support.http_certificates import KEY, SMALL, Certificates
from support.http_servers import OK, Dialogue, always, arrivals, once, post, serving, sized, stalling
from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Exchange, FaultKind
from toolcert.core.requests import Request
from toolcert.core.targets import Timeouts
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse
from toolcert.protocol.arrivals import pace_of

EVENTS = OK + b"Content-Type: text/event-stream\r\n\r\n"
CHUNKED = OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'


def fault_of(response: HttpResponse) -> tuple[FaultKind, str]:
    assert response.fault is not None
    return response.fault.kind, response.fault.message


# ---- the regular exchange --------------------------------------------------------------------------


async def test_an_answer_is_kept_as_received(client: HttpClient) -> None:
    async with serving(always(sized(b'{"a": 1}', "Content-Type: application/json", "X-Request-ID: 7"))) as server:
        response = await client.send(post(server.url()))
    assert (response.status, response.payload, response.fault) == (200, b'{"a": 1}', None)
    assert (response.headers["x-request-id"], response.event_stream) == ("7", False)


async def test_the_request_is_what_was_composed(client: HttpClient) -> None:
    async with serving(always(sized(b"{}"))) as server:
        await client.send(post(server.url("/v1/x?version=2024-01-01&q=a%20b"), b'{"b": 2}', Authorization="Bearer k"))
        (received,) = server.requests
    head, body = received.split(b"\r\n\r\n", 1)
    line, *headers = head.decode().split("\r\n")
    assert (line, body) == ("POST /v1/x?version=2024-01-01&q=a%20b HTTP/1.1", b'{"b": 2}')
    named = dict(header.lower().split(": ", 1) for header in headers)
    assert named == {
        "host": f"127.0.0.1:{server.port}",
        "accept-encoding": "gzip, br",
        "content-type": "application/json",
        "authorization": "bearer k",
        "content-length": "8",
    }


async def test_a_get_has_no_body(client: HttpClient) -> None:
    async with serving(always(sized(b"{}"))) as server:
        response = await client.send(HttpRequest(method="GET", url=server.url("/v1/models")))
        assert b"content-length" not in server.requests[0].lower()
    assert response.status == 200


async def test_connections_are_kept_alive(client: HttpClient) -> None:
    async with serving(always(sized(b"{}"))) as server:
        for _ in range(3):
            assert (await client.send(post(server.url()))).fault is None
        assert (server.connections, len(server.requests)) == (1, 3)


async def test_concurrent_requests_have_connections_of_their_own(client: HttpClient) -> None:
    async with serving(once(sized(b"{}"), pause=0.05)) as server:
        responses = await asyncio.gather(*(client.send(post(server.url())) for _ in range(5)))
        assert server.connections == 5
    assert [response.status for response in responses] == [200] * 5


async def test_a_connection_the_server_closes_is_not_used_again(client: HttpClient) -> None:
    async with serving(once(sized(b"{}", "Connection: close"))) as server:
        for _ in range(2):
            assert (await client.send(post(server.url()))).fault is None
        assert server.connections == 2


async def test_an_error_status_is_an_answer(client: HttpClient) -> None:
    async with serving(always(sized(b"busy", "Retry-After: 2", status="429 Too Many Requests"))) as server:
        response = await client.send(post(server.url()))
    assert (response.status, response.headers["retry-after"], response.fault) == (429, "2", None)


@pytest.mark.parametrize("body", [b"", b"{}"])
async def test_a_body_may_last_until_the_connection_ends(client: HttpClient, body: bytes) -> None:
    async with serving(once(OK + b"\r\n" + body)) as server:
        response = await client.send(post(server.url()))
    assert (response.payload, response.fault) == (body, None)


async def test_an_interim_answer_is_skipped(client: HttpClient) -> None:
    interim = b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n"
    async with serving(always(interim + sized(b"{}"))) as server:
        response = await client.send(post(server.url()))
    assert (response.status, response.payload, "x-interim" in response.headers) == (200, b"{}", False)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
        b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"X-Odd: a\x01b\r\nContent-Length: 2\r\n\r\n{}",
        OK + "X-Accent: é\r\nContent-Length: 2\r\n\r\n{}".encode("latin-1"),
        OK + b"Transfer-Encoding: chunked\r\n\r\n2  \r\n{}\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2;ext=1\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n",
    ],
)
async def test_sloppy_but_common_http_is_understood(client: HttpClient, answer: bytes) -> None:
    async with serving(once(answer)) as server:
        response = await client.send(post(server.url()))
    assert (response.status, response.payload, response.fault) == (200, b"{}", None)


async def test_no_cookie_is_ever_kept(client: HttpClient) -> None:
    async with serving(always(sized(b"{}", "Set-Cookie: session=1; Path=/"))) as server:
        for _ in range(2):
            await client.send(post(server.url()))
        assert b"session" not in server.requests[1]


# ---- streams and times -----------------------------------------------------------------------------


@pytest.mark.parametrize("media_type", ["text/event-stream", "text/event-stream; charset=utf-8", "Text/Event-Stream"])
async def test_a_stream_is_known_by_its_media_type(client: HttpClient, media_type: str) -> None:
    async with serving(always(sized(TOKEN, f"Content-Type: {media_type}"))) as server:
        assert (await client.send(post(server.url()))).event_stream


@pytest.mark.parametrize("body", [TOKEN, b"event: message\n" + TOKEN, b"id: 1\n" + TOKEN])
async def test_a_stream_is_known_by_its_form_too(client: HttpClient, body: bytes) -> None:
    async with serving(always(sized(body, "Content-Type: application/json"))) as server:
        assert (await client.send(post(server.url()))).event_stream


async def test_times_are_in_order_and_count_from_the_start(client: HttpClient) -> None:
    async with serving(once(EVENTS, ROLE, TOKEN, b"data: [DONE]\n\n", pause=0.02)) as server:
        timing = (await client.send(post(server.url()))).timing
    assert timing.connect is not None
    assert timing.first_byte is not None
    assert timing.first_token is not None
    assert timing.last_byte is not None
    assert 0 <= timing.connect <= timing.first_byte < timing.first_token < timing.last_byte < 5
    assert timing.first_token - timing.first_byte >= 0.015  # of two pauses, one may pass before the first byte is read


async def test_a_kept_connection_takes_no_time_to_connect(client: HttpClient) -> None:
    async with serving(always(sized(b"{}"))) as server:
        await client.send(post(server.url()))
        taken = [(await client.send(post(server.url()))).timing.connect for _ in range(5)]
        assert server.connections == 1
    assert min(seconds for seconds in taken if seconds is not None) < 0.02


async def test_a_plain_answer_has_no_first_token(client: HttpClient) -> None:
    async with serving(always(sized(b'{"content": "hi"}'))) as server:
        assert (await client.send(post(server.url()))).timing.first_token is None


async def test_the_first_token_is_timed_within_10_ms_of_the_wire(client: HttpClient) -> None:
    """P8: one of 25, because the machine may be busy; no read of 64 KiB is waited for."""
    sent: list[float] = []

    async def script(dialogue: Dialogue) -> None:
        while await dialogue.request():
            await dialogue.write(CHUNKED + b"%x\r\n%b\r\n" % (len(ROLE), ROLE))
            await asyncio.sleep(0.03)
            sent.append(time.monotonic())
            await dialogue.write(b"%x\r\n%b\r\n" % (len(TOKEN), TOKEN))
            await asyncio.sleep(0.03)
            await dialogue.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")

    late: list[float] = []
    async with serving(script) as server:
        for _ in range(25):
            told: list[float] = []
            began = time.monotonic()
            response = await client.send(
                post(server.url()), on_first_token=lambda told=told: told.append(time.monotonic())
            )
            assert response.timing.first_token is not None
            assert len(told) == 1
            late.append(max(began + response.timing.first_token, told[0]) - sent[-1])
            if 0 <= late[-1] < 0.010:
                return
    pytest.fail(str(late))


@pytest.mark.heavy
@pytest.mark.parametrize("coding", ["plain", "gzip"])
async def test_a_pause_inside_a_stream_is_seen_at_the_event_that_follows_it(client: HttpClient, coding: str) -> None:
    """The pause is far longer than a busy machine holds up a read."""
    packer = zlib.compressobj(wbits=31)
    head = CHUNKED if coding == "plain" else CHUNKED[:-2] + b"Content-Encoding: gzip\r\n\r\n"

    async def send(dialogue: Dialogue, data: bytes, *, last: bool = False) -> None:
        packed = packer.compress(data) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
        data = data if coding == "plain" else packed
        await dialogue.write(b"%x\r\n%b\r\n" % (len(data), data) + (b"0\r\n\r\n" if last else b""))

    async def script(dialogue: Dialogue) -> None:
        await dialogue.request()
        await dialogue.write(head)
        await send(dialogue, ROLE + TOKEN + TOKEN)
        await asyncio.sleep(0.8)
        await send(dialogue, TOKEN + TOKEN)
        await send(dialogue, b"data: [DONE]\n\n", last=True)

    async with serving(script) as server:
        response = await client.send(post(server.url()))
    assert response.payload == ROLE + 4 * TOKEN + b"data: [DONE]\n\n"
    pace = pace_of(
        Exchange(request=Request(body={}), payload=response.payload, event_stream=True, arrivals=response.arrivals)
    )
    assert pace is not None
    assert (len(pace.times), pace.token, pace.slowest) == (6, 1, 3)
    assert pace.longest >= 0.3
    assert response.timing.last_byte is not None
    assert pace.times[-1] <= response.timing.last_byte + 0.001  # arrivals are kept in whole milliseconds


async def test_only_streams_have_arrivals(client: HttpClient) -> None:
    async with serving(always(sized(b"{}"))) as server:
        assert (await client.send(post(server.url()))).arrivals is None
    async with serving(always(sized(TOKEN, "Content-Type: text/event-stream"))) as server:
        arrivals = (await client.send(post(server.url()))).arrivals
    assert arrivals is not None
    assert sum(arrivals.pieces[1::2]) == len(TOKEN)


# ---- what goes wrong -------------------------------------------------------------------------------


async def test_nobody_there_is_a_connect_fault(client: HttpClient) -> None:
    async with serving(always(b"")) as server:
        url = server.url()
    response = await client.send(post(url))
    kind, message = fault_of(response)
    assert (kind, response.status) == (FaultKind.CONNECT, None)
    assert re.search(r"cannot connect to 127\.0\.0\.1:\d+: .*refused", message.lower())


async def test_an_unknown_host_is_a_connect_fault(client: HttpClient) -> None:
    kind, message = fault_of(await client.send(post("http://no-such-host.invalid/")))
    assert (kind, "cannot resolve no-such-host.invalid" in message) == (FaultKind.CONNECT, True)


async def test_a_close_before_any_answer_is_a_reset_and_nothing_is_sent_twice(client: HttpClient) -> None:
    async with serving(once()) as server:
        response = await client.send(post(server.url()))
        assert len(server.requests) == 1
    assert (fault_of(response)[0], response.status) == (FaultKind.RESET, None)
    assert "before any answer" in fault_of(response)[1]


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_kept_connection_that_dies_under_a_request_is_not_silently_tried_again(
    client: HttpClient, method: str
) -> None:
    async def script(dialogue: Dialogue) -> None:
        await dialogue.request()
        await dialogue.write(sized(b"{}"))
        await dialogue.request()

    async with serving(script) as server:
        request = HttpRequest(method=method, url=server.url(), content=b"{}" if method == "POST" else None)
        assert (await client.send(request)).fault is None
        response = await client.send(request)
        assert len(server.requests) == 2
    assert fault_of(response)[0] is FaultKind.RESET


@pytest.mark.parametrize(
    ("writes", "reset"),
    [
        ([OK + b"Content-Length: 100\r\n\r\n" + TOKEN], False),
        ([OK + b"Content-Length: 100\r\n\r\n" + TOKEN], True),
        ([CHUNKED, b"%x\r\n%b\r\n" % (len(TOKEN), TOKEN)], False),
        ([CHUNKED, b"%x\r\n%b\r\n" % (len(TOKEN), TOKEN)], True),
    ],
)
async def test_an_answer_that_breaks_off_is_a_reset_with_what_came(
    client: HttpClient, writes: list[bytes], reset: bool
) -> None:
    async with serving(once(*writes, reset=reset, pause=0.02)) as server:
        response = await client.send(post(server.url()))
    kind, message = fault_of(response)
    assert (kind, response.status, response.payload) == (FaultKind.RESET, 200, TOKEN)
    assert "inside the answer" in message
    assert response.timing.last_byte is None


async def test_a_stream_that_just_ends_is_no_fault(client: HttpClient) -> None:
    async with serving(once(EVENTS + TOKEN)) as server:
        response = await client.send(post(server.url()))
    assert (response.fault, response.payload, response.event_stream) == (None, TOKEN, True)


@pytest.mark.parametrize("junk", [b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"HTTP/9 oops\r\n\r\n", b"\x00\x01\x02\r\n\r\n"])
async def test_what_is_not_http_is_a_reset(client: HttpClient, junk: bytes) -> None:
    async with serving(once(junk, pause=0.02)) as server:
        kind, message = fault_of(await client.send(post(server.url())))
    assert (kind, "not HTTP" in message) == (FaultKind.RESET, True)


@pytest.mark.parametrize(
    ("writes", "limits", "words", "status"),
    [
        ([], Timeouts(read=0.05), "no answer began within 0.05 s", None),
        ([EVENTS + TOKEN], Timeouts(between_chunks=0.05), "nothing more came within 0.05 s", 200),
        ([EVENTS + TOKEN], Timeouts(total=0.5), "the answer was not complete within 0.5 s", 200),
        ([], Timeouts(total=0.05), "the answer was not complete within 0.05 s", None),
    ],
)
async def test_each_time_limit_is_kept_and_named(
    client: HttpClient, writes: list[bytes], limits: Timeouts, words: str, status: int | None
) -> None:
    async with serving(stalling(*writes)) as server:
        began = time.monotonic()
        response = await client.send(post(server.url(), timeouts=limits))
        took = time.monotonic() - began
    assert (*fault_of(response), response.status) == (FaultKind.TIMEOUT, words, status)
    assert response.payload == (TOKEN if writes else b"")
    assert 0.045 <= took < 50  # the timers of the loop count in whole milliseconds


async def test_a_stream_may_take_long_as_long_as_something_comes(client: HttpClient) -> None:
    for pause in (0.03, 0.1, 0.3, 1.0):  # the machine may be busy
        async with serving(once(EVENTS, *([TOKEN] * 8), pause=pause)) as server:
            limits = Timeouts(read=5 * pause, between_chunks=5 * pause)
            response = await client.send(post(server.url(), timeouts=limits))
        if response.fault is None:
            break
    assert (response.fault, response.payload) == (None, TOKEN * 8)


async def test_a_tls_agreement_that_never_comes_is_a_connect_timeout(client: HttpClient) -> None:
    async with serving(stalling()) as server:
        response = await client.send(post(server.url(scheme="https"), timeouts=Timeouts(connect=0.05)))
    kind, message = fault_of(response)
    assert (kind, "within 0.05 s" in message) == (FaultKind.TIMEOUT, True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OK + b"Content-Length: 20001\r\n\r\n", "20000 bytes"),
        (OK + b"\r\n" + b"x" * 20_001, "20000 bytes"),
        (EVENTS + b"data: " + b"x" * 5_001, "line of the stream"),
        (EVENTS + TOKEN + b"data: " + b"x" * 5_001 + b"\n\n", "line of the stream"),
        (sized(gzip.compress(bytes(50_000_000)), "Content-Encoding: gzip"), "20000 bytes"),
        (sized(brotli.compress(bytes(50_000_000), quality=1), "Content-Encoding: br"), "20000 bytes"),
    ],
)
async def test_an_answer_above_its_caps_is_oversized(client: HttpClient, answer: bytes, words: str) -> None:
    async with serving(stalling(answer)) as server:
        response = await client.send(post(server.url(), timeouts=Timeouts(read=50, between_chunks=50)))
    kind, message = fault_of(response)
    assert (kind, words in message) == (FaultKind.OVERSIZED, True)
    assert len(response.payload) < 10 * SMALL.payload


# ---- content codings -------------------------------------------------------------------------------


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("gzip", gzip.compress(TOKEN * 20, mtime=0)),
        ("gzip", gzip.compress(TOKEN * 5, mtime=0) + gzip.compress(TOKEN * 15, mtime=0)),
        ("br", brotli.compress(TOKEN * 20)),
        ("identity", TOKEN * 20),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_codings_are_undone_however_they_are_cut(
    client: HttpClient, name: str, encoded: bytes, size: int
) -> None:
    parts = [encoded[start : start + size] for start in range(0, len(encoded), size)]
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    head = OK + f"Content-Encoding: {name}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    async with serving(always(head + chunked)) as server:
        response = await client.send(post(server.url()))
    assert (response.payload, response.fault) == (TOKEN * 20, None)


@pytest.mark.parametrize("body", [b"no gzip at all", gzip.compress(TOKEN, mtime=0)[:-12]])
async def test_a_body_that_is_not_what_its_coding_says_is_a_fault(client: HttpClient, body: bytes) -> None:
    async with serving(always(sized(body, "Content-Encoding: gzip"))) as server:
        assert fault_of(await client.send(post(server.url())))[0] is FaultKind.RESET


# ---- TLS -------------------------------------------------------------------------------------------


async def test_a_certificate_of_an_unknown_authority_is_a_tls_fault(
    client: HttpClient, certificates: Certificates
) -> None:
    async with serving(always(sized(b"{}")), certificates.server) as server:
        response = await client.send(post(server.url(scheme="https", host="localhost"), Authorization=f"Bearer {KEY}"))
        assert server.requests == []
    kind, message = fault_of(response)
    assert (kind, "is not trusted" in message, "CA bundle" in message) == (FaultKind.TLS, True, True)


async def test_a_server_without_tls_is_a_tls_fault(client: HttpClient) -> None:
    async def script(dialogue: Dialogue) -> None:
        await dialogue.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with serving(script) as server:
        kind, message = fault_of(await client.send(post(server.url(scheme="https"))))
    assert (kind, "127.0.0.1" in message) == (FaultKind.TLS, True)


# ---- redirects and secrets -------------------------------------------------------------------------


def redirect(location: str, status: int = 307) -> bytes:
    return sized(b"", f"Location: {location}", status=f"{status} Elsewhere")


async def test_a_redirect_within_the_server_is_followed_with_its_body(client: HttpClient) -> None:
    async def script(dialogue: Dialogue) -> None:
        while request := await dialogue.request():
            await dialogue.write(redirect("/v1/there") if b"POST /v1/here" in request else sized(b"arrived"))

    async with serving(script) as server:
        response = await client.send(post(server.url("/v1/here"), b'{"q":1}', Authorization="Bearer k"))
        assert b"POST /v1/there" in server.requests[1]
        assert server.requests[1].endswith(b'{"q":1}')
    assert (response.status, response.payload, response.fault) == (200, b"arrived", None)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_credentials_are_never_carried_to_another_server(client: HttpClient, status: int) -> None:
    async with serving(always(sized(b"{}"))) as other, serving(always(redirect(other.url("/steal"), status))) as server:
        response = await client.send(post(server.url(), Authorization=f"Bearer {KEY}"))
        assert other.connections == 0
    kind, message = fault_of(response)
    assert (kind, response.status) == (FaultKind.CONFIGURATION, status)
    assert f"127.0.0.1:{other.port}" in message


@pytest.mark.parametrize("location", ["", "ftp://x/", "http://user:pw@127.0.0.1/", "http://["])
async def test_a_redirect_to_nowhere_is_a_fault(client: HttpClient, location: str) -> None:
    async with serving(always(redirect(location))) as server:
        assert fault_of(await client.send(post(server.url())))[0] is FaultKind.CONFIGURATION


async def test_a_post_is_not_turned_into_a_get(client: HttpClient) -> None:
    async with serving(always(redirect("/login", 302))) as server:
        kind, message = fault_of(await client.send(post(server.url())))
        assert len(server.requests) == 1
    assert (kind, "turn POST into GET" in message) == (FaultKind.CONFIGURATION, True)


async def test_a_circle_of_redirects_ends(client: HttpClient) -> None:
    async with serving(always(redirect("/again"))) as server:
        kind, message = fault_of(await client.send(post(server.url())))
        assert len(server.requests) == 4
    assert (kind, "more than 3 redirects" in message) == (FaultKind.CONFIGURATION, True)


async def test_secrets_are_erased_from_all_that_comes_back(client: HttpClient) -> None:
    answer = sized(b'{"error": "bad key ' + KEY.encode() + b'"}', f"X-Echo: {KEY}", status="401 Unauthorized")
    async with serving(always(answer)) as server:
        response = await client.send(post(server.url(), Authorization=f"Bearer {KEY}"))
    assert KEY not in str(response)
    assert response.payload == b'{"error": "bad key [secret]"}'


async def test_secrets_are_erased_from_faults(client: HttpClient) -> None:
    async with serving(always(redirect(f"/{KEY}", 302))) as server:
        response = await client.send(post(server.url()))
    assert KEY not in str(response)
    assert "[secret]" in fault_of(response)[1]


# ---- ours ------------------------------------------------------------------------------------------


async def test_a_cancelled_request_leaves_nothing_behind(client: HttpClient) -> None:
    async with serving(stalling(EVENTS + TOKEN)) as server:
        task = asyncio.create_task(client.send(post(server.url())))
        while not server.requests:  # noqa: ASYNC110 - a server of lists, for one test
            await asyncio.sleep(0.01)
        await arrivals()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = await client.send(post(server.url(), timeouts=Timeouts(between_chunks=0.05)))
        assert server.connections == 2
    assert again.payload == TOKEN


@pytest.mark.parametrize(
    "url", ["ftp://x/", "127.0.0.1:8000", "http://", "http://a..b/", "http://h:99999/", "http://me:pw@127.0.0.1/"]
)
async def test_an_address_that_cannot_be_used_is_our_users_to_mend(client: HttpClient, url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await client.send(post(url))
    assert "pw" not in str(caught.value)
    assert caught.value.remedy
