"""The log of a verify run, which displaces an earlier one only once something was measured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from toolcert.core.errors import UsageError
from toolcert.core.events import CaseFinished, Event, RunFinished
from toolcert.core.manifest import Manifest
from toolcert.core.number_text import plural
from toolcert.core.values import Value
from toolcert.runs.files import output_errors
from toolcert.runs.reader import is_run, whole_lines
from toolcert.runs.resume import start_afresh
from toolcert.runs.writer import RECORDS, RunWriter
from toolcert.verification.run.earlier_run import JOB, SUPERSEDED, Earlier, LogRoom, forget_aside, lines_again
from toolcert.verification.verify_options import Shaping

UNMEASURED = "unmeasured"
"""Below the run's folder: the log of a run that has measured nothing yet, and would displace what was measured.
A mistyped address or model leaves it there, and the earlier run as it was."""


class VerifyLog:
    """A handler that writes records to where they belong; it must come first in line."""

    def __init__(
        self,
        folder: Path,
        earlier: Earlier,
        open_writer: Callable[[Path], RunWriter],
        room: LogRoom,
    ) -> None:
        self.folder = folder
        self._earlier = earlier
        self._open = open_writer
        self._room = room
        self._asked = False
        self.kept_earlier = earlier.displaced > 0
        """Whether the earlier run is still as it was."""
        self.writer = self._aside() if self.kept_earlier else self._begun()

    def __call__(self, event: Event) -> None:
        if self.kept_earlier and self._decides(event):
            self._move_in()
        if isinstance(event, RunFinished) and not self.kept_earlier:
            self._finish(event)
        else:
            self.writer(event)

    def close(self) -> None:
        """Let go of the files."""
        self.writer.close()
        self._room.close()

    def _decides(self, event: Event) -> bool:
        """An answer does; and where all rows were measured earlier for the same target, nothing had to be asked."""
        if isinstance(event, CaseFinished):
            self._asked = True
            return event.record.outcome.measured
        if not isinstance(event, RunFinished) or event.interrupted or self._asked:
            return False
        return self._earlier.taken_over > 0

    def _aside(self) -> RunWriter:
        self._room.prepare()
        place = self.folder / UNMEASURED
        start_afresh(place, JOB)
        with output_errors(place):
            place.mkdir(exist_ok=True)
        return self._open(place)

    def _begun(self) -> RunWriter:
        _clear(self.folder / UNMEASURED)
        self._room.prepare()
        self._room.make()
        return self._open(self.folder)

    def _move_in(self) -> None:
        waiting = self.writer
        waiting.close()
        self._room.make()
        self.kept_earlier = False
        self.writer = self._open(self.folder)
        self.writer.manifest = waiting.manifest
        for line in whole_lines(waiting.folder / RECORDS):
            self.writer.append_line(line)
        _clear(waiting.folder)

    def _finish(self, event: RunFinished) -> None:
        """Take back what was set aside and fits again; it leaves its place only when it is safe in the log."""
        again = self._earlier.again
        for line in lines_again(self.folder, again) if again.met else ():
            self.writer.append_line(line)
        self.writer(event)
        if again.met:
            forget_aside(self.folder, lambda head: again.line_of(head.case) > 0)


def refuse_place_of_unmeasured(folder: Path) -> None:
    """What is measured there would be cleared away by the next run of the folder around it."""
    if folder.name == UNMEASURED and is_run(folder.parent):
        raise UsageError(
            f"{folder} is where runs in {folder.parent} keep what measured nothing.", remedy="Choose another --output."
        )


def _clear(place: Path) -> None:
    if is_run(place):
        start_afresh(place, JOB)
        with contextlib.suppress(OSError):  # somebody put something else there
            place.rmdir()


def untouched(folder: Path, earlier: Earlier) -> str:
    """A run that measured nothing has pushed nothing out."""
    number = earlier.displaced
    stay = "stays as it was" if number == 1 else "stay as they were"
    rows = f"The {plural(number, 'row')} measured earlier in {folder}"
    return f"{rows} {stay}; this run, which measured nothing, is in {folder / UNMEASURED}."


class Aftermath(Value):
    """What became of the records of an earlier run."""

    changed: str = ""
    """How that run asked otherwise."""
    gone: int = 0
    """Records of lines that the dataset no longer has."""
    in_vain: int = 0
    """Failures that were to be asked again and got no answer."""


def notices(folder: Path, earlier: Earlier, after: Aftermath) -> Iterator[str]:
    """What left the log and what came back."""
    aside, gone = folder / SUPERSEDED, after.gone
    if earlier.foreign:
        rows = f"{plural(earlier.foreign, 'row')} measured earlier{after.changed} {_were(earlier.foreign)}"
        yield f"{rows} set aside in {aside}, until a run asks the same again."
    if gone:
        yield f"{plural(gone, 'row')} that the dataset no longer has {_were(gone)} set aside in {aside}."
    if after.in_vain:
        stand = "stands as it was" if after.in_vain == 1 else "stand as they were"
        yield f"{plural(after.in_vain, 'failed row')} got no other answer and {stand}."
    if back := earlier.again.met:
        yield f"{plural(back, 'row')} set aside earlier {_were(back)} taken up again, not asked again."


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def changes(before: Manifest, now: Manifest) -> str:
    """How the run before asked otherwise: ` (model corvid-120b)`; empty where its manifest does not tell."""
    urls = [[spec.base_url for spec in manifest.endpoints] for manifest in (before, now)]
    changed = [f"endpoint {', '.join(urls[0])}"] if urls[0] != urls[1] else []
    for name in Shaping.__struct_fields__:
        old = before.parameters.get(name)
        if old != now.parameters.get(name):
            changed.append(f"{name} {old}")
    return f" ({', '.join(changed)})" if changed else ""
