"""The badge says in two words what the report says."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from reports.samples import probe_summary
from toolcert.comparison.result import CompareVerdict, Comparison
from toolcert.core.statistics.rates import Rate
from toolcert.core.verdict import Verdict, Word
from toolcert.reports.formats import render
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import summarise


def badge(job: str, summary: object) -> dict[str, object]:
    return json.loads(render(job, "badge", summary))


def test_the_form_shields_reads() -> None:
    made = badge("probe", probe_summary(5))
    assert made.keys() == {"schemaVersion", "label", "message", "color"}
    assert made["schemaVersion"] == 1


def test_models_that_cannot_be_asked_are_not_counted() -> None:
    assert badge("probe", probe_summary(5))["message"] == "1 of 4 models pass"


def test_nothing_measured_is_grey() -> None:
    summary = msgspec.structs.replace(probe_summary(2), nothing_measured=True)
    assert badge("probe", summary)["color"] == "lightgrey"


def test_the_verdict_decides_the_colour(verify_run: Path) -> None:
    summary = summarise(verify_run)
    assert summary.headline.startswith("fails: ")
    assert badge("verify", summary) | {"label": ""} == {
        "schemaVersion": 1,
        "label": "",
        "message": f"fails, {100 * summary.sound.k / summary.sound.n:.1f} % sound",
        "color": "red",
    }
    for word, color in ((Word.CERTIFIED, "brightgreen"), (Word.PASSES, "green"), (Word.PARTIAL, "yellow")):
        made = badge("verify", of_hundred(word))
        assert (made["message"], made["color"]) == (f"{word}, 98.0 % sound", color)


@pytest.mark.parametrize("word", [Word.UNDECIDED, Word.NOT_MEASURED])
def test_a_run_that_says_nothing_has_no_colour(word: Word) -> None:
    """A share of the few rows that were measured would look like a verdict."""
    made = badge("verify", of_hundred(word))
    assert (made["message"], made["color"]) == (word.text, "lightgrey")


def of_hundred(word: Word) -> VerifySummary:
    verdict = Verdict(word=word, reason="")
    return VerifySummary(run="r", toolcert="1", started_at=0.0, headline="", verdict=verdict, sound=Rate(k=98, n=100))


def test_a_verdict_has_its_colour(comparison: Comparison) -> None:
    vendor = msgspec.structs.replace(comparison.vendors[0], verdict=CompareVerdict.EQUIVALENT)
    made = badge("compare", msgspec.structs.replace(comparison, vendors=(vendor,)))
    assert (made["message"], made["color"]) == ("equivalent", "brightgreen")
    made = badge("compare", msgspec.structs.replace(comparison, vendors=(vendor, comparison.vendors[0])))
    assert made["message"] == "1 of 2 equivalent"
