"""A badge as shields.io reads it from an endpoint."""

from __future__ import annotations

import json

from toolcert.probes.scorecard import Category, ProbeSummary


def probe_badge(summary: ProbeSummary) -> str:
    """How many models are fit, of those that could be asked."""
    asked = [model for model in summary.models if model.category is not Category.UNSUPPORTED]
    fit = sum(model.category is Category.FULL for model in asked)
    if summary.nothing_measured or not asked:
        return _badge("not measured", "lightgrey")
    color = "brightgreen" if fit == len(asked) else "yellow" if fit else "red"
    return _badge(f"{fit} of {len(asked)} models", color)


def _badge(message: str, color: str) -> str:
    return json.dumps({"schemaVersion": 1, "label": "tool calling", "message": message, "color": color}) + "\n"
