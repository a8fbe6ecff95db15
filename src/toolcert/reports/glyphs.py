"""The signs of the console: one set for UTF-8 terminals, one for the rest. Colour repeats a sign, never replaces it."""

from __future__ import annotations

from typing import IO

from toolcert.core.findings import Severity
from toolcert.core.values import Value
from toolcert.probes.scorecard import CellState


class Glyphs(Value):
    """What stands for what."""

    good: str
    half: str
    bad: str
    cannot: str
    unknown: str
    skipped: str
    track: str
    threshold: str
    left: str
    bar: str
    right: str
    proven: str
    likely: str
    below: str


UNICODE = Glyphs(
    good="✓",
    half="◐",
    bad="✗",
    cannot="–",
    unknown="?",
    skipped="·",
    track="·",
    threshold="┊",
    left="├",
    bar="─",
    right="┤",
    proven="●",
    likely="○",
    below="◆",
)
ASCII = Glyphs(
    good="+",
    half="~",
    bad="x",
    cannot="-",
    unknown="?",
    skipped=".",
    track=".",
    threshold=":",
    left="[",
    bar="-",
    right="]",
    proven="@",
    likely="o",
    below="#",
)

STYLES = {
    "good": "green",
    "half": "yellow",
    "bad": "red",
    "cannot": "dim",
    "unknown": "dim",
    "skipped": "dim",
}
SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
CELL_ROLES = {
    CellState.PASSED: "good",
    CellState.FLAKY: "half",
    CellState.FAILED: "bad",
    CellState.UNSUPPORTED: "cannot",
    CellState.NOT_MEASURED: "unknown",
    CellState.SKIPPED: "skipped",
}


def glyphs_for(stream: IO[str]) -> Glyphs:
    """The set this stream can carry."""
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    return UNICODE if encoding.startswith("utf") else ASCII
