"""The word and the role of a model's verdict, the same on the console and in every file."""

from __future__ import annotations

from toolcert.probes.scorecard import Category, ModelSummary, Recommendation

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
    if model.category in (Category.UNSUPPORTED, Category.NOT_MEASURED) or model.score.recommendation is None:
        return _CATEGORIES[model.category]
    return _RECOMMENDATIONS[model.score.recommendation]
