"""Progress on a terminal, redrawn in place; plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from toolcert.core.events import CaseFinished, Event
from toolcert.core.records import Record
from toolcert.reports.console.progress import Pace, PlainProgress, figures, share
from toolcert.reports.display_text import clock, shorten, visible

BAR_COLUMNS = 46


class Progress(Protocol):
    """A handler of events that is also a context: it takes the terminal and gives it back."""

    def __call__(self, event: Event) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress(title: str, console: Console, *, extra: Callable[[], str] | None = None) -> Progress:
    """The display this console can carry; `extra` adds a line of the job's own."""
    if console.is_terminal and not console.is_dumb_terminal and not console.quiet:
        return LiveProgress(title, console, extra)
    return PlainProgress(title, None if console.quiet else console.file, extra)


class LiveProgress:
    """Bar, rate, errors and time left, redrawn in place."""

    def __init__(self, title: str, console: Console, extra: Callable[[], str] | None) -> None:
        self._title = title
        self._extra = extra
        self._width = console.width
        self._pace = Pace()
        self._latest = ""
        self._live = Live(console=console, refresh_per_second=8, transient=True, get_renderable=self._draw)

    def __call__(self, event: Event) -> None:
        self._pace(event)
        if isinstance(event, CaseFinished):
            self._latest = _story(event.record)

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
        return Group(*(Text(shorten(visible(line), self._width)) for line in lines if line))


def _story(record: Record) -> str:
    probe = f"{record.probe.probe} " if record.probe else f"row {record.row.index} " if record.row else ""
    reason = f": {record.reason}" if record.reason else ""
    return f"now   {record.model}  {probe}{record.outcome.value}{reason}"


def _bar_line(pace: Pace) -> str:
    done = min(1.0, (pace.done + pace.resumed) / pace.total) if pace.total else 0.0
    filled = int(done * BAR_COLUMNS)
    left = "" if pace.left is None else f"  left {clock(pace.left)}"
    return "━" * filled + "─" * (BAR_COLUMNS - filled) + f"  {share(pace)}{left}"
