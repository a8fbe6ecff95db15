"""Parts of the rows: by tool, and by every other slice."""

from __future__ import annotations

from itertools import groupby

from toolcert.core.values import Value
from toolcert.reports.text import shorten, visible
from toolcert.verify.figures import Share, SliceLine, ToolLine, VerifySummary

CHARTED = 150
"""Lines with a chart of their own; beyond, the figures alone keep the page small."""
LONGEST_NAME = 120
TITLES = {
    "n_tools": "By number of tools offered",
    "turns": "By turns of the user",
    "stream": "By way of answering",
    "tag": "By tag",
}


class ToolRow(Value):
    """One tool."""

    name: str
    rows: int
    called: int
    called_share: float | None
    valid: Share
    charted: bool
    p50: float | None
    main: str


class SliceRow(Value):
    """One part of the rows."""

    value: str
    line: SliceLine
    charted: bool


class SliceGroup(Value):
    """All parts of one kind."""

    title: str
    rows: tuple[SliceRow, ...]


def tool_rows(summary: VerifySummary) -> tuple[ToolRow, ...]:
    """The tools, most offered first."""
    return tuple(_tool(tool, number < CHARTED) for number, tool in enumerate(summary.tools))


def _tool(tool: ToolLine, charted: bool) -> ToolRow:
    return ToolRow(
        name=shorten(visible(tool.name), LONGEST_NAME),
        rows=tool.rows,
        called=tool.called,
        called_share=min(1.0, tool.called / tool.rows) if tool.rows else None,
        valid=tool.valid,
        charted=charted,
        p50=tool.p50,
        main=visible(tool.main),
    )


def slice_groups(summary: VerifySummary) -> tuple[SliceGroup, ...]:
    """Every kind of slice but tools, which have a table of their own; a kind with one value says nothing."""
    groups = []
    for kind, lines in groupby(summary.slices, lambda line: line.slice):
        rows = [
            SliceRow(value=shorten(visible(line.value), LONGEST_NAME), line=line, charted=number < CHARTED)
            for number, line in enumerate(lines)
        ]
        if kind in TITLES and len(rows) > 1:
            groups.append(SliceGroup(title=TITLES[kind], rows=tuple(rows)))
    return tuple(groups)
