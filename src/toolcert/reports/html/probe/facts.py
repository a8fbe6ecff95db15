"""The figures of the certificate, and the sentences that explain the sections."""

from __future__ import annotations

from datetime import UTC, datetime

from toolcert.probes.scorecard import ProbeSummary
from toolcert.reports.text import count, duration, percent, plural, visible
from toolcert.reports.verdicts import still_open


def facts(summary: ProbeSummary) -> tuple[tuple[str, str], ...]:
    """Name and value of each figure; an empty one is left out."""
    totals = summary.totals
    missing = totals.counts.not_measured
    cases = max(1, totals.counts.total)
    pairs = (
        ("Endpoint", ", ".join(visible(line.base_url or line.name) for line in summary.endpoints)),
        ("Measured", datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Suite", summary.suite or "own choice"),
        ("Runs per probe", str(summary.iterations)),
        ("Requests sent", count(totals.usage.requests)),
        ("Tokens in, out", f"{count(totals.usage.tokens_in)}, {count(totals.usage.tokens_out)}"),
        ("Cost", "" if totals.usage.cost is None else f"{totals.usage.cost:.4f}"),
        ("Not measured", f"{count(missing)} ({percent(missing / cases)})"),
        ("Wall time", "" if totals.seconds is None else duration(totals.seconds)),
    )
    return tuple((name, value) for name, value in pairs if value)


def ranking_note(summary: ProbeSummary) -> str:
    """What the reliability column measures, and what would settle it."""
    probe = next((model.reliability.probe for model in summary.models if model.reliability.probe), "")
    where = f" in {probe}" if probe else ""
    measured = f"Reliable: called, arguments right, result used{where}."
    return f"{measured} Whisker: 95 % interval; dashed: the threshold. {still_open(summary)}".rstrip()


def matrix_note(summary: ProbeSummary) -> str:
    """How to read the matrix."""
    size = f"{plural(len(summary.probes), 'probe')}, {plural(summary.iterations, 'run')} each."
    return f"{size} Point at a cell, tap it, or move with the arrow keys for counts, interval and reason."


def verdict_note(summary: ProbeSummary) -> str:
    """The rule behind the verdicts, with the points where they are few."""
    weights = next((model.score.weights for model in summary.models if model.score.weights), {})
    parts = ", ".join(f"{name} {points:g}" for name, points in weights.items() if points)
    shown = f" Points: {parts}." if parts and len(weights) <= 8 else ""
    return (
        "Recommended: 90 points or more of 100, however what was not measured turns out. Partial: 50 or more."
        f"{shown} An error beside a good verdict means that something else an agent may need is broken."
    )
