"""A model's days as a status page shows them: the form carries the state, the colour repeats it."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from toolcert.core.values import Value
from toolcert.history.days import DayStatus
from toolcert.reports.html.charts.svg import at, end_anchor, fluid

BARS = 24
NUMBERS = 15
FEWEST = 30
"""Bars there is room for at least."""
_FORMS: dict[DayStatus, tuple[tuple[float, float], ...]] = {
    DayStatus.WORKING: ((0, 24),),
    DayStatus.UNRELIABLE: ((8, 16),),
    DayStatus.CALLS_ONLY: ((16, 8),),
    DayStatus.BROKEN: ((0, 10), (14, 10)),
    DayStatus.NOT_SUPPORTED: ((22.5, 1.5),),
    DayStatus.NOT_MEASURED: ((0, 3), (7, 3), (14, 3), (21, 3)),
    DayStatus.NOT_TESTED: (),
}
"""Where the bar of a state begins and how high it is, piece by piece."""


class Mark(Value):
    """A numbered note under a stretch of days."""

    number: int
    first: int
    """Place of its first bar."""
    last: int


def days_chart(statuses: Sequence[DayStatus], marks: Sequence[Mark], label: str) -> Markup:
    """One bar a day (or a longer stretch), newest right, with the numbers of the notes below."""
    number, before = _places(len(statuses))
    bars = "".join(
        f'<path class="d-{status.value}" d="{path}"/>' for status in DayStatus if (path := _path(statuses, status))
    )
    body = (
        f'<svg class="bars-of-days" width="100%" height="{BARS}" viewBox="{-before} 0 {number} {BARS}" '
        f'preserveAspectRatio="none">{bars}</svg>'
    )
    return fluid(BARS, body, label) + (_marks(marks, number, before) if marks else Markup(""))


def _places(bars: int) -> tuple[int, int]:
    """How many bars have room, and how many of these places stay empty in front: a young history is not stretched."""
    number = max(FEWEST, bars)
    return number, number - bars


def _marks(marks: Sequence[Mark], number: int, before: int) -> Markup:
    """The numbers below; a picture of its own, because links inside an image cannot be reached by all."""
    body = "".join(_mark(mark, number, before) for mark in marks)
    opening = f'<svg class="chart fluid marks" role="group" aria-label="Notes" width="100%" height="{NUMBERS}">'
    return Markup(f"{opening}{body}</svg>")  # noqa: S704 - numbers only


def _path(statuses: Sequence[DayStatus], wanted: DayStatus) -> str:
    if wanted is DayStatus.NOT_TESTED:
        return "".join(f"M{place + 0.35:g} 22.6h.3v1.2h-.3z" for place, one in enumerate(statuses) if one is wanted)
    return "".join(
        f"M{place + 0.11:g} {top:g}h.78v{height:g}h-.78z"
        for place, one in enumerate(statuses)
        if one is wanted
        for top, height in _FORMS[wanted]
    )


def _mark(mark: Mark, number: int, before: int) -> str:
    start, end = (mark.first + before) / number, (mark.last + 1 + before) / number
    middle = (start + end) / 2
    return (
        f'<a class="mark" href="#note-{mark.number}" aria-label="Note {mark.number}" '
        f'data-from="{mark.first}" data-to="{mark.last + 1}">'
        f'<line class="p95" x1="{at(start)}" x2="{at(end)}" y1="3.5" y2="3.5"/>'
        f'<text class="strong" x="{at(middle)}" y="15" text-anchor="{end_anchor(middle)}">{mark.number}</text></a>'
    )


def days_axis(labels: Sequence[tuple[int, str]], bars: int) -> Markup:
    """Dates above the bars; a place and its date each."""
    number, before = _places(bars)
    body = "".join(
        f'<text data-from="{place}" data-to="{place + 1}" x="{at((place + before + 0.5) / number)}" y="11" '
        f'text-anchor="{end_anchor((place + before + 0.5) / number)}">{words}</text>'
        for place, words in labels
    )
    return fluid(14, body, "dates")


def day_key(status: DayStatus) -> Markup:
    """The form of a state, for the legend."""
    path = _path([status], status)
    body = f'<svg width="7" height="{BARS}" viewBox="0 0 1 {BARS}" preserveAspectRatio="none">'
    return Markup(
        '<svg class="chart day-key" width="7" height="16" viewBox="0 0 7 24" aria-hidden="true">{}</svg>'
    ).format(
        Markup(f'{body}<path class="d-{status.value}" d="{path}"/></svg>')  # noqa: S704 - numbers and our own names
    )


def presence_by_day(counts: Sequence[int]) -> Markup:
    """How often something was seen, day by day, as bars of one axis."""
    highest = max(counts, default=0) or 1
    path = "".join(
        f"M{place + 0.1:g} 16v{-max(1.5, 16 * number / highest):.1f}h.8V16z"
        for place, number in enumerate(counts)
        if number
    )
    body = (
        f'<line class="grid" x1="0" x2="100%" y1="16" y2="16"/><svg width="100%" height="16" '
        f'viewBox="0 0 {max(1, len(counts))} 16" preserveAspectRatio="none"><path class="seen" d="{path}"/></svg>'
    )
    return fluid(17, body, f"at most {highest} a day")
