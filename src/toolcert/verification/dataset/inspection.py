"""Describes a dataset and lists its problems, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappush, heappushpop
from typing import Any

from toolcert.core.findings import EXAMPLES, Finding
from toolcert.core.requests import function_of
from toolcert.core.statistics.quantiles import Quantiles
from toolcert.core.text.json_value import canonical
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import finding, kind_of
from toolcert.verification.dataset.lines import Dataset, Line, SeenRows
from toolcert.verification.digest import digest
from toolcert.verification.summary.figures import Example, FindingLine

_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_UNREMARKABLE = frozenset({"type", "properties", "required", "description", "title", "items", "$schema"})
_DEEP = 3
_MAX_DEPTH = 64


def schema_features(tool: Any) -> set[str]:
    """The less common keywords of a tool's schema, and a few notable shapes."""
    function = function_of(tool)
    if function is None:
        return set()
    found = set(_walk(function.get("parameters"), 0))
    if function.get("strict") is True:
        found.add("strict")
    if not function.get("parameters"):
        found.add("no parameters")
    if isinstance(function.get("name"), str) and len(function["name"]) > 60:
        found.add("long name")
    return found


def _walk(schema: Any, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    if depth >= _DEEP:
        yield f"nested {_DEEP} deep"
    yield from (keyword for keyword in schema if keyword not in _UNREMARKABLE)
    if isinstance(schema.get("type"), list):
        yield "several types"
    for inner in _inner(schema):
        yield from _walk(inner, depth + 1)


def _inner(schema: dict[str, Any]) -> Iterator[Any]:
    for keyword in _NAMED_SCHEMAS:
        if isinstance(schema.get(keyword), dict):
            yield from schema[keyword].values()
    for keyword in _LISTED_SCHEMAS:
        if isinstance(schema.get(keyword), list):
            yield from schema[keyword]
    for keyword in _SINGLE_SCHEMAS:
        yield schema.get(keyword)


BYTES_PER_TOKEN = 4
"""Bytes per token: a rough rule for English text and code, and for Chinese at three bytes a character."""
LONGEST_SHOWN = 5
_COUNTED = ("names", "turns", "tools", "tags", "models")


class LongRow(Value):
    """A row and its rough number of prompt tokens."""

    row: int
    tokens: int


class DatasetReport(Value):
    """The description of a dataset."""

    name: str
    digest: str | None = None
    lines: int = 0
    rows: int = 0
    """Lines that can be asked."""
    problems: tuple[FindingLine, ...] = ()
    duplicates: int = 0
    toolsets: int = 0
    """Distinct lists of tools."""
    tools: int = 0
    """Distinct tools (name and schema)."""
    tool_names: dict[str, int] = {}
    """Rows that offer each name, most frequent first."""
    tokens: int = 0
    """Rough number of prompt tokens of all rows."""
    tokens_p50: float | None = None
    tokens_p95: float | None = None
    longest: tuple[LongRow, ...] = ()
    schema_features: dict[str, int] = {}
    """Distinct tools whose schema uses each keyword."""
    turns: dict[str, int] = {}
    tools_per_row: dict[str, int] = {}
    streamed: int = 0
    tags: dict[str, int] = {}
    expecting: int = 0
    """Rows that say what they expect."""
    models: dict[str, int] = {}


class Inspector:
    """Collects figures line by line."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.problems: dict[str, list[Example]] = {}
        self.rows_with: Counter[str] = Counter()
        self.words: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
        self.features: Counter[str] = Counter()
        self.tokens = Quantiles()
        self._longest: list[tuple[int, int]] = []
        self._toolsets: set[str] = set()
        self._tools: set[str] = set()
        self._seen = SeenRows()

    def add(self, line: Line) -> tuple[Finding, ...]:
        """Count a line and return all its problems; that it repeats another line is one of them."""
        found = (*line.findings, *self._repetition(line))
        self.counts["lines"] += 1
        for code in dict.fromkeys(one.code for one in found):
            self.rows_with[code] += 1
        for one in found:
            examples = self.problems.setdefault(one.code, [])
            if len(examples) < EXAMPLES:
                examples.append(Example(row=line.index, evidence=one.evidence))
        if line.body is not None:
            self._describe(line, line.body)
        return found

    def report(self, dataset: Dataset) -> DatasetReport:
        """The description of all lines so far."""
        return DatasetReport(
            name=dataset.source.name,
            digest=dataset.source.digest,
            lines=self.counts["lines"],
            rows=self.counts["rows"],
            problems=tuple(self._problem_lines()),
            duplicates=self.rows_with["dataset.duplicate"],
            toolsets=len(self._toolsets),
            tools=len(self._tools),
            tool_names=dict(self.words["names"].most_common()),
            tokens=self.counts["tokens"],
            tokens_p50=self.tokens.quantile(0.5),
            tokens_p95=self.tokens.quantile(0.95),
            longest=tuple(LongRow(row=-row, tokens=tokens) for tokens, row in sorted(self._longest, reverse=True)),
            schema_features=dict(self.features.most_common()),
            turns=_numbered(self.words["turns"]),
            tools_per_row=_numbered(self.words["tools"]),
            streamed=self.counts["streamed"],
            tags=dict(self.words["tags"].most_common()),
            expecting=self.counts["expecting"],
            models=dict(self.words["models"].most_common()),
        )

    def _repetition(self, line: Line) -> Iterator[Finding]:
        if line.body is None:
            return
        occurrence, first = self._seen.occurrence(digest(canonical(line.body)), line.index)
        if occurrence > 1:
            yield finding("dataset.duplicate", f"asks the same as line {first}")

    def _describe(self, line: Line, body: JsonObject) -> None:
        self.counts["rows"] += 1
        self.counts["streamed"] += body.get("stream") is True
        self.counts["expecting"] += line.notes.expected is not None
        self.words["names"].update(sorted(set(line.toolset.names)))
        self.words["turns"][str(sum(_is_user(message) for message in body["messages"]))] += 1
        self.words["tools"][str(len(line.toolset.names))] += 1
        self.words["tags"].update(line.notes.tags)
        self.words["models"][str(body.get("model", "(none)"))] += 1
        self._describe_tools(line)
        self._describe_size(line.index, rough_tokens(body))

    def _describe_tools(self, line: Line) -> None:
        if line.toolset.digest in self._toolsets or not isinstance(line.toolset.tools, list):
            return
        self._toolsets.add(line.toolset.digest)
        for tool in line.toolset.tools:
            identity = digest(canonical(tool))
            if identity not in self._tools:
                self._tools.add(identity)
                self.features.update(sorted(schema_features(tool)))

    def _describe_size(self, index: int, tokens: int) -> None:
        self.counts["tokens"] += tokens
        self.tokens.add(tokens)
        push = heappush if len(self._longest) < LONGEST_SHOWN else heappushpop
        push(self._longest, (tokens, -index))

    def _problem_lines(self) -> Iterator[FindingLine]:
        for code, rows in sorted(self.rows_with.items()):
            kind = kind_of(code)
            yield FindingLine(
                code=code, severity=kind.severity, title=kind.title, rows=rows, examples=tuple(self.problems[code])
            )


def inspect(dataset: Dataset, lines: Iterable[Line] | None = None) -> DatasetReport:
    """Read a dataset (or the given lines of it) to its end and describe it."""
    inspector = Inspector()
    for line in dataset.lines() if lines is None else lines:
        inspector.add(line)
    return inspector.report(dataset)


def rough_tokens(body: JsonObject) -> int:
    """Prompt tokens of a request, roughly."""
    return len(canonical([body.get("messages"), body.get("tools")])) // BYTES_PER_TOKEN


def _is_user(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "user"


def _numbered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: int(item[0])))
