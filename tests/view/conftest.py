"""Viewers over real HTTP, and browsers that look at them."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from reports.verify_samples import write_verify_run
from support.http_servers import OK, Dialogue, serving
from toolcert.api.endpoint import Endpoint
from toolcert.api.probe import ProbeOptions, probe_async
from toolcert.api.verify import verify_async
from toolcert.verification.verify_options import VerifyOptions
from toolcert.view.viewer import Viewer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A verify run of 120 rows in a folder of runs."""
    return write_verify_run(tmp_path_factory.mktemp("runs") / "small", rows=120)


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with hostile text wherever a vendor or a dataset can write."""
    return write_verify_run(tmp_path_factory.mktemp("hostile") / "run", rows=40, hostile=True)


@pytest.fixture(scope="session")
def stalled_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A verify and a probe run against a server whose streams stop for 0.8 s before their fifth event."""
    return _run_beside(tmp_path_factory.mktemp("stalled"), pause=0.8)


@pytest.fixture(scope="session")
def streamed_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with streams that do not stop."""
    return _run_beside(tmp_path_factory.mktemp("streamed"), pause=0.002)


def _run_beside(folder: Path, pause: float) -> Path:
    with ThreadPoolExecutor() as beside:  # where a browser is open, its event loop runs here
        beside.submit(asyncio.run, _streamed(folder, pause)).result()
    return folder


async def _streamed(folder: Path, pause: float) -> None:
    name = {"index": 0, "id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    part = {"index": 0, "function": {"arguments": '{"city": "Oslo"}'}}
    deltas = [{"role": "assistant"}, {"content": "I look."}, {"content": "\u202e"}, {"tool_calls": [name]}]
    deltas += [{"tool_calls": [part]}, {}]
    chunks = [{"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks[-1]["choices"][0]["finish_reason"] = "tool_calls"  # type: ignore[index]  # a list of one
    events = [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]

    async def script(dialogue: Dialogue) -> None:
        while await dialogue.request():
            await dialogue.write(OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number, event in enumerate(events):
                await asyncio.sleep(pause if number == 4 else 0.002)
                data = f"data: {event}\n\n".encode()
                await dialogue.write(b"%x\r\n%b\r\n" % (len(data), data))
            await dialogue.write(b"0\r\n\r\n")

    weather = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": weather}}
    asked = {"messages": [{"role": "user", "content": "Weather?"}], "tools": [tool], "stream": True}
    (folder / "rows.jsonl").write_text(json.dumps(asked) + "\n")
    async with serving(script) as server:
        url = server.url("/v1")
        options = VerifyOptions(model="m", output=str(folder / "verify"))
        await verify_async(folder / "rows.jsonl", Endpoint(url), options)
        probing = ProbeOptions(model=("m",), probe=("streaming",), iterations=1, output=str(folder / "probe"))
        await probe_async(Endpoint(url), options=probing)


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks a viewer as a browser does, with the cookie it was given."""

    def __init__(self, viewer: Viewer) -> None:
        self.port = urlsplit(viewer.address).port
        self.token = urlsplit(viewer.first_address).query
        self.cookie = ""

    def ask(self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            given["Cookie"] = self.cookie
        try:
            connection.request(method, path, body=body, headers=given)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def let_in(self) -> Client:
        answer = self.ask(f"/?{self.token}")
        assert answer.status == 303
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self

    def post(self, path: str, value: Any, **headers: str) -> Answer:
        origin = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json"} | headers
        return self.ask(path, method="POST", body=json.dumps(value).encode(), **origin)


@pytest.fixture
def viewed(tmp_path: Path) -> Iterator[Callable[..., Viewer]]:
    """Open viewers that share a cache."""
    opened: list[Viewer] = []

    def view(*places: Path, **options: Any) -> Viewer:
        viewer = Viewer(*places, port=0, cache=tmp_path / "cache", **options)
        opened.append(viewer.__enter__())
        return viewer

    yield view
    for viewer in opened:
        viewer.__exit__()


class Visit:
    """A page of the viewer in a browser, and everything that went wrong on it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", lambda request: self._requested(request.url, address))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "404 (Not Found)" not in message.text:
            self.problems.append(f"{message.type}: {message.text}")

    def _requested(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:,")):
            self.problems.append(f"request: {url}")


@pytest.fixture(scope="module")
def browser(part: Callable[[str], Path]) -> Iterator[Browser]:
    """One Chromium for the tests of a module."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(part("browser")), args=flags)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a viewer in a browser; at the end nothing may have gone wrong or been asked of others."""
    visits: list[Visit] = []

    def open_page(viewer: Viewer, path: str = "", *, width: int = 1280, **context: Any) -> Page:
        page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
        page.set_default_timeout(120_000)
        visits.append(Visit(page, viewer.address))
        page.goto(viewer.first_address)
        if path:
            page.goto(viewer.address + path.lstrip("/"))
        return page

    yield open_page
    for one in visits:
        one.page.context.close()
        assert one.problems == []
