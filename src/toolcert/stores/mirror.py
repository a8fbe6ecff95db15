"""The local copy of a folder at a URL, in the user's cache: what commands read, and where a writer writes first."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

import msgspec

from toolcert.core.errors import InputError, OutputError, ToolcertError, ToolcertWarning
from toolcert.stores.folder_lock import lock_file
from toolcert.stores.lease import HELD_SECONDS, read_lease
from toolcert.stores.object_store import CHECK, LEASE, NoSuchObject, ObjectStore, Stored, StoreFault
from toolcert.stores.object_url import ORIGIN, ObjectUrl, is_url, parse_url
from toolcert.stores.parts import SERIES, Content, Part, Series, all_parts

HOLDER = ".holder"
"""In a mirror: the holder of the lease under which its content grew; gone once all of it is in the store."""
WRITING = ".upload"
"""In a mirror: locked as long as a process of this machine writes there."""
TAGS = ".tags"
"""In a mirror: the tags of the objects that its files are equal to, or were before they were changed here."""
_BEAT = ".beat"
"""In a mirror: when the lease was renewed last, as it was fetched; empty for a lease that was released."""
_SYNC = ".sync"
_BLOCK = 1 << 20
_AT_ONCE = 4
_PATIENCE = 60.0
_OF_WRITERS = re.compile(rf"{re.escape(LEASE)}$|{SERIES.pattern}/")
_PLAIN = re.compile(r"[^\\:\0]+")


class Moved(Exception):  # noqa: N818 - the reader begins again
    """A part is gone: the writer has replaced its series meanwhile."""

    def __str__(self) -> str:
        return "a part of it is missing"


def mirror_folder(url: ObjectUrl) -> Path:
    """The folder in the user's cache that mirrors a URL; equal URLs at different endpoints have different ones.

    Its last name is that of the run, because reports name runs by their folders.
    """
    parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolcert" / "stores"
    place = f"{ObjectStore.endpoint()} {url}"
    last = re.sub(r"[^\w.-]+", "-", url.key.rpartition("/")[2])[-60:].strip("-.")
    return parent / f"{url.bucket}-{hashlib.sha256(place.encode()).hexdigest()[:12]}" / (last or "run")


def origin_of(folder: str | PathLike[str]) -> str:
    """What to call a run folder: the URL that it mirrors, or the folder itself."""
    path = Path(folder)
    try:
        named = (path / ORIGIN).read_text("utf-8")
        # Only a folder of the cache is trusted: a run from elsewhere may hold a file of this name too.
        return named if is_url(named) and mirror_folder(parse_url(named)) == path else str(folder)
    except (OSError, UnicodeDecodeError, ToolcertError):
        return str(folder)


def mirror(name: str | PathLike[str], log: str, *, may_miss: bool = False) -> Path:
    """The local copy of the folder or file at a URL, brought up to date; `log` is the file of the folder that grows.

    With `may_miss` there may be nothing at the URL: then the folder is not there.
    """
    url = parse_url(name)
    store, folder = ObjectStore(url), mirror_folder(url)
    try:
        for _ in range(5):
            found = read_lease(store)
            prepare(folder, url)
            if found is None:
                return _without_lease(store, folder, log, may_miss=may_miss)
            try:
                with sync_lock(folder):
                    if not is_written_here(folder):
                        fetch(store, folder, found[0].series, log, keep_tail=(folder / HOLDER).exists())
                        replace_file(folder / _BEAT, b"" if found[0].released else f"{found[0].beat:.3f}".encode())
            except Moved:
                continue
            return folder
    except StoreFault as fault:
        raise InputError(f"cannot read {url}: {fault}.", remedy=CHECK) from None
    raise InputError(f"{url} is replaced again and again while it is read.", remedy="Try again when its run has ended.")


def files_below(name: str, file: str) -> dict[str, bytes]:
    """The file of this name in each folder directly below a URL."""
    store = ObjectStore(parse_url(name))
    found = {}
    try:
        for folder in store.folders():
            below = ObjectStore(ObjectUrl(bucket=store.url.bucket, key=f"{store.url.key}/{folder}"))
            lease = read_lease(below)
            places = [f"{series.files}/{file}" for series in reversed(lease[0].series)] if lease else [file]
            content = next((one for place in places if (one := below.read(place)) is not None), None)
            if content is not None:
                found[folder] = content[0]
    except StoreFault as fault:
        raise InputError(f"cannot read {store.url}: {fault}.", remedy=CHECK) from None
    return found


def _without_lease(store: ObjectStore, folder: Path, log: str, *, may_miss: bool) -> Path:
    """A run folder that was copied to the store as it is, or a single file."""
    with sync_lock(folder):
        if fetch_plain(store, folder, log):
            return folder
        if may_miss:
            return folder / ".nothing"  # the folder may be a copy of what was deleted in the store
        file = folder / store.url.key.rpartition("/")[2].lstrip(".")
        draft = folder / f".{file.name}.{os.urandom(6).hex()}"
        try:
            with draft.open("wb") as target:
                target.writelines(store.chunks())
            draft.replace(file)
        except NoSuchObject:
            raise InputError(f"there is no run at {store.url}.", remedy="Name the URL given to --output.") from None
        finally:
            draft.unlink(missing_ok=True)
        return file


def fetch_plain(store: ObjectStore, folder: Path, log: str) -> bool:
    """Fetch the objects below the URL as files, if the log is one of them; what a writer puts there is left out."""
    files = {stored.name: stored for stored in store.entries("") if not _OF_WRITERS.match(stored.name)}
    return log in files and _fetch_files(store, folder, files)


def prepare(folder: Path, url: ObjectUrl) -> None:
    """Make the folder, readable for its user only: answers of models may be confidential."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not (folder / ORIGIN).exists():
            replace_file(folder / ORIGIN, str(url).encode())
    except OSError as error:
        raise OutputError(
            f"cannot write {folder}: {error.strerror or error}.", remedy="XDG_CACHE_HOME names another cache."
        ) from None


def empty(folder: Path) -> None:
    """Remove what a mirror holds, but for its locks."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (ORIGIN, WRITING, _SYNC):
            path.unlink()


def try_lock(path: Path) -> IO[bytes] | None:
    """The locked file, or None if another process holds it."""
    file = path.open("ab")
    try:
        lock_file(file)
    except OSError:
        file.close()
        return None
    return file


def is_written_here(folder: Path) -> bool:
    """Whether a process of this machine writes to the mirror: then it is ahead of the store."""
    lock = try_lock(folder / WRITING)
    if lock is None:
        return True
    lock.close()
    return False


def is_written_elsewhere(folder: Path) -> bool:
    """Whether a writer on another machine held the lease when the mirror was brought up to date."""
    try:
        return float((folder / _BEAT).read_bytes()) + HELD_SECONDS > time.time()
    except (OSError, ValueError):
        return False


@contextmanager
def sync_lock(folder: Path) -> Iterator[None]:
    """Let one process at a time bring a mirror up to date."""
    end = time.monotonic() + _PATIENCE
    while (lock := try_lock(folder / _SYNC)) is None:
        if time.monotonic() > end:
            raise InputError(f"another toolcert has been reading into {folder} for a minute.", remedy="Wait for it.")
        time.sleep(0.05)
    with lock:
        yield


def fetch(store: ObjectStore, folder: Path, series: Sequence[Series], log: str, *, keep_tail: bool) -> list[Series]:
    """Bring the mirror up to date; the series as they are when parts that are damaged are left out.

    With `keep_tail`, lines that follow what the store has stay: they were not uploaded before their writer ended.
    """
    parts = all_parts(store, series)
    now = read_lease(store)
    if now is None or not {one.name for one in series} <= {one.name for one in now[0].series}:
        raise Moved  # the list may lack parts that were deleted meanwhile
    good = _fetch_log(store, folder / log, parts, keep_tail=keep_tail)
    latest = {one.name.removeprefix(f"{each.files}/"): one for each in series for one in store.entries(each.files)}
    latest.pop(log, None)
    _fetch_files(store, folder, latest)
    if good == len(parts):
        return list(series)
    warnings.warn(
        f"{store.url}: part {parts[good].name} is damaged; {len(parts) - good} parts from it on are left out.",
        ToolcertWarning,
        stacklevel=2,
    )
    return [Series(name=one.name, parts=sum(part.name.startswith(one.log) for part in parts[:good])) for one in series]


def begins_with(path: Path, parts: Sequence[Part]) -> tuple[int, Content]:
    """How many of the parts a local file begins with, and its content up to there."""
    content = Content()
    if not path.exists():
        return 0, content
    with path.open("rb") as file:
        for number, part in enumerate(parts):
            longer, left = content.with_added(b""), part.size
            while left and (block := file.read(min(left, _BLOCK))):
                longer.add(block)
                left -= len(block)
            if left or longer.digest != part.digest:
                return number, content
            content = longer
    return len(parts), content


def _fetch_log(store: ObjectStore, path: Path, parts: Sequence[Part], *, keep_tail: bool) -> int:
    """Fetch the parts that the local file lacks; how many parts are good."""
    known, content = begins_with(path, parts)
    size = path.stat().st_size if path.exists() else 0
    if known == len(parts) and (keep_tail or size == content.size):
        return known
    if size == content.size:  # the usual case: more has come
        with path.open("ab") as file:
            return known + _append(store, file, content, parts[known:])
    draft = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with draft.open("wb") as file:
            if content.size:
                with path.open("rb") as old:
                    _copy(old, file, content.size)
            good = known + _append(store, file, content, parts[known:])
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return good


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    while size and (block := source.read(min(size, _BLOCK))):
        target.write(block)
        size -= len(block)


def _append(store: ObjectStore, file: IO[bytes], content: Content, parts: Sequence[Part]) -> int:
    """Append the parts to a file, each whole or not at all; how many were as their names say."""
    from concurrent.futures import ThreadPoolExecutor

    good = 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for start in range(0, len(parts), _AT_ONCE):
            some = parts[start : start + _AT_ONCE]
            for part, found in zip(some, pool.map(lambda part: store.read(part.name), some), strict=True):
                if found is None:
                    raise Moved
                content = content.with_added(found[0])
                if content.digest != part.digest:
                    return good
                file.write(found[0])
                good += 1
    return good


def _fetch_files(store: ObjectStore, folder: Path, files: Mapping[str, Stored]) -> bool:
    """Fetch the files that have changed in the store since they were fetched; changes made here stay until then."""
    tags = read_tags(folder)
    for name, stored in files.items():
        if not _is_plain(name) or (tags.get(name) == stored.tag and (folder / name).exists()):
            continue
        found = store.read(stored.name)
        if found is None:
            raise Moved
        replace_file(folder / name, found[0])
        tags[name] = found[1]
    write_tags(folder, tags)
    return bool(files)


def read_tags(folder: Path) -> dict[str, str]:
    """The tags of the files as they were fetched or sent."""
    try:
        return msgspec.json.decode((folder / TAGS).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}


def write_tags(folder: Path, tags: dict[str, str]) -> None:
    """Remember the tags."""
    replace_file(folder / TAGS, msgspec.json.encode(tags))


def _is_plain(name: str) -> bool:
    """Whether a name from the store is that of a file inside the folder, and none of our own."""
    return bool(_PLAIN.fullmatch(name)) and not any(not step or step.startswith(".") for step in name.split("/"))


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
