"""The viewer as an object: serves from a thread of its own until it is closed."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import tempfile
import threading
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Self

from aiohttp import web

from toolcert.core.errors import InputError, UsageError
from toolcert.core.secrets import Secret
from toolcert.runs.location import locate_run
from toolcert.runs.provenance import RUNS
from toolcert.stores.object_url import is_url
from toolcert.view.guard import Guard, check_host
from toolcert.view.library import Library, Shelf

PORT = 8230
"""Asked for if no port is named, so that a link still leads somewhere tomorrow; another is taken if it is in use."""
LATEST_AT_URL = re.compile(r"/latest(~\d+)?/?$")
_SILENT = logging.Logger("toolcert.view")  # noqa: LOG001 - private to this module: it has no handler and no parent
_SILENT.addHandler(logging.NullHandler())
"""What any page or program sends to the port must not write to the terminal; errors of ours are in the answers."""
_STARTS_WITHIN = 30.0
_ENDS_WITHIN = 10.0


class Viewer:
    """All runs below some places in the browser.

    >>> with Viewer("toolcert-runs") as viewer:
    ...     webbrowser.open(viewer.first_address)

    A place is a run, a folder of runs, `latest`, or an address of runs. Nothing is written but marks.
    """

    def __init__(
        self,
        *places: str | PathLike[str],
        host: str = "127.0.0.1",
        port: int | None = None,
        password: str | Secret | None = None,
        prices: Mapping[str, tuple[float, float]] | None = None,
        cache: str | PathLike[str] | None = None,
    ) -> None:
        self._password = Secret(password, source="password") if isinstance(password, str) else password
        check_host(host, self._password)
        self._host, self._port = host, port
        shelves = [_shelf(place) for place in places or [RUNS]]
        self._library = Library(shelves, Path(cache) if cache else index_folder(), prices or {})
        self._guard: Guard | None = None
        shown = [shelf.only_run() for shelf in shelves]
        self._single = shown[0] if len(shown) == 1 else None
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._failure = ""
        self._thread = threading.Thread(target=self._run, name="toolcert-view", daemon=True)

    @property
    def address(self) -> str:
        """Where it is; a browser that was let in may use it."""
        assert self._guard is not None, "the viewer is not open"
        return self._guard.address

    @property
    def first_address(self) -> str:
        """The address that lets a browser in; keep it to yourself."""
        shown = next((run.manifest.run for run in self._library.runs.values() if run.folder == self._single), "")
        return self.address_of(shown)

    def address_of(self, run: str) -> str:
        """The same, with the run of this id open; the list of runs if there is none."""
        assert self._guard is not None, "the viewer is not open"
        name = next((one.name for one in self._library.newest_first() if one.manifest.run == run), "")
        return self._guard.first_address(f"runs/{name}" if name else "")

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(_STARTS_WITHIN)
        if self._guard is None:
            self._thread.join()
            raise UsageError(
                f"cannot listen on {self._host}:{self._port or PORT}: {self._failure}.",
                remedy="Choose another --port, or 0 for a free one.",
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._over is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(_ENDS_WITHIN)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        from toolcert.view.app import ViewApp

        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        guard = Guard(self._host, self._password)
        application = ViewApp(self._library, guard).application()
        runner = web.AppRunner(application, access_log=None, logger=_SILENT, shutdown_timeout=0.5)
        await runner.setup()
        try:
            try:
                guard.port = await self._open(runner)
            except OSError as error:
                self._failure = os.strerror(error.errno) if error.errno else str(error)
                return
            self._guard = guard
            self._ready.set()
            await self._over.wait()
        finally:
            await runner.cleanup()

    async def _open(self, runner: web.AppRunner) -> int:
        """The port that was opened: the one asked for, or the usual one, or any."""
        ports = [self._port] if self._port is not None else [PORT, 0]
        for port in ports:
            try:
                await web.TCPSite(runner, self._host, port, reuse_address=os.name != "nt").start()
                break
            except OSError:
                if port == ports[-1]:
                    raise
        return int(runner.addresses[0][1])


def _shelf(place: str | PathLike[str]) -> Shelf:
    if is_url(place) and not LATEST_AT_URL.search(str(place)):
        return Shelf(str(place))
    folder = locate_run(place)
    if not folder.is_dir():
        if folder == RUNS:
            return Shelf(folder)  # the first run makes it
        raise InputError(
            f"there is no folder {place}.", remedy="Name a run, or a folder with runs such as toolcert-runs."
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        raise InputError(f"the folder {place} cannot be read.")
    return Shelf(folder)


def index_folder() -> Path:
    """Where indexes are kept: the user's cache, or a folder of this process if that cannot be written."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "toolcert" / "view"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="toolcert-view-"))
