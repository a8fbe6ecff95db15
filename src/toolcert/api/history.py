"""The history: adds finished probe runs to it and looks back over the last days."""

from __future__ import annotations

from pathlib import Path

from toolcert.core.errors import InputError
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.history.drift import BUDGET
from toolcert.history.observation import observations, past_day, stored_run
from toolcert.history.overview import Overview, overview
from toolcert.history.store import HistoryStore
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.runs.location import locate_run, run_name
from toolcert.runs.reader import read_manifest


def add_run(folder: Path | str, history: str, *, day: str | None = None) -> ProbeSummary:
    """Add a finished probe run to the history; adding it again replaces it."""
    folder = locate_run(folder)
    manifest = read_manifest(folder)
    if manifest.job != "probe":
        raise InputError(f"{run_name(folder)} is a {manifest.job} run; the history keeps probe runs.")
    summary = summarise_run(folder)
    add_summary(summary, history, day=day and past_day(day))
    return summary


def add_summary(summary: ProbeSummary, history: str, *, day: str | None = None) -> None:
    """Add the summary of a probe run to the history."""
    if summary.nothing_measured and not summary.models:
        return  # no model was listed, so there is nothing to store
    with HistoryStore(history) as store:
        store.add(stored_run(summary, day), observations(summary, day))


def look_back(
    history: str,
    *,
    days: int = 90,
    model: str | None = None,
    probe: str | None = None,
    threshold: float = PROBE_THRESHOLD,
    budget: float = BUDGET,
    until: str | None = None,
) -> Overview:
    """What the history says about the last days, of all models or those `model` names (an id or a pattern)."""
    with HistoryStore.existing(history) as store:
        return overview(store, days=days, model=model, probe=probe, threshold=threshold, budget=budget, until=until)
