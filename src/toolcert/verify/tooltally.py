"""The figures of each tool."""

from __future__ import annotations

from collections import Counter

from toolcert.core.statistics_quantiles import Quantiles
from toolcert.verify.figures import Share, ToolLine
from toolcert.verify.likeness import Kind

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

    def add(self, kind: Kind, rows: int) -> None:
        """Count what answered rows of one kind offered and called."""
        for name in kind.offered:
            self._tool(name).offered += rows
        for name in set(kind.names):
            self._called(self._tool(name), kind, rows)
        for name, verdict in zip(kind.names, kind.verdicts, strict=False):
            tool = self._tool(name)
            tool.valid += rows * (verdict is True)
            tool.invalid += rows * (verdict is False)

    def add_seconds(self, names: tuple[str, ...], seconds: float) -> None:
        """Count how long an answer with calls took, for each tool it calls."""
        for name in names if len(names) == 1 else set(names):
            tool = self._tool(name)
            tool.seconds = tool.seconds or Quantiles()
            tool.seconds.add(seconds)

    def result(self) -> tuple[ToolLine, ...]:
        """The tools, most offered first."""
        ordered = sorted(self._tools.items(), key=lambda item: (-item[1].offered, -item[1].called, item[0]))
        return tuple(_line(name, tool) for name, tool in ordered)

    def _called(self, tool: _Tool, kind: Kind, rows: int) -> None:
        tool.called += rows
        if kind.valid is False and len(set(kind.names)) == 1:
            # With calls of several tools in one answer the reasons cannot be told apart here.
            for bucket in kind.buckets:
                tool.buckets[bucket] += rows

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
