"""The figures of each tool."""

from __future__ import annotations

from collections import Counter

from toolcert.core.records import RowFacts
from toolcert.core.statistics_quantiles import Quantiles
from toolcert.verify.figures import Share, ToolLine

MOST = 1000
"""Tools counted one by one; a dataset with more shows them as one line."""
OTHERS = "(others)"


class _Tool:
    __slots__ = ("buckets", "called", "invalid", "offered", "seconds", "valid")

    def __init__(self) -> None:
        self.offered = self.called = self.valid = self.invalid = 0
        self.buckets: Counter[str] = Counter()
        self.seconds: Quantiles | None = None


class ToolTallies:
    """Counts per tool name."""

    def __init__(self) -> None:
        self._tools: dict[str, _Tool] = {}

    def add(self, row: RowFacts) -> None:
        """Count what an answered row offered and called."""
        for name in row.offered:
            self._tool(name).offered += 1
        if not row.names:
            return
        for name in set(row.names):
            self._called(self._tool(name), row)
        for name, verdict in zip(row.names, row.verdicts, strict=False):
            tool = self._tool(name)
            tool.valid += verdict is True
            tool.invalid += verdict is False

    def result(self) -> tuple[ToolLine, ...]:
        """The tools, most offered first."""
        ordered = sorted(self._tools.items(), key=lambda item: (-item[1].offered, -item[1].called, item[0]))
        return tuple(_line(name, tool) for name, tool in ordered)

    def _called(self, tool: _Tool, row: RowFacts) -> None:
        tool.called += 1
        if row.seconds is not None:
            tool.seconds = tool.seconds or Quantiles()
            tool.seconds.add(row.seconds)
        if row.valid is False and len(set(row.names)) == 1:
            # With calls of several tools in one answer the reasons cannot be told apart here.
            tool.buckets.update(row.buckets)

    def _tool(self, name: str) -> _Tool:
        tool = self._tools.get(name)
        if tool is None:
            if len(self._tools) >= MOST:
                name = OTHERS
            tool = self._tools.setdefault(name, _Tool())
        return tool


def _line(name: str, tool: _Tool) -> ToolLine:
    common = tool.buckets.most_common(1)
    return ToolLine(
        name=name,
        rows=tool.offered,
        called=tool.called,
        valid=Share.of(tool.valid, tool.valid + tool.invalid),
        p50=None if tool.seconds is None else tool.seconds.quantile(0.5),
        main=common[0][0] if common else "",
    )
