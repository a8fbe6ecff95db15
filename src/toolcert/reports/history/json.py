"""The history as JSON, for programs."""

from __future__ import annotations

from typing import Literal

from toolcert.history.overview import Overview
from toolcert.reports.json import Report, pretty


class HistoryReport(Report):
    """Name and version of the format, then the overview."""

    version = 2
    format: Literal["toolcert.history/2"]
    history: Overview


def history_json(found: Overview) -> bytes:
    """Everything the history commands say."""
    return pretty(HistoryReport(format="toolcert.history/2", history=found))
