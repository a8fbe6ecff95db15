"""Files that are either written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcert.core.errors import OutputError
from toolcert.core.text.lazy_pattern import lazy_pattern

_DESCRIPTOR = lazy_pattern(r"/(?:dev|proc/self)/fd/(\d+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal to write `path` into an error a user can act on."""
    try:
        yield
    except OSError as error:
        raise output_error(path, error) from error


def output_error(path: Path, error: OSError) -> OutputError:
    """That the operating system refuses to write `path`, and what to do."""
    choose = "Free some space or choose" if error.errno in _FULL else "Choose"
    return OutputError(
        f"cannot write {path}: {error.strerror or error}.",
        remedy=f"{choose} another place; what was written before is whole.",
    )


def refuse_link(path: Path) -> None:
    """Refuse to write through a link in a run folder: the sender of the folder chose where it leads."""
    if path.is_symlink():
        raise OutputError(f"{path} is a link, and would be written where it leads.", remedy="Remove the link.")


def refuse_shared(path: Path) -> None:
    """Refuse to append to anything but a file of this run: not to a link, a pipe, or a file with a second name."""
    refuse_link(path)
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for ever
        raise OutputError(f"{path} is no file.", remedy="Remove it.")
    if found.st_nlink > 1:
        raise OutputError(
            f"{path} has another name elsewhere (a hard link), and would be changed there, too.",
            remedy="Put a copy of the file in its place.",
        )


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace `path` by `chunks` in one step: a crash leaves the old file or the new one.

    A link stays a link to the file that is replaced, and the file keeps its mode. What is not a file (a pipe, a device)
    cannot be replaced: it is written to.
    """
    with output_errors(path):
        descriptor = open_descriptor(path)
        if descriptor is not None:
            _write_through(os.dup(descriptor), chunks)
            return
        mode = _mode(path)
        if mode is None or stat.S_ISREG(mode):
            _replace(Path(os.path.realpath(path)), chunks, mode)
        else:
            _write_through(_opened(path, mode), chunks)


def check_writable(path: Path) -> None:
    """Refuse a path that `write_whole` could not write; a trial file is more reliable than permissions."""
    with output_errors(path):
        if open_descriptor(path) is not None:
            return
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is None or stat.S_ISREG(mode):
            target = Path(os.path.realpath(path))
            folder = next(parent for parent in target.parents if parent.exists())
            draft = _draft(folder / target.name)
            os.close(os.open(draft, _NEW, 0o600))
            draft.unlink()


def open_descriptor(path: Path) -> int | None:
    """The descriptor that a name like /dev/stdout or /dev/fd/63 stands for.

    Opened by name it would be truncated, which destroys what others have written to the file.
    """
    found = _DESCRIPTOR.fullmatch(path.as_posix())
    return int(found.group(1)) if found else _STANDARD.get(path.as_posix())


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _opened(path: Path, mode: int) -> int:
    if stat.S_ISBLK(mode):  # a report must not overwrite a file system
        raise OSError(errno.EINVAL, "is a block device")
    return os.open(path, os.O_WRONLY)


def _write_through(descriptor: int, chunks: Iterable[bytes]) -> None:
    with os.fdopen(descriptor, "wb") as file:
        file.writelines(chunks)


def _draft(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.urandom(6).hex()}")


def _replace(target: Path, chunks: Iterable[bytes], mode: int | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft(target)
    descriptor = os.open(draft, _NEW, 0o666)  # unlike tempfile's 0o600, this gives a new file the mode of the umask
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                draft.chmod(stat.S_IMODE(mode))
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
