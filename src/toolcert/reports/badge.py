"""A badge as shields.io reads it from an endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence

from toolcert.comparison.result import CompareVerdict, Comparison
from toolcert.core.verdict import Word, worst
from toolcert.load_test.summary import LoadSummary
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.reports.display_text import percent, plural
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
    """The verdict, or how many of several models have a good one; an endpoint that gave no answer is named."""
    words = [model.verdict.word for model in summary.models if model.asked]
    if summary.nothing_measured or not words:
        return badge("not measured", "lightgrey")
    fit = sum(model.verdict.good for model in summary.models if model.asked)
    message = words[0].text if len(words) == 1 else f"{fit} of {len(words)} models pass"
    silent = len(summary.unreachable)
    if silent:
        message += f", {plural(silent, 'endpoint')} not measured"
    return badge(message, _common_color(words, all_answered=not silent))


def _common_color(words: Sequence[Word], *, all_answered: bool) -> str:
    """The colour of several verdicts: good only if all are, and as good as the worst of them."""
    if all(word in (Word.CERTIFIED, Word.PASSES) for word in words):
        return WORD_COLORS[worst(words)] if all_answered else "lightgrey"
    if any(word in (Word.CERTIFIED, Word.PASSES) for word in words):
        return "yellow"
    return next(color for color in ("red", "yellow", "lightgrey") if color in map(WORD_COLORS.get, words))


def verify_badge(summary: VerifySummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The verdict in its colour, with the share of sound answers if enough was measured."""
    word = summary.verdict.word
    told = word not in (Word.UNDECIDED, Word.UNSUPPORTED, Word.NOT_MEASURED) and summary.sound.n > 0
    return badge(f"{word.text}{_share(summary) if told else ''}", WORD_COLORS[word])


def _share(summary: VerifySummary) -> str:
    """The share of sound answers; if streams do otherwise, that of the weaker kind, by its name."""
    weakest = summary.weakest_mode
    if weakest is None or len({mode.sound.value for mode in summary.modes if mode.sound.n}) == 1:
        return f", {percent(summary.sound.value)} sound"
    return f", {percent(weakest.sound.value)} of {'streamed' if weakest.streamed else 'unstreamed'} answers sound"


def load_badge(summary: LoadSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The verdict in its colour, and the load that it is about."""
    word = summary.verdict.word
    return badge(f"{word.text} at {summary.level} at a time", WORD_COLORS[word])


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
