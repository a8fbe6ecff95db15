"""One writer per run folder, whatever ends it: the operating system drops the lock with the process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

from toolcert.core.errors import OutputError
from toolcert.runs.files import output_errors

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def hold(folder: Path) -> IO[bytes]:
    """Make the folder and take its lock; keep the returned file open for as long as it is needed."""
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("ab")
    try:
        _lock(file)
    except OSError:
        file.close()
        raise OutputError(
            f"another toolcert is writing to {folder}.", remedy="Wait for it, or choose another --output."
        ) from None
    return file
