"""Histories for tests: made day by day, in a real store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

from toolcert.core.findings import Severity
from toolcert.history.observation import Observation, SeenFinding, StoredRun
from toolcert.history.overview import Overview, overview
from toolcert.history.store import HistoryStore

Counts = tuple[int, int] | None
"""Calls and results used of 50 tries; None where nothing could be measured."""


def day_of(number: int, first: str = "2026-04-01") -> str:
    return (date.fromisoformat(first) + timedelta(days=number)).isoformat()


def seen(model: str, day: str, counts: Counts, *, seconds: float = 0.5, n: int = 50) -> Observation:
    """One model on one day."""
    called, handled = counts or (0, 0)
    measured = n if counts is not None else 0
    return Observation(
        run=f"run-{day}", endpoint="e", model=model, probe="hello_world", day=day, at=0.0, passed=handled,
        failed=measured - handled, not_measured=n - measured, called=called, callable=measured, handled=handled,
        handleable=called, call_p50=seconds if called else None, answer_p50=seconds if handled else None,
        reason="" if handled else "HTTP 503" if counts is None else "does not call",
        findings=() if handled or counts is None
        else (SeenFinding(code="call.in_text", severity=Severity.ERROR, count=n, evidence="<tool_call>"),),
    )  # fmt: skip


def stored(location: str, models: dict[str, Iterable[Counts | str]]) -> str:
    """A store with one run a day; "-" stands for a day on which a model was not tested."""
    days: dict[str, list[Observation]] = {}
    for model, course in models.items():
        for number, counts in enumerate(course):
            if not isinstance(counts, str):
                days.setdefault(day_of(number), []).append(seen(model, day_of(number), counts))
    with HistoryStore(location) as store:
        store.add_all(
            (StoredRun(run=f"run-{day}", day=day, started_at=0.0, source="probe"), found)
            for day, found in sorted(days.items())
        )
    return location


def made(folder: Path, models: dict[str, Iterable[Counts | str]]) -> Overview:
    """The overview of such a store."""
    with HistoryStore(stored(str(folder / "history.sqlite"), models)) as store:
        return overview(store)


GOOD: Counts = (50, 50)
TELLING: dict[str, Iterable[Counts | str]] = {
    "steady": [GOOD] * 60,
    "vendor/outage": [*[GOOD] * 20, *[(0, 0)] * 6, *[GOOD] * 34],
    "transport": [*[GOOD] * 30, None, None, *[GOOD] * 28],
    "deaf": [(50, 0)] * 60,
    "sagging": [*[(49, 49), GOOD] * 10, *[(43 + n % 3, 42) for n in range(20)], *[GOOD] * 20],
    "gone": [*[GOOD] * 40, *["-"] * 20],
    "embedder": [(0, 0)] * 60,
    "just-broke": [*[GOOD] * 59, (0, 0)],
}
"""One model for every kind of thing a history can tell."""
