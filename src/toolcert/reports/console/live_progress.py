"""Progress on a terminal, redrawn in place; the only module that imports rich."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from toolcert.core.events import CaseFinished, Event, RunStopping
from toolcert.core.records import Record
from toolcert.reports.console.progress import Pace, figures, share, stop_notice
from toolcert.reports.display_text import clock, shorten, visible

BAR_COLUMNS = 46


class _Terminal(Console):
    """Standard error; raises if its reader is gone, where rich would exit with 1, the code of a failed check."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class LiveProgress:
    """Bar, rate, errors and time left, redrawn in place."""

    def __init__(self, title: str, extra: Callable[[], str] | None) -> None:
        self._title = title
        self._extra = extra
        self._console = _Terminal(file=sys.stderr, highlight=False, emoji=False)
        self._pace = Pace()
        self._latest = ""
        self._live = Live(console=self._console, refresh_per_second=8, transient=True, get_renderable=self._draw)

    def __call__(self, event: Event) -> None:
        self._pace(event)
        if isinstance(event, CaseFinished):
            self._latest = _story(event.record)
        elif isinstance(event, RunStopping):
            self.say(stop_notice(event))

    def say(self, line: str) -> None:
        """Write a line above the display."""
        self._console.print(visible(line), soft_wrap=True, markup=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _draw(self) -> Group:
        lines = [self._title, _bar_line(self._pace), figures(self._pace)]
        if self._extra is not None:
            lines.append(self._extra())
        if self._pace.last_fault:
            lines.append(f"last error  {self._pace.last_fault}")
        lines.append(self._latest)
        return Group(*(Text(shorten(visible(line), self._console.width)) for line in lines if line))


def _story(record: Record) -> str:
    probe = f"{record.probe.probe} " if record.probe else f"row {record.row.index} " if record.row else ""
    reason = f": {record.reason}" if record.reason else ""
    return f"now   {record.model}  {probe}{record.outcome.value}{reason}"


def _bar_line(pace: Pace) -> str:
    done = min(1.0, (pace.done + pace.resumed) / pace.total) if pace.total else 0.0
    filled = int(done * BAR_COLUMNS)
    left = "" if pace.left is None else f"  left {clock(pace.left)}"
    return "━" * filled + "─" * (BAR_COLUMNS - filled) + f"  {share(pace)}{left}"
