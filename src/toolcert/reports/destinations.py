"""Where a report goes: a file that is whole or not there, a pipe, or standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from toolcert.core.errors import OutputError
from toolcert.runs.files import check_writable, open_descriptor, write_whole

STDOUT = "-"
_STDOUT_DESCRIPTOR = 1


def place(destination: str) -> str:
    """A destination as given, with one name for standard output however it was called."""
    return STDOUT if open_descriptor(Path(destination)) == _STDOUT_DESCRIPTOR else destination


def check_place(destination: str) -> None:
    """Refuse a destination that cannot be written, before anything is paid for."""
    if place(destination) != STDOUT:
        check_writable(Path(destination))


def deliver(content: str | bytes, destination: str) -> None:
    """Write a report to `destination`; `-` is standard output."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if place(destination) != STDOUT:
        write_whole(Path(destination), [data])
        return
    try:
        sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror or error}.") from error
