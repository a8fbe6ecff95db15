"""Reports as JSON, for programs: everything that every other report says.

Every field is written, also at its default. A field may be added within a version, never changed or removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec

from toolcert.comparison.judge.evidence import SHOWN
from toolcert.comparison.result import Comparison
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.difference.run_difference import RunDifference
from toolcert.load_test.summary import LoadSummary
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.reports.display_text import visible_json
from toolcert.reports.formats import NOTHING, Extras
from toolcert.verification.summary.figures import VerifySummary


class Report(Value):
    """The base of every JSON report."""

    intervals: ClassVar[bool] = False
    """Whether each rate is written with `low` and `high`; version 1 of some formats has only its counts."""
    version: ClassVar[int] = 1
    """Version of the format; a change that breaks readers gets the next one."""


class ProbeReport(Report):
    """The report of a probe run: name and version of the format, then the summary."""

    intervals = True
    version = 2
    format: Literal["toolcert.probe/2"]
    summary: ProbeSummary


class VerifyReport(Report):
    """The report of a verify run: name and version of the format, then the summary."""

    intervals = True
    version = 2
    format: Literal["toolcert.verify/2"]
    summary: VerifySummary


class LoadReport(Report):
    """The report of a load run: name and version of the format, then the summary."""

    intervals = True
    format: Literal["toolcert.load/1"]
    summary: LoadSummary


def load_json(summary: LoadSummary, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The report of a load run."""
    return pretty(LoadReport(format="toolcert.load/1", summary=summary))


def probe_json(summary: ProbeSummary, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The report of a probe run."""
    return pretty(ProbeReport(format="toolcert.probe/2", summary=summary))


def verify_json(summary: VerifySummary, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The report of a verify run."""
    return pretty(VerifyReport(format="toolcert.verify/2", summary=summary))


def pretty(report: Report) -> bytes:
    """A report as written."""
    text = msgspec.json.format(msgspec.json.encode(whole(report, intervals=report.intervals)), indent=2)
    return visible_json(text.decode()).encode() + b"\n"


def whole(value: Any, *, intervals: bool = False) -> Any:
    """A value with all its fields; our structs omit defaults, but programs expect every field."""
    if isinstance(value, msgspec.Struct):
        computed = ("low", "high") if intervals and isinstance(value, Rate) else ()
        names = (*value.__struct_fields__, *computed)
        return {name: whole(getattr(value, name), intervals=intervals) for name in names}
    if isinstance(value, Mapping):
        return {key: whole(item, intervals=intervals) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole(item, intervals=intervals) for item in value]
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair is no text
    return value


class CompareReport(Report):
    """The report of a comparison: name and version of the format, then the result."""

    format: Literal["toolcert.compare/1"]
    comparison: Comparison


def compare_json(comparison: Comparison, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The whole comparison, with the clearest of the rows that differ; the page may have more."""
    vendors = tuple(msgspec.structs.replace(one, rows=one.rows[:SHOWN]) for one in comparison.vendors)
    brief = msgspec.structs.replace(comparison, vendors=vendors)
    return pretty(CompareReport(format="toolcert.compare/1", comparison=brief))


class DiffReport(Report):
    """The report of differences: name and version of the format, then each later run against the first one."""

    intervals = True
    format: Literal["toolcert.diff/1"]
    differences: tuple[RunDifference, ...]


def diff_json(differences: tuple[RunDifference, ...], extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """All differences."""
    return pretty(DiffReport(format="toolcert.diff/1", differences=differences))


SCHEMA_HOME = "https://github.com/toolcert/toolcert/blob/main/docs/reference/schemas/"
_BOUND = {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None}


def report_types() -> dict[str, type[Report]]:
    """Job to the type of its report."""
    from toolcert.reports.history.json import HistoryReport  # imports the database

    return {
        "probe": ProbeReport,
        "verify": VerifyReport,
        "load": LoadReport,
        "compare": CompareReport,
        "diff": DiffReport,
        "history": HistoryReport,
    }


def file_name(job: str) -> str:
    """The file of a job's schema, with the version of its format."""
    return f"{job}-{report_types()[job].version}.json"


def schema(job: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a job's report; every field is required, because every field is written."""
    report = report_types()[job]
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
