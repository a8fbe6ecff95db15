"""The badge says in two words what the report says."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from reports.samples import probe_summary
from toolcert.compare.comparison import Comparison, Verdict
from toolcert.reports.formats import render
from toolcert.verify.figures import Share, VerifySummary
from toolcert.verify.summary import summarise


def badge(job: str, summary: object) -> dict[str, object]:
    return json.loads(render(job, "badge", summary))


def test_the_form_shields_reads() -> None:
    made = badge("probe", probe_summary(5))
    assert made.keys() == {"schemaVersion", "label", "message", "color"}
    assert made["schemaVersion"] == 1


def test_models_that_cannot_be_asked_are_not_counted() -> None:
    assert badge("probe", probe_summary(5))["message"] == "1 of 4 models"


def test_nothing_measured_is_grey() -> None:
    summary = msgspec.structs.replace(probe_summary(2), nothing_measured=True)
    assert badge("probe", summary)["color"] == "lightgrey"


def test_valid_calls_decide_the_colour(verify_run: Path) -> None:
    assert "valid" in str(badge("verify", summarise(verify_run))["message"])
    bare = VerifySummary(run="r", toolcert="1", started_at=0.0, headline="")
    for k, color in ((100, "brightgreen"), (95, "yellow"), (50, "red")):
        assert badge("verify", msgspec.structs.replace(bare, valid=Share.of(k, 100)))["color"] == color


def test_a_verdict_has_its_colour(comparison: Comparison) -> None:
    vendor = msgspec.structs.replace(comparison.vendors[0], verdict=Verdict.EQUIVALENT)
    made = badge("compare", msgspec.structs.replace(comparison, vendors=(vendor,)))
    assert (made["message"], made["color"]) == ("equivalent", "brightgreen")
    made = badge("compare", msgspec.structs.replace(comparison, vendors=(vendor, comparison.vendors[0])))
    assert made["message"] == "1 of 2 equivalent"
