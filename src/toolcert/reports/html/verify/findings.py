"""Findings of the vendor with their examples, and the dataset's own faults apart from them."""

from __future__ import annotations

from itertools import zip_longest

from toolcert.core.findings import Severity
from toolcert.core.values import Value
from toolcert.diagnose import kind_of
from toolcert.reports.extras import Extras
from toolcert.reports.html.titles import full_title
from toolcert.reports.html.verify.evidence import RowEvidence, evidence
from toolcert.reports.text import count, shorten, visible
from toolcert.verify.figures import Example, FindingLine, VerifySummary

LONGEST_EVIDENCE = 400
LONGEST_TOOL = 80
CUT = 4
"""A bar that would be more than so many times the next is cut, so that the others can be read."""
TONES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "mute"}


class ExampleView(Value):
    """One row that shows a finding."""

    row: int
    tool: str
    evidence: str
    shown: RowEvidence | None
    """Request and answer, where the page has room; a row is opened once on a page."""
    elsewhere: bool
    """Opened under an earlier finding."""


class FindingView(Value):
    """One kind of finding."""

    code: str
    severity: str
    tone: str
    title: str
    meaning: str
    cause: str
    remedy: str
    rows: int
    longest: int
    cut: bool
    examples: tuple[ExampleView, ...]


class DatasetView(Value):
    """One kind of fault of the dataset."""

    code: str
    title: str
    rows: str
    which: str
    treated: str


def finding_views(summary: VerifySummary, extras: Extras) -> tuple[FindingView, ...]:
    """All findings, worst first as in the summary."""
    lines = summary.vendor
    # One example of each before a second of any: where the page runs full, every cause still has its own.
    turns = zip_longest(*([example.row for example in line.examples] for line in lines))
    texts = evidence((row for turn in turns for row in turn if row is not None), extras)
    longest = _longest([line.rows for line in lines])
    opened: set[int] = set()
    return tuple(_view(line, longest, texts, opened) for line in lines)


def _longest(rows: list[int]) -> int:
    """The length of the scale: that of the longest bar, unless it dwarfs all others."""
    ordered = sorted(rows, reverse=True)
    if len(ordered) > 1 and ordered[0] > CUT * ordered[1]:
        return ordered[1] * 2
    return ordered[0] if ordered else 1


def _view(line: FindingLine, longest: int, texts: dict[int, RowEvidence], opened: set[int]) -> FindingView:
    kind = kind_of(line.code)
    return FindingView(
        code=line.code,
        severity=line.severity.value,
        tone=TONES[line.severity],
        title=full_title(line.code, line.title),
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
        rows=line.rows,
        longest=longest,
        cut=line.rows > longest,
        examples=tuple(_example(example, texts, opened) for example in line.examples),
    )


def _example(example: Example, texts: dict[int, RowEvidence], opened: set[int]) -> ExampleView:
    again = example.row in opened
    shown = None if again else texts.get(example.row)
    if shown is not None:
        opened.add(example.row)
    return ExampleView(
        row=example.row,
        tool=shorten(visible(example.tool), LONGEST_TOOL),
        evidence=shorten(visible(example.evidence), LONGEST_EVIDENCE),
        shown=shown,
        elsewhere=again,
    )


def dataset_views(summary: VerifySummary) -> tuple[DatasetView, ...]:
    """The dataset's faults."""
    return tuple(
        DatasetView(
            code=line.code,
            title=line.title,
            rows=count(line.rows),
            which=_which(line),
            treated=kind_of(line.code).remedy,
        )
        for line in summary.of_dataset
    )


def _which(line: FindingLine) -> str:
    rows = ", ".join(str(example.row) for example in line.examples)
    hidden = line.rows - len(line.examples)
    return f"{rows} and {count(hidden)} more" if hidden > 0 and rows else rows
