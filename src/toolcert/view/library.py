"""The runs that a viewer shows: found below its places, watched as they grow, read in the background."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from sqlite3 import DatabaseError

import msgspec

from toolcert.core.errors import InputError, ToolcertError
from toolcert.core.records import Manifest
from toolcert.core.values import Value
from toolcert.runs.files import write_whole
from toolcert.runs.location import RunState, run_name
from toolcert.runs.reader import is_run, read_manifest
from toolcert.runs.writer import MANIFEST, RECORDS, is_held
from toolcert.stores.mirror import files_below, mirror, mirror_folder
from toolcert.stores.object_url import parse_url
from toolcert.version import __version__
from toolcert.view.case_index import CaseIndex, IndexState
from toolcert.view.run_card import Prices, RunCard, run_card

SCAN_SECONDS = 1.0
QUIET_SECONDS = 20.0
"""An unfinished log that does not grow for this long may belong to a dead run: its lock shows that."""
WANTED_SECONDS = 120.0
"""How long a run that was looked at is read before the others."""
ASK_STORE_SECONDS = 10.0
MOST_COPIED = 100
"""Runs below an address that are copied to this machine, the newest ones."""
LARGE = 64 << 20
"""Bytes of a log that is read only when the run is opened."""
CARD_EVERY = 8
"""A growing run is summed up again after this many times the time that the last summary took."""
_CACHE = "reading"
"""The key of a problem that belongs to no folder."""
_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)


class Seen(Value):
    """What shows whether a run has changed, without reading it."""

    manifest: tuple[int, int] = (0, 0)
    size: int = 0
    changed: float = 0.0


class CardFile(Value):
    """A card as it is kept, with what it was made from."""

    toolcert: str
    size: int
    manifest: tuple[int, int]
    prices: str
    seconds: float
    card: RunCard


class ViewedRun:
    """One run: its manifest, its index, and its card once that is made."""

    def __init__(self, name: str, folder: Path, cache: Path, prices: Prices) -> None:
        self.name = name
        self.folder = folder
        self.index = CaseIndex(folder, cache)
        self.manifest: Manifest = read_manifest(folder)
        self.seen = _seen(folder)
        self.progress = IndexState()
        self.card: CardFile | None = None
        self.trouble = ""
        """Why there is no card, in words."""
        self.wanted = 0.0
        self.pending = True
        """Whether the index has not taken in the whole log yet."""
        self._prices = prices
        self._price_digest = hashlib.sha256(repr(sorted(prices.items())).encode()).hexdigest()
        self._tried: Seen | None = None
        self._made = 0.0
        self._card_path = self.index.path.with_suffix(".json")
        self._load_card()

    @property
    def state(self) -> RunState:
        if self.manifest.finished_at is not None:
            return RunState.INTERRUPTED if self.manifest.interrupted else RunState.FINISHED
        if time.time() - self.seen.changed < QUIET_SECONDS or is_held(self.folder):
            return RunState.RUNNING
        return RunState.INTERRUPTED

    def look(self) -> bool:
        """Whether it changed since the last look."""
        seen = _seen(self.folder)
        if seen == self.seen:
            return False
        if seen.manifest != self.seen.manifest:
            self.manifest = read_manifest(self.folder)
        self.seen, self.pending = seen, True
        return True

    def card_is_due(self) -> bool:
        """Whether the card is missing or was made from an earlier log; a growing run gets a new one now and then."""
        card = self.card
        if self._tried == self.seen or (card and (card.size, card.manifest) == (self.seen.size, self.seen.manifest)):
            return False
        rest = CARD_EVERY * card.seconds if card else 0.0
        return self.state is not RunState.RUNNING or time.monotonic() - self._made > max(1.0, rest)

    def make_card(self) -> None:
        """Sum up the log, and keep the result for the next viewer."""
        seen = self._tried = self.seen
        begun = self._made = time.monotonic()
        try:
            made = run_card(self.folder, self.manifest, self._prices)
        except ToolcertError as error:
            self.trouble = str(error)
            return
        except Exception as error:  # noqa: BLE001 - a log that we fail on costs its run the card, and no other run
            self.trouble = f"The log cannot be summed up: {error}."
            return
        self.trouble = ""
        self.card = CardFile(
            toolcert=__version__,
            size=seen.size,
            manifest=seen.manifest,
            prices=self._price_digest,
            seconds=time.monotonic() - begun,
            card=made,
        )
        write_whole(self._card_path, [msgspec.json.encode(self.card)])

    def give_up(self, why: str) -> None:
        """Leave it alone until it changes."""
        self.pending, self._tried, self.trouble = False, self.seen, why

    def _load_card(self) -> None:
        try:
            kept = msgspec.json.decode(self._card_path.read_bytes(), type=CardFile)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return
        if (kept.toolcert, kept.prices) == (__version__, self._price_digest):
            self.card = kept


def _seen(folder: Path) -> Seen:
    manifest = (folder / MANIFEST).stat()
    try:
        log = (folder / RECORDS).stat()
    except FileNotFoundError:
        return Seen(manifest=(manifest.st_mtime_ns, manifest.st_size), changed=manifest.st_mtime)
    return Seen(manifest=(manifest.st_mtime_ns, manifest.st_size), size=log.st_size, changed=log.st_mtime)


class Shelf:
    """A place with runs: a folder, or the address of an object store, whose newest runs are copied to this machine."""

    def __init__(self, place: Path | str) -> None:
        self.name = str(place)
        self._folder = place if isinstance(place, Path) else None
        self._copied: list[Path] = []
        self._due = 0.0

    def folders(self) -> list[Path]:
        """The run folders there; an address is asked only now and then."""
        if self._folder is not None:
            return list(run_folders(self._folder))
        if time.monotonic() >= self._due:
            self._copied = list(_copied(self.name))
            self._due = time.monotonic() + ASK_STORE_SECONDS
        return self._copied

    def only_run(self) -> Path | None:
        """The run that the place itself is, if it is one."""
        found = [folder for folder in self.folders() if run_name(folder) == self.name]
        return found[0].resolve() if found else None


def _copied(url: str) -> Iterator[Path]:
    """The runs below an address, or the one at it, brought up to date."""
    below = {name: content for name, content in files_below(url, MANIFEST).items() if _started(content) is not None}
    if not below:
        yield mirror(url, RECORDS)
        return
    for name in sorted(below, key=lambda name: _started(below[name]) or 0.0, reverse=True)[:MOST_COPIED]:
        address = f"{url.rstrip('/')}/{name}"
        folder = mirror_folder(parse_url(address))
        kept = folder / MANIFEST
        if not (kept.is_file() and kept.read_bytes() == below[name] and b'"finished_at"' in below[name]):
            mirror(address, RECORDS)
        yield folder


def _started(manifest: bytes) -> float | None:
    try:
        return msgspec.json.decode(manifest, type=Manifest).started_at
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class Library:
    """All runs below some folders. A thread of its own looks for changes and reads what is new."""

    def __init__(self, shelves: Sequence[Shelf], cache: Path, prices: Prices) -> None:
        self.shelves = tuple(shelves)
        self.runs: dict[str, ViewedRun] = {}
        self.troubles: dict[str, str] = {}
        """Folders that cannot be shown, with the reason."""
        self.on_change: Callable[[str], None] = lambda _: None
        """Called from the thread with the name of a run that changed, or an empty text for the list."""
        self._cache = cache
        self._prices = prices
        self._names: dict[Path, str] = {}
        self._ended = threading.Event()
        self._awake = threading.Event()
        self._thread = threading.Thread(target=self._work, name="toolcert-library", daemon=True)

    def start(self) -> None:
        self.scan()
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def newest_first(self) -> list[ViewedRun]:
        return sorted(self.runs.values(), key=lambda run: (run.manifest.started_at, run.name), reverse=True)

    def want(self, name: str) -> ViewedRun:
        """The run, which from now on is read before others."""
        run = self.runs.get(name)
        if run is None:
            raise InputError(f"there is no run {name} here.", remedy="Go back to the list of runs.")
        if time.monotonic() - run.wanted > 1:
            run.wanted = time.monotonic()
            self._awake.set()
        return run

    def scan(self) -> bool:
        """Look for runs that came, went or grew; whether the list changed."""
        found = list(dict.fromkeys(folder.resolve() for shelf in self.shelves for folder in shelf.folders()))
        gone = [name for name, run in self.runs.items() if run.folder not in found]
        for name in gone:
            del self.runs[name]
        new = [folder for folder in found if folder not in {run.folder for run in self.runs.values()}]
        came = [folder for folder in new if self._enter(folder)]
        for run in list(self.runs.values()):
            try:
                changed = run.look()
            except (ToolcertError, OSError):
                continue  # a manifest that is being replaced, or a folder that is being deleted: the next look tells
            if changed:
                self.on_change(run.name)
        return bool(gone or came)

    def _enter(self, folder: Path) -> bool:
        try:
            run = ViewedRun(self._name(folder), folder, self._cache, self._prices)
        except (ToolcertError, OSError) as error:
            self.troubles[str(folder)] = str(error)
            return False
        self.troubles.pop(str(folder), None)
        self.runs[run.name] = run
        return True

    def _name(self, folder: Path) -> str:
        """The id of the run if it can be part of an address and is free; otherwise one made from the path."""
        run = read_manifest(folder).run
        digest = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()
        fits = _NAME.fullmatch(run) is not None and run not in self.runs
        return self._names.setdefault(folder, run if fits else f"run-{digest[:16]}")

    def _work(self) -> None:
        while not self._ended.is_set():
            busy = False
            try:
                if self.scan():
                    self.on_change("")
                busy = self._read_some()
                self.troubles.pop(_CACHE, None)
            except Exception as error:  # noqa: BLE001 - a full cache, a deleted folder, a bug: told, and tried again
                self.troubles[_CACHE] = str(error)
            if not busy:
                self._awake.wait(SCAN_SECONDS)
                self._awake.clear()

    def _read_some(self) -> bool:
        """Work for a moment on the run that matters most; whether there is more to do."""
        now = time.monotonic()
        runs = sorted(self.newest_first(), key=lambda run: run.wanted, reverse=True)
        for run in runs:
            wanted = now - run.wanted < WANTED_SECONDS and run.wanted > 0
            if run.seen.size > LARGE and not wanted:
                continue
            try:
                if self._read(run):
                    return True
            except (OSError, DatabaseError, ToolcertError):
                raise
            except Exception as error:  # noqa: BLE001 - not hidden: shown in place of the card; others are read on
                run.give_up(f"toolcert failed to read this run ({type(error).__name__}: {error}); please report it.")
                self.on_change(run.name)
        return False

    def _read(self, run: ViewedRun) -> bool:
        """Work on one run; whether something was done."""
        if run.pending:
            run.pending = run.index.grow() or run.seen != _seen(run.folder)
            state = run.index.state()
            if state != run.progress:
                run.progress = state
                self.on_change(run.name)
            if run.pending:
                return True
        if run.card_is_due():
            run.make_card()
            self.on_change(run.name)
            return True
        return False


def run_folders(place: Path, depth: int = 2) -> Iterator[Path]:
    """The run at `place`, or the runs in the folders below it."""
    if is_run(place):
        yield place
        return
    if depth == 0:
        return
    try:
        below = sorted(entry for entry in place.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return
    for entry in below:
        yield from run_folders(entry, depth - 1)
