"""The history as JSON, for programs."""

from __future__ import annotations

from typing import Literal

from toolcert.history.overview import Overview
from toolcert.reports.json import Report, pretty


class HistoryReport(Report):
    """Name and version of the format, then the overview."""

    format: Literal["toolcert.history/1"]
    history: Overview


def history_json(found: Overview) -> bytes:
    """Everything the history commands say."""
    return pretty(HistoryReport(format="toolcert.history/1", history=found))
