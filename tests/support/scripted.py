"""A small HTTP server that answers as a test says, for answers that no real server can be brought to give."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Received(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Answer(NamedTuple):
    """What to send back; an object is sent as JSON."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = {}
    delay: float = 0.0
    slices: int = 0
    """Sent in chunks of so many bytes, whatever they cut; 0 for all at once."""


Script = Callable[[Received], Answer]


def in_turn(*answers: Answer) -> Script:
    """The answers one after the other, the last for ever."""
    left = list(answers)
    lock = threading.Lock()

    def respond(_: Received) -> Answer:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return respond


def completion(content: str = "hello", **fields: Any) -> Answer:
    """A regular chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return Answer(body | fields)


def refusal(status: int, message: str, **fields: Any) -> Answer:
    """An error in the protocol's form."""
    return Answer({"error": {"message": message, **fields}}, status)


def relay(vendor_url: str, spoil: Callable[[Received, Answer], Answer]) -> Script:
    """What another server answers, changed on its way; the model is always its `faithful` one."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    def respond(received: Received) -> Answer:
        path = received.path.removeprefix("/v1")
        body = json.dumps(received.json | {"model": "faithful"}).encode() if received.body else None
        asked = Request(vendor_url + path, data=body, headers={"Content-Type": "application/json"})
        try:
            with urlopen(asked) as came:
                kind = came.headers.get("Content-Type", "")
                return spoil(received, Answer(came.read(), came.status, {"Content-Type": kind}))
        except HTTPError as error:
            return spoil(received, Answer(error.read(), error.code))

    return respond


def faithful(
    change: Callable[[Any, Any], Any],
    *,
    chunks: Callable[[Any], Any] | None = None,
    frames: Callable[[list[bytes]], list[bytes]] | None = None,
) -> Script:
    """The faithful model under the id that was asked for; answers, chunks and events are changed on their way."""
    from toolcert.simulate.chat_completion import Identity
    from toolcert.simulate.faults.base import STREAM, Stage, Switch
    from toolcert.simulate.responder import respond
    from toolcert.simulate.traffic import Ask, Events, Raw

    switches = [Switch(stage=Stage.BODY, spoil=lambda body, ask: change(ask, body))]
    if chunks is not None:
        switches.append(Switch(stage=Stage.CHUNKS, spoil=lambda events, _ask: chunks(events), modes=STREAM))
    if frames is not None:
        switches.append(Switch(stage=Stage.FRAMES, spoil=lambda sent, _ask: frames(sent), modes=STREAM))
    identity, lock = Identity(), threading.Lock()

    def script(received: Received) -> Answer:
        if received.method == "GET":
            return refusal(404, "not found")
        with lock:
            given = respond(Ask(received.json), tuple(switches), identity)
        if isinstance(given, Events):
            return Answer(b"".join(given.frames), headers={"Content-Type": "text/event-stream"})
        assert isinstance(given, Raw)
        return Answer(given.content, given.status)

    return script


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # with the usual 5, a burst of connections waits for a second


class Scripted:
    """Serves on a free loopback port for as long as the context lasts."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[Received] = []
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.002}, daemon=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or a body waits 40 ms for the receipt of its head

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                received = Received(self.command, self.path, headers, body)
                server.received.append(received)
                answer = server.script(received)
                time.sleep(answer.delay)
                self._write(answer)

            def _write(self, answer: Answer) -> None:
                raw = isinstance(answer.body, bytes)
                data = answer.body if raw else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                if not answer.slices:
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                    return
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for place in range(0, len(data), answer.slices):
                    part = data[place : place + answer.slices]
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
                pass

        return Handler
