"""A badge as shields.io reads it from an endpoint."""

from __future__ import annotations

import json

from toolcert.comparison.result import CompareVerdict, Comparison
from toolcert.core.verdict import Word
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.reports.display_text import percent
from toolcert.reports.formats import NOTHING, Extras
from toolcert.verification.summary.figures import VerifySummary

LABEL = "tool calling"
WORD_COLORS = {
    Word.CERTIFIED: "brightgreen",
    Word.PASSES: "green",
    Word.PARTIAL: "yellow",
    Word.UNDECIDED: "lightgrey",
    Word.FAILS: "red",
    Word.UNSUPPORTED: "red",
    Word.NOT_MEASURED: "lightgrey",
}


def probe_badge(summary: ProbeSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """How many models are fit, of those that could be asked."""
    asked = [model for model in summary.models if model.asked]
    fit = sum(model.verdict.good for model in asked)
    if summary.nothing_measured or not asked:
        return badge("not measured", "lightgrey")
    if len(asked) == 1:
        word = asked[0].verdict.word
        return badge(word.text, WORD_COLORS[word])
    color = "brightgreen" if fit == len(asked) else "yellow" if fit else "red"
    return badge(f"{fit} of {len(asked)} models pass", color)


def verify_badge(summary: VerifySummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The verdict in its colour, with the share of sound answers where enough was measured."""
    word = summary.verdict.word
    told = word not in (Word.UNDECIDED, Word.UNSUPPORTED, Word.NOT_MEASURED) and summary.sound.n > 0
    share = f", {percent(summary.sound.value)} sound" if told else ""
    return badge(f"{word.text}{share}", WORD_COLORS[word])


_VERDICT_COLORS = {
    CompareVerdict.EQUIVALENT: "brightgreen",
    CompareVerdict.INCONCLUSIVE: "yellow",
    CompareVerdict.DIFFERENT: "orange",
    CompareVerdict.DEGRADED: "red",
}


def compare_badge(comparison: Comparison, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The verdict about a vendor, or how many of several are equivalent."""
    verdicts = [vendor.verdict for vendor in comparison.vendors]
    if len(verdicts) == 1:
        return badge(verdicts[0].value, _VERDICT_COLORS[verdicts[0]])
    same = verdicts.count(CompareVerdict.EQUIVALENT)
    color = "brightgreen" if same == len(verdicts) else "yellow" if same else "red"
    return badge(f"{same} of {len(verdicts)} equivalent", color)


def badge(message: str, color: str) -> str:
    """The endpoint's JSON."""
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": message, "color": color}) + "\n"
