"""The summary of a run as JSON: everything every other report says, for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.values import Value
from toolcert.probes.scorecard import ProbeSummary
from toolcert.verify.figures import VerifySummary

PROBE_REPORT = "toolcert.probe/1"
"""Name and version of the format; a field may be added without a new version, never changed or removed."""
VERIFY_REPORT = "toolcert.verify/1"


class ProbeReport(Value):
    """What the file holds: the version of its format, then the summary."""

    format: str
    summary: ProbeSummary


def probe_json(summary: ProbeSummary) -> bytes:
    """The report of a probe run."""
    return _pretty(ProbeReport(format=PROBE_REPORT, summary=summary))


def probe_schema() -> dict[str, Any]:
    """The JSON Schema of that report."""
    return msgspec.json.schema(ProbeReport)


class VerifyReport(Value):
    """The same for a verify run."""

    format: str
    summary: VerifySummary


def verify_json(summary: VerifySummary) -> bytes:
    """The report of a verify run."""
    return _pretty(VerifyReport(format=VERIFY_REPORT, summary=summary))


def verify_schema() -> dict[str, Any]:
    """The JSON Schema of that report."""
    return msgspec.json.schema(VerifyReport)


def _pretty(value: Value) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
