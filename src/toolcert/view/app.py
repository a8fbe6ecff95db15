"""The web application: pages, figures as JSON, and a stream of what changes."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from toolcert.core.errors import ISSUES, InputError, ToolcertError, UsageError
from toolcert.core.findings import codes_of
from toolcert.core.verdict import Word
from toolcert.difference.diff import diff_runs
from toolcert.difference.run_difference import RunDifference
from toolcert.reports.html.page import asset, page_policy, style_sheet
from toolcert.reports.probe.phrases import ROLES
from toolcert.runs.encoding import decode_record
from toolcert.runs.location import RunState, run_name
from toolcert.runs.marks import MARKS, MOST_NOTE, Mark, MarkKind, append_mark, own_marks
from toolcert.version import __version__
from toolcert.view.case_view import case_view
from toolcert.view.guard import HEADERS, POLICY, Guard, Handler, page
from toolcert.view.library import Library, ViewedRun
from toolcert.view.search_query import ORDERS, Condition, condition_of, terms_of

if TYPE_CHECKING:
    from pathlib import Path

MOST_ROWS = 300
"""Cases that one answer lists."""
MOST_BODY = 64 * 1024
BEAT_SECONDS = 15.0
"""A stream without news sends a sign of life now and then, which keeps it open."""
LEAST_PAUSE = 0.3
"""Between two pieces of news about one run: a fast run must not flood the browser."""
KEPT_DIFFERENCES = 20
MOST_SEARCHED = 200
"""Runs that a search over everything looks into."""
_SCRIPTS = ("main", "dom", "net", "runs", "run", "cases", "case", "sides", "keys")
_PAGES = ("/", "/runs/{run}", "/sides")


class ViewApp:
    """Routes of one viewer."""

    def __init__(self, library: Library, guard: Guard) -> None:
        self._library = library
        self._guard = guard
        self._listeners: set[_Listener] = set()
        self._pages: dict[str, tuple[Any, str]] = {}
        self._differences: dict[Any, RunDifference] = {}

    def application(self) -> web.Application:
        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard.check(request, handler)

        application = web.Application(client_max_size=MOST_BODY, middlewares=[_explained, guarded])
        get, post = application.router.add_get, application.router.add_post
        for path in _PAGES:
            get(path, _shell)
        get("/assets/{name}", _asset)
        get("/runs/{run}/report", self._report)
        get("/api/runs", self._runs)
        get("/api/runs/{run}", self._run)
        get("/api/runs/{run}/cases", self._cases)
        get("/api/runs/{run}/facets", self._facets)
        get("/api/runs/{run}/case", self._case)
        get("/api/runs/{run}/line", self._line)
        get("/api/search", self._search)
        get("/api/sides", self._sides)
        get("/api/events", self._events)
        post("/api/runs/{run}/marks", self._mark)
        application.cleanup_ctx.append(self._watch)
        return application

    async def _watch(self, _: web.Application) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def tell(name: str) -> None:
            for listener in self._listeners:
                listener.hear(name)

        def on_change(name: str) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, name)

        self._library.on_change = on_change
        await asyncio.to_thread(self._library.start)
        yield
        await asyncio.to_thread(self._library.close)

    def _named(self, request: web.Request) -> ViewedRun:
        return self._library.want(request.match_info["run"])

    async def _runs(self, _: web.Request) -> web.Response:
        library = self._library
        listed = [_in_list(run) for run in library.newest_first()]
        troubles = [{"folder": folder, "why": why} for folder, why in library.troubles.items()]
        places = [shelf.name for shelf in library.shelves]
        return answer({"runs": listed, "troubles": troubles, "places": places, "toolcert": __version__})

    async def _run(self, request: web.Request) -> web.Response:
        run = self._named(request)
        return answer(await asyncio.to_thread(_whole_run, run))

    async def _cases(self, request: web.Request) -> web.Response:
        """A window of the cases that fit a query; with `case` the window around that one."""
        run, begun = self._named(request), time.perf_counter()
        start, most = _number(request, "start", 0), min(_number(request, "count", 100), MOST_ROWS)
        return answer(await asyncio.to_thread(_window, run, request.query, start, most, begun))

    async def _facets(self, request: web.Request) -> web.Response:
        run = self._named(request)

        def count() -> Any:
            condition = _condition(run, request.query.get("q", ""))
            return run.index.facets(None if condition == Condition() else run.index.found(condition))

        return answer({"facets": await asyncio.to_thread(count)})

    async def _case(self, request: web.Request) -> web.Response:
        run, key = self._named(request), request.query.get("key", "")

        def view() -> Any:
            return case_view(_line_of(run, key), run.manifest, tuple(own_marks(run.folder)))

        return answer(await asyncio.to_thread(view))

    async def _line(self, request: web.Request) -> web.Response:
        """The line of the log as it is, to save."""
        line = await asyncio.to_thread(_line_of, self._named(request), request.query.get("key", ""))
        headers = {"Content-Disposition": 'attachment; filename="record.json"', **HEADERS}
        return web.Response(body=line, content_type="application/octet-stream", headers=headers)

    async def _report(self, request: web.Request) -> web.Response:
        """The page that `toolcert report --html` writes."""
        run = self._named(request)
        known, html = self._pages.get(run.name, (None, ""))
        now = run.seen, own_marks(run.folder)
        if known != now:
            known, html = now, await asyncio.to_thread(_report_page, run.folder)
            self._pages = {run.name: (known, html)}
        headers = {"Content-Security-Policy": f"{page_policy()}; frame-ancestors 'none'", **HEADERS}
        return web.Response(text=html, content_type="text/html", headers=headers)

    async def _search(self, request: web.Request) -> web.Response:
        """How many cases of each run fit a query; runs that are not read yet are named."""
        query = request.query.get("q", "")
        runs = self._library.newest_first()[:MOST_SEARCHED]

        def search() -> Any:
            hits, unread = [], 0
            for run in runs:
                if run.progress.searchable < run.seen.size:
                    unread += 1
                found = run.index.found(_condition(run, query))
                if found:
                    hits.append({"run": run.name, "cases": len(found), "first": run.index.rows(found[:3])})
            return {"hits": hits, "unread": unread, "searched": len(runs)}

        terms_of(query)
        return answer(await asyncio.to_thread(search))

    async def _sides(self, request: web.Request) -> web.Response:
        """What changed from one run to another, as `toolcert diff` says it."""
        before, after = (self._library.want(request.query.get(name, "")) for name in ("before", "after"))
        wanted = (before.name, before.seen, after.name, after.seen)
        if wanted not in self._differences:
            while len(self._differences) >= KEPT_DIFFERENCES:
                self._differences.pop(next(iter(self._differences)))
            self._differences[wanted] = await asyncio.to_thread(diff_runs, before.folder, after.folder)
        words = {word.value: (ROLES[word], word.text) for word in Word}
        return answer({"difference": self._differences[wanted], "words": words})

    async def _mark(self, request: web.Request) -> web.Response:
        """The only thing that the viewer writes."""
        run = self._named(request)
        if request.content_type != "application/json":
            raise UsageError("a mark is sent as JSON.")
        try:
            given = msgspec.json.decode(await request.read(), type=Mark)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"this is not a mark: {error}.") from None
        if len(given.note) > MOST_NOTE:
            raise UsageError(f"the note has {len(given.note)} characters.", remedy=f"Use at most {MOST_NOTE}.")

        def keep() -> Mark:
            if run_name(run.folder) != str(run.folder):
                raise UsageError("this run is in an object store.", remedy="Copy it to a folder to mark its cases.")
            record = decode_record(_line_of(run, given.case))
            known = (*record.codes, *codes_of(record.detail.findings))
            if given.finding is not None and given.finding not in known:
                raise UsageError(f"the case has no finding {given.finding}.")
            content = record.row.content if record.row else ""
            mark = Mark(
                case=record.case, kind=MarkKind(given.kind), finding=given.finding, note=given.note, content=content
            )
            return append_mark(run.folder / MARKS, mark)

        return answer(await asyncio.to_thread(keep), status=201)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """News for one browser: the list changed, or the run that it looks at grew."""
        watched = request.query.get("run", "")
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream; charset=utf-8", **HEADERS, "Content-Security-Policy": POLICY}
        )
        await response.prepare(request)
        listener = _Listener()
        self._listeners.add(listener)
        try:
            await response.write(b": hello\n\n")
            while True:
                for name in await listener.news():
                    await response.write(self._news(name, watched))
                if watched in self._library.runs:
                    self._library.want(watched)
        except (ConnectionResetError, asyncio.CancelledError):
            return response
        finally:
            self._listeners.discard(listener)

    def _news(self, name: str, watched: str) -> bytes:
        if not name or name not in self._library.runs:
            return b'event: runs\ndata: ""\n\n'
        run = self._library.runs[name]
        data = _progress(run) if name == watched else _in_list(run)
        return f"event: {'grown' if name == watched else 'run'}\ndata: {_json(data)}\n\n".encode()


class _Listener:
    """One open stream of news; what changes faster than it can be sent is sent once."""

    def __init__(self) -> None:
        self._heard: dict[str, None] = {}
        self._rung = asyncio.Event()

    def hear(self, name: str) -> None:
        self._heard[name] = None
        self._rung.set()

    async def news(self) -> list[str]:
        try:
            async with asyncio.timeout(BEAT_SECONDS):
                await self._rung.wait()
        except TimeoutError:
            return [""]
        await asyncio.sleep(LEAST_PAUSE)
        heard, self._heard = list(self._heard), {}
        self._rung.clear()
        return heard


async def _shell(_: web.Request) -> web.Response:
    return page(_shell_page())


@cache
def _shell_page() -> str:
    text = files("toolcert.view").joinpath("assets", "shell.html").read_text("utf-8")
    return text.replace("<!--symbols-->", asset("symbols.svg"))


async def _asset(request: web.Request) -> web.Response:
    kind, text = _asset_text(request.match_info["name"])
    headers = {**HEADERS, "Content-Security-Policy": POLICY}
    return web.Response(text=text, content_type=kind, headers=headers)


@cache
def _asset_text(name: str) -> tuple[str, str]:
    """The media type and text of a file; the names are a closed list."""
    folder = files("toolcert.view").joinpath("assets")
    if name == "view.css":
        return "text/css", style_sheet() + "\n" + folder.joinpath("view.css").read_text("utf-8")
    if name.removesuffix(".js") in _SCRIPTS and name.endswith(".js"):
        return "text/javascript", folder.joinpath(name).read_text("utf-8")
    raise web.HTTPNotFound


@web.middleware
async def _explained(request: web.Request, handler: Handler) -> web.StreamResponse:
    """An error as one sentence; nothing of ours is shown as a traceback."""
    try:
        return await handler(request)
    except InputError as error:
        return answer({"error": str(error)}, status=404)
    except ToolcertError as error:
        return answer({"error": str(error)}, status=400)
    except web.HTTPException as error:
        error.headers.update({**HEADERS, "Content-Security-Policy": POLICY})
        raise
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return answer({"error": f"This cannot be read: {error}"}, status=500)
    except Exception as error:  # noqa: BLE001 - not hidden: the page shows it
        said = f"toolcert failed here ({type(error).__name__}: {error}). Please report it: {ISSUES}"
        return answer({"error": said}, status=500)


def answer(value: Any, status: int = 200) -> web.Response:
    """A value as JSON; every character beyond ASCII is escaped."""
    headers = {**HEADERS, "Content-Security-Policy": POLICY}
    return web.Response(text=_json(value), status=status, content_type="application/json", headers=headers)


def _json(value: Any) -> str:
    return json.dumps(_whole(value), separators=(",", ":"))


def _whole(value: Any) -> Any:
    """A value with all of its fields, also those at their default, and without numbers that JSON does not know."""
    if isinstance(value, msgspec.Struct):
        return {name: _whole(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {str(key): _whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else default


def _progress(run: ViewedRun) -> dict[str, Any]:
    return {
        "run": run.name,
        "state": run.state.value,
        "size": run.seen.size,
        "index": run.progress,
        "carded": run.card.size if run.card else -1,
    }


def _in_list(run: ViewedRun) -> dict[str, Any]:
    """A run as the list of runs shows it."""
    manifest, card = run.manifest, run.card.card if run.card else None
    models = [info.id for infos in manifest.models.values() for info in infos]
    model = manifest.parameters.get("model")
    return {
        "run": run.name,
        "folder": run_name(run.folder),
        "job": manifest.job,
        "suite": manifest.about,
        "endpoints": [spec.name for spec in manifest.endpoints],
        "addresses": [spec.base_url for spec in manifest.endpoints],
        "models": [str(model)] if model and not models else models,
        "started_at": manifest.started_at,
        "finished_at": manifest.finished_at,
        "headline": card.headline if card else run.trouble,
        "role": card.role if card else "unknown",
        "word": card.word if card else "",
        "tally": card.tally if card else [],
        "cost": card.cost if card else "",
        "planned": manifest.planned,
        **_progress(run),
    }


def _whole_run(run: ViewedRun) -> dict[str, Any]:
    """A run as its page shows it."""
    manifest = run.manifest
    live = run.index.by_model() if run.card is None or run.state is RunState.RUNNING else []
    return {
        **_in_list(run),
        "card": run.card.card if run.card else None,
        "live": live,
        "probes": manifest.probes,
        "iterations": manifest.iterations,
        "argv": manifest.argv,
        "marks": len(own_marks(run.folder)),
    }


def _window(run: ViewedRun, query: Any, start: int, most: int, begun: float) -> dict[str, Any]:
    order = query.get("sort", "place")
    if order.lstrip("-") not in ORDERS:
        raise UsageError(f"there is no order {order}.", remedy=f"Orders: {', '.join(ORDERS)}.")
    if not run.progress.size:
        run.index.grow(0.0)  # one batch, so that the first rows are there at once
    ids = run.index.found(_condition(run, query.get("q", "")), order)
    place = -1
    if key := query.get("case", ""):
        wanted = run.index.found(condition_of(terms_of(f"case:{json.dumps(key, ensure_ascii=False)}")))
        place = ids.index(wanted[0]) if wanted and wanted[0] in ids else -1
        start = max(0, place - most // 2) if place >= 0 else start
    rows = run.index.rows(ids[start : start + most])
    marked = _marked(run)
    for row in rows:
        row["marks"] = sorted(kind for kind, keys in marked.items() if row["key"] in keys)
    took = time.perf_counter() - begun
    return {"total": len(ids), "start": start, "place": place, "rows": rows, "took": took}


def _condition(run: ViewedRun, query: str) -> Condition:
    terms = terms_of(query)
    return condition_of(terms, _marked(run) if any(term.field == "mark" for term in terms) else None)


def _marked(run: ViewedRun) -> dict[str, frozenset[str]]:
    marks = own_marks(run.folder)
    return {kind.value: run.index.covered(mark.case for mark in marks if mark.kind is kind) for kind in MarkKind}


def _line_of(run: ViewedRun, key: str) -> bytes:
    line = run.index.line(key)
    if line is None:
        raise InputError(
            "the run has no such case.", remedy="It may have been started again with --fresh; go back to the list."
        )
    return line


def _report_page(folder: Path) -> str:
    from toolcert.load_test.summary import summarise_load
    from toolcert.probes.summary.summariser import summarise_run
    from toolcert.reports.formats import Extras, render
    from toolcert.runs.reader import read_manifest
    from toolcert.verification.summary.tally import summarise

    job = read_manifest(folder).job
    if job not in ("probe", "verify", "load"):
        raise InputError(f"a run of the kind {job} has no page.")
    summary = (
        summarise_run(folder) if job == "probe" else summarise(folder) if job == "verify" else summarise_load(folder)
    )
    return str(render(job, "html", summary, Extras(run=str(folder))))
