"""The word and the role of a model's verdict, the same on the console and in every file."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.statistics import Certainty, runs_needed
from toolcert.probes.scorecard import Category, FindingCount, ModelSummary, ProbeSummary, Recommendation
from toolcert.reports.text import NO_VALUE, plural

_RECOMMENDATIONS = {
    Recommendation.RECOMMENDED: ("good", "recommended"),
    Recommendation.PARTIAL: ("half", "partial"),
    Recommendation.NONE: ("bad", "no tool calling"),
    Recommendation.UNDECIDED: ("unknown", "undecided"),
}
_CATEGORIES = {
    Category.FULL: ("good", "works"),
    Category.PARTIAL: ("half", "partial"),
    Category.NONE: ("bad", "no tool calling"),
    Category.UNSUPPORTED: ("cannot", "unsupported"),
    Category.NOT_MEASURED: ("unknown", "not measured"),
}


def verdict_of(model: ModelSummary) -> tuple[str, str]:
    """Role (good, half, bad, cannot, unknown) and word."""
    if model.undecided:
        return _RECOMMENDATIONS[Recommendation.UNDECIDED]
    if model.category is Category.NONE and model.score.recommendation is None and not _silent(model):
        return "bad", "fails"
    if model.category in (Category.UNSUPPORTED, Category.NOT_MEASURED) or model.score.recommendation is None:
        return _CATEGORIES[model.category]
    return _RECOMMENDATIONS[model.score.recommendation]


def _silent(model: ModelSummary) -> bool:
    """Whether calls were looked for and none came."""
    return any(cell.called.n for cell in model.cells) and not any(cell.called.k for cell in model.cells)


def score_of(model: ModelSummary) -> str:
    """Points of 100, as a range while it is open; a model that cannot be asked has none."""
    if model.category is Category.UNSUPPORTED:
        return NO_VALUE
    score = model.score
    return f"{score.low:.0f}" if score.settled else f"{score.low:.0f} to {score.high:.0f}"


def errors_of(model: ModelSummary) -> tuple[FindingCount, ...]:
    """Findings that break an agent, worst first."""
    return tuple(found for found in model.findings if found.severity is Severity.ERROR)


def caveat_of(model: ModelSummary) -> str:
    """What must stand beside a good verdict: points add up even where something an agent needs is broken."""
    errors = errors_of(model)
    return plural(len(errors), "error") if errors and verdict_of(model)[0] == "good" else ""


def still_open(summary: ProbeSummary) -> str:
    """How many clean runs would decide a reliability whose interval lies across the threshold; empty without one."""
    figures = [model.reliability for model in summary.models if model.reliability.rate.n]
    decided = (Certainty.PROVEN, Certainty.UNRELIABLE)
    if summary.threshold >= 1 or all(figure.certainty in decided for figure in figures):
        return ""
    threshold, runs = summary.threshold, runs_needed(summary.threshold)
    return f"An interval across {threshold:g} decides nothing; {runs} clean runs would (--iterations {runs})."
