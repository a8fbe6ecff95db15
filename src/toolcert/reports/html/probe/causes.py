"""Findings by cause: what was seen, what it means, the usual cause, the evidence, the way to see it again."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.values import Value
from toolcert.diagnose import kind_of
from toolcert.probes.scorecard import Cause, ProbeSummary
from toolcert.reports.html.titles import full_title
from toolcert.reports.labels import label_of, reproduce
from toolcert.reports.text import count, plural, shorten, visible

LONGEST_EVIDENCE = 2000
LONGEST_CURL = 6000
TONES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "mute"}


class CauseRow(Value):
    """One kind of finding."""

    code: str
    severity: str
    tone: str
    title: str
    meaning: str
    cause: str
    remedy: str
    seen: str
    models: tuple[tuple[str, str], ...]
    """Label and address of each model that shows it."""
    affected: tuple[bool, ...]
    """For each model of the run, in order, whether it shows it."""
    where: str
    evidence: str
    curl: str


def cause_rows(summary: ProbeSummary, addresses: dict[str, str]) -> tuple[CauseRow, ...]:
    """All causes, worst first as in the summary."""
    labels = [label_of(summary, model) for model in summary.models]
    return tuple(_row(summary, cause, addresses, labels) for cause in summary.causes)


def _row(summary: ProbeSummary, cause: Cause, addresses: dict[str, str], labels: list[str]) -> CauseRow:
    kind = kind_of(cause.code)
    names = [visible(name) for name in cause.models]
    hit = set(names)
    example = cause.example
    return CauseRow(
        code=cause.code,
        severity=cause.severity.value,
        tone=TONES[cause.severity],
        title=full_title(cause.code, cause.title),
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
        seen=f"{plural(cause.count, 'time')}, in probes {', '.join(cause.probes)}",
        models=tuple((shorten(name, 80), addresses.get(name, "models")) for name in names),
        affected=tuple(label in hit for label in labels),
        where=visible(f"{example.case}, turn {example.turn + 1}"),
        evidence=shorten(visible(example.evidence), LONGEST_EVIDENCE),
        curl=_curl(summary, cause),
    )


def _curl(summary: ProbeSummary, cause: Cause) -> str:
    """The line that sends the example again; one too long to read names the command that prints it."""
    line = reproduce(summary, cause.example)
    if len(line) <= LONGEST_CURL:
        return line
    return f"toolcert show RUN '{visible(cause.example.case)}'  # {count(len(line))} characters as a curl line"
