"""JSON reports keep to their published schemas and hold every field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reports.samples import probe_summary
from support.histories import TELLING, made
from toolcert import Endpoint, ProbeOptions, probe
from toolcert.comparison.result import Comparison
from toolcert.reports.formats import NOTHING, Extras, render
from toolcert.reports.history.json import history_json
from toolcert.reports.json import file_name, report_types
from toolcert.simulate import Vendor
from toolcert.verification.summary.tally import summarise

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"


def published(job: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / file_name(job)).read_text())


def validated(job: str, summary: Any, extras: Extras = NOTHING) -> dict[str, Any]:
    report = json.loads(render(job, "json", summary, extras))
    Draft202012Validator(published(job)).validate(report)
    return report


@pytest.fixture(scope="module")
def real_probe(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Vendor(models=["faithful", "text-caller", "no-tools"]) as vendor:
        options = ProbeOptions(suite="agent", iterations=2, output=str(tmp_path_factory.mktemp("run")))
        return probe(Endpoint(vendor.url), options=options).summary


def test_a_real_probe_report_satisfies_its_schema(real_probe: Any) -> None:
    report = validated("probe", real_probe)
    assert report["format"] == "toolcert.probe/2"
    assert len(report["summary"]["models"]) == 3


def test_a_verify_report_satisfies_its_schema(verify_run: Path) -> None:
    report = validated("verify", summarise(verify_run))
    assert report["format"] == "toolcert.verify/2"
    assert report["summary"]["rows"]["lines"] == 300


def test_a_compare_report_satisfies_its_schema(comparison: Comparison) -> None:
    report = validated("compare", comparison)
    assert report["format"] == "toolcert.compare/1"
    assert report["comparison"]["vendors"][0]["verdict"] in ("different", "degraded", "equivalent", "inconclusive")


@pytest.mark.sampled
@pytest.mark.parametrize("job", report_types())
def test_schemas_are_valid_and_refuse_other_formats(job: str, real_probe: Any, comparison: Comparison) -> None:
    """A schema that accepts anything would prove nothing."""
    schema = published(job)
    Draft202012Validator.check_schema(schema)
    checker = Draft202012Validator(schema)
    assert not checker.is_valid({"format": f"toolcert.{job}/{report_types()[job].version + 1}", "summary": {}})
    other = "compare" if job != "compare" else "probe"
    assert not checker.is_valid(json.loads(render(other, "json", comparison if other == "compare" else real_probe)))


def test_zeros_are_written(real_probe: Any) -> None:
    """A program that reads a count must find it, also where it is 0."""
    counts = validated("probe", real_probe)["summary"]["models"][0]["counts"]
    assert counts["failed"] == counts["not_measured"] == 0


def test_half_a_surrogate_pair_does_not_stop_the_report() -> None:
    report = validated("probe", probe_summary(2, probes=3, hostile=True))
    assert "\\ud800" in report["summary"]["headline"]


def test_a_history_satisfies_its_schema(tmp_path: Path) -> None:
    report = json.loads(history_json(made(tmp_path, TELLING)))
    Draft202012Validator(published("history")).validate(report)
    assert report["format"] == "toolcert.history/2"
    assert len(report["history"]["models"]) == len(TELLING)
