"""Where a report goes: a file or standard output, never the place of another report or of a run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolcert.core.errors import OutputError, UsageError
from toolcert.core.text.visible_text import visible_json
from toolcert.runs.files import check_writable, open_descriptor, write_whole
from toolcert.runs.marks import MARKS
from toolcert.runs.reader import is_run
from toolcert.runs.resume import SUPERSEDED
from toolcert.runs.writer import MANIFEST, RECORDS
from toolcert.stores.object_url import is_url, parse_url

STDOUT = "-"
_STDOUT_DESCRIPTOR = 1


def place(destination: str) -> str:
    """A destination as given; every name of standard output becomes `-`."""
    return STDOUT if open_descriptor(Path(destination)) == _STDOUT_DESCRIPTOR else destination


def check_place(destination: str) -> None:
    """Refuse a destination that cannot be written, before any request is sent."""
    if is_url(destination):
        from toolcert.stores.object_store import check_object

        check_object(destination)
    elif place(destination) != STDOUT:
        check_writable(Path(destination))


def deliver(content: str | bytes, destination: str) -> None:
    """Write a report to `destination`; `-` is standard output."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if is_url(destination):
        from toolcert.stores.object_store import put_object

        put_object(destination, data)
        return
    if place(destination) != STDOUT:
        write_whole(Path(destination), [data])
        return
    try:
        sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror or error}.") from error


def deliver_json(document: Any, destination: str) -> None:
    """The same for a JSON document, indented for people."""
    deliver(visible_json(json.dumps(document, indent=2, ensure_ascii=False)), destination)


OF_A_RUN = (RECORDS, MANIFEST, SUPERSEDED, MARKS)
"""The files of a run; no report may overwrite them."""
_REMEDY = "Give each its own file."


def check_destinations(destinations: Mapping[str, str], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse two reports in one file, and a report in place of an input, before anything is measured."""
    _refuse_two_in_one(destinations)
    read = {_file(path): path for path in inputs}
    for name, destination in destinations.items():
        if destination == STDOUT:
            continue
        if _is_of_a_run(Path(destination)) or _is_of_a_run(Path(_file(destination))):
            raise UsageError(f"--{name} would replace {destination}, which holds a run.", remedy=_REMEDY)
        if _file(destination) in read:
            raise UsageError(f"--{name} would replace {read[_file(destination)]}, which is read.", remedy=_REMEDY)


def _refuse_two_in_one(destinations: Mapping[str, str]) -> None:
    taken: dict[str, str] = {}
    for name, destination in destinations.items():
        other = taken.setdefault(destination if destination == STDOUT else _file(destination), name)
        if other != name:
            place = "standard output" if destination == STDOUT else destination
            raise UsageError(f"--{other} and --{name} both go to {place}.", remedy=_REMEDY)


def _file(path: str | Path) -> str:
    """The real path of a file, so that two names of one file are equal."""
    return str(parse_url(path)) if is_url(path) else os.path.realpath(path)


def _is_of_a_run(path: Path) -> bool:
    return path.name in OF_A_RUN and is_run(path.parent)
