"""The request behind each finding, beside the run's log, so that a curl line fits on a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from toolcert.probes.scorecard import ProbeSummary
from toolcert.runs.files import write_whole

EXAMPLES = "examples"


def write_examples(folder: Path, summary: ProbeSummary) -> Mapping[str, str]:
    """Write one request body per finding; gives the file of each code."""
    files: dict[str, str] = {}
    for cause in summary.causes:
        if cause.example.body is None:
            continue
        path = folder / EXAMPLES / f"{cause.code}.json"
        body = msgspec.json.format(msgspec.json.encode(cause.example.body), indent=2)
        write_whole(path, [body, b"\n"])
        files[cause.code] = str(path)
    return files
