"""Reports as JSON, for programs: everything that every other report says.

Every field is written, also at its default. A field may be added within a version, never changed or removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from toolcert.comparison.result import Comparison
from toolcert.core.values import Value
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.reports.formats import NOTHING, Extras
from toolcert.verification.summary.figures import VerifySummary


class ProbeReport(Value):
    """The report of a probe run: name and version of the format, then the summary."""

    format: Literal["toolcert.probe/1"]
    summary: ProbeSummary


class VerifyReport(Value):
    """The report of a verify run: name and version of the format, then the summary."""

    format: Literal["toolcert.verify/1"]
    summary: VerifySummary


def probe_json(summary: ProbeSummary, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The report of a probe run."""
    return pretty(ProbeReport(format="toolcert.probe/1", summary=summary))


def verify_json(summary: VerifySummary, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The report of a verify run."""
    return pretty(VerifyReport(format="toolcert.verify/1", summary=summary))


def pretty(report: Value) -> bytes:
    """A report as written."""
    return msgspec.json.format(msgspec.json.encode(whole(report)), indent=2) + b"\n"


def whole(value: Any) -> Any:
    """A value with all its fields; our structs leave defaults out, and a program wants its zeros."""
    if isinstance(value, msgspec.Struct):
        return {name: whole(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole(item) for item in value]
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair is no text
    return value


class CompareReport(Value):
    """The report of a comparison: name and version of the format, then the result."""

    format: Literal["toolcert.compare/1"]
    comparison: Comparison


def compare_json(comparison: Comparison, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The whole comparison."""
    return pretty(CompareReport(format="toolcert.compare/1", comparison=comparison))
