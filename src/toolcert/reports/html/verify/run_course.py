"""The run over time: throughput, trouble and latency on one axis."""

from __future__ import annotations

from toolcert.core.values import Value
from toolcert.reports.html.charts.course import Form, Track
from toolcert.verify.figures import Moment, VerifySummary

FEWEST = 3
"""With fewer stretches there is no course to see."""


class RunCourse(Value):
    """Tracks and the axis they share."""

    tracks: tuple[Track, ...]
    starts: tuple[float, ...]
    width: float
    end: float


def run_course(summary: VerifySummary) -> RunCourse | None:
    """The course of a run; None where it was too short to have one."""
    moments = summary.moments
    if len(moments) < FEWEST:
        return None
    width = moments[0].width
    return RunCourse(
        tracks=tuple(track for track in _tracks(moments, width) if any(track.values)),
        starts=tuple(moment.start for moment in moments),
        width=width,
        end=moments[-1].start + width,
    )


def _tracks(moments: tuple[Moment, ...], width: float) -> list[Track]:
    def track(title: str, unit: str, form: Form, values: list[float | None]) -> Track:
        return Track(title=title, unit=unit, form=form, values=tuple(values))

    return [
        track("Answers", "per second", Form.AREA, [moment.answered / width for moment in moments]),
        track("Retried", "rows", Form.BARS, [float(moment.retried) for moment in moments]),
        track("Not measured", "rows", Form.BARS, [float(moment.not_measured) for moment in moments]),
        track("First token", "mean, seconds", Form.LINE, [moment.first_token for moment in moments]),
        track("Whole answer", "mean, seconds", Form.LINE, [moment.seconds for moment in moments]),
    ]
