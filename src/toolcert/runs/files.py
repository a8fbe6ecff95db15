"""Files that are either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcert.core.errors import OutputError


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal to write `path` into an error a user can act on."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror or error}.",
            remedy="Free some space or choose another place; what was written before is whole.",
        ) from error


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace `path` by `chunks` in one step: a crash leaves the old file or the new one."""
    import tempfile  # slow to load, and most commands write no such file

    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(chunks)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
