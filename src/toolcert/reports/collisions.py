"""Reports that would replace each other, or what they are made from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolcert.core.errors import UsageError
from toolcert.reports.destinations import STDOUT
from toolcert.runs.reader import is_run
from toolcert.runs.writer import MANIFEST, RECORDS
from toolcert.verify.aside import SUPERSEDED

OF_A_RUN = (RECORDS, MANIFEST, SUPERSEDED)
"""What was measured; no report may take the place of it."""
_REMEDY = "Give each its own file."


def check_destinations(destinations: Mapping[str, str], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse two reports in one place, and one in the place of an input, before anything is measured."""
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
    """One name for a file, whatever links and dots lead to it."""
    return os.path.realpath(path)


def _is_of_a_run(path: Path) -> bool:
    return path.name in OF_A_RUN and is_run(path.parent)
