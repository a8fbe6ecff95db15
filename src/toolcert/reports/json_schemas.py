"""The published JSON Schemas of the JSON reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from toolcert.core.statistics.rates import Rate
from toolcert.reports.history.json import HistoryReport
from toolcert.reports.json import CompareReport, DiffReport, LoadReport, ProbeReport, Report, VerifyReport

SCHEMA_HOME = "https://github.com/toolcert/toolcert/blob/main/docs/reference/schemas/"
REPORTS: Mapping[str, type[Report]] = {
    "probe": ProbeReport,
    "verify": VerifyReport,
    "load": LoadReport,
    "compare": CompareReport,
    "diff": DiffReport,
    "history": HistoryReport,
}
_BOUND = {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None}


def file_name(job: str) -> str:
    """The file of a job's schema, with the version of its format."""
    return f"{job}-{REPORTS[job].version}.json"


def schema(job: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a job's report; every field is required, because every field is written."""
    report = REPORTS[job]
    made = msgspec.json.schema(report)
    if report.intervals:
        made["$defs"][Rate.__name__]["properties"] |= {"low": _BOUND, "high": _BOUND}
    for definition in made["$defs"].values():
        if "properties" in definition:
            definition["required"] = list(definition["properties"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{SCHEMA_HOME}{file_name(job)}",
        "title": f"toolcert {job} report",
        **made,
    }
