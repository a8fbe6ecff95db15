"""The badge says in two words what the report says."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from reports.samples import probe_summary
from toolcert.comparison.result import CompareVerdict, Comparison
from toolcert.core.statistics import Rate
from toolcert.reports.formats import render
from toolcert.verification.summary.figures import Rows, VerifySummary
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
    share = summary.headline.split(": ")[1].partition(" %")[0]
    assert str(badge("verify", summary)["message"]).startswith(f"{share} % ")
    for k, color in ((100, "brightgreen"), (95, "yellow"), (50, "red")):
        made = badge("verify", of_hundred(valid=k, passed=k))
        assert (made["message"], made["color"]) == (f"{k}.0 % valid", color)


def test_a_run_that_is_not_fit_for_other_reasons_is_not_green() -> None:
    """All calls are valid; three in ten answers are broken otherwise."""
    made = badge("verify", of_hundred(valid=100, passed=70))
    assert (made["message"], made["color"]) == ("70.0 % without error", "red")


def test_an_incomplete_run_has_no_colour() -> None:
    made = badge("verify", msgspec.structs.replace(of_hundred(valid=100, passed=100), incomplete=True))
    assert (made["message"], made["color"]) == ("incomplete", "lightgrey")


def of_hundred(*, valid: int, passed: int) -> VerifySummary:
    rows = Rows(lines=100, sent=100, answered=100, called=100, valid=valid, passed=passed)
    return VerifySummary(run="r", toolcert="1", started_at=0.0, headline="", rows=rows, valid=Rate(k=valid, n=100))


def test_a_verdict_has_its_colour(comparison: Comparison) -> None:
    vendor = msgspec.structs.replace(comparison.vendors[0], verdict=CompareVerdict.EQUIVALENT)
    made = badge("compare", msgspec.structs.replace(comparison, vendors=(vendor,)))
    assert (made["message"], made["color"]) == ("equivalent", "brightgreen")
    made = badge("compare", msgspec.structs.replace(comparison, vendors=(vendor, comparison.vendors[0])))
    assert made["message"] == "1 of 2 equivalent"
