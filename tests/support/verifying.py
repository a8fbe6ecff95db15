"""Verify runs as tests make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolcert.api.endpoint import Endpoint
from toolcert.api.verify import verify
from toolcert.core.records import Record
from toolcert.runs.reader import RunReader
from toolcert.verification.run.job import VerifyRun
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.verify_options import VerifyOptions


def run(dataset: str, url: str, output: Path, *, endpoint: dict[str, Any] | None = None, **options: Any) -> VerifyRun:
    """One run into a folder."""
    given = VerifyOptions(**({"model": "faithful"} | options), output=str(output))
    return verify(dataset, Endpoint(url, **(endpoint or {})), given)


def records(folder: Path) -> list[Record]:
    """The records in the order of the dataset."""
    return sorted(RunReader(folder).records(), key=index_of)


def index_of(record: Record) -> int:
    """The line a record belongs to."""
    assert record.row is not None
    return record.row.index


def timeless(summary: VerifySummary) -> dict[str, Any]:
    """All of a summary that does not depend on the clock or on which run it was."""
    import msgspec

    shown: dict[str, Any] = msgspec.to_builtins(summary)
    for name in ("run", "started_at", "finished_at", "times", "timings", "moments", "interrupted", "traffic"):
        shown.pop(name, None)
    for tool in shown.get("tools", ()):
        tool.pop("p50", None)
    return shown


def asked_contents(requests: Iterator[Any]) -> list[str]:
    """The last message of each request."""
    return [request["messages"][-1]["content"] for request in requests]
