"""Locks on open files, which the operating system takes back when a process ends, however it ends."""

from __future__ import annotations

import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def lock_file(file: IO[bytes]) -> None:
        """Lock the file, or raise OSError if another process holds it."""
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    look_at_lock = lock_file

else:
    import fcntl

    def lock_file(file: IO[bytes]) -> None:
        """Lock the file, or raise OSError if another process holds it."""
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)

    def look_at_lock(file: IO[bytes]) -> None:
        """Raise OSError if another process holds the file; several who look do not see each other."""
        fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
