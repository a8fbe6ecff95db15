"""A comparison as JSON: everything every other report says, for programs."""

from __future__ import annotations

from typing import Literal

from toolcert.compare.comparison import Comparison
from toolcert.core.values import Value
from toolcert.reports.extras import NOTHING, Extras
from toolcert.reports.json_report import pretty


class CompareReport(Value):
    """The report of a comparison: name and version of the format, then the result."""

    format: Literal["toolcert.compare/1"]
    comparison: Comparison


def compare_json(comparison: Comparison, extras: Extras = NOTHING) -> bytes:  # noqa: ARG001 - signature of renderers
    """The whole comparison."""
    return pretty(CompareReport(format="toolcert.compare/1", comparison=comparison))
