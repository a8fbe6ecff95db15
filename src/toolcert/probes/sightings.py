"""Findings counted over records, each with one example."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import Finding, Severity
from toolcert.core.records import Record
from toolcert.diagnose import kind_of
from toolcert.probes.scorecard import Example, FindingCount

WEIGHT = {severity: place for place, severity in enumerate(Severity)}
"""Errors first."""


class Sightings:
    """Cases by finding; memory grows with the number of codes, not of records."""

    def __init__(self, *, bodies: bool = False) -> None:
        self._bodies = bodies
        self._counts: dict[str, int] = {}
        self._severities: dict[str, Severity] = {}
        self._examples: dict[str, Example] = {}

    def add(self, record: Record) -> None:
        """Count a record once for each of its codes."""
        for code in record.codes:
            self._counts[code] = self._counts.get(code, 0) + 1
            found = next((found for found in record.detail.findings if found.code == code), None)
            severity = kind_of(code).severity if found is None else found.severity
            # The worst one stands for all: a harmless case that came first must not keep a gate open.
            if code not in self._examples or WEIGHT[severity] < WEIGHT[self._severities[code]]:
                self._severities[code] = severity
                self._examples[code] = self._example(record, found)

    def __iter__(self) -> Iterator[FindingCount]:
        """Worst first, then most frequent."""
        for code in sorted(self._counts, key=lambda code: (WEIGHT[self._severities[code]], -self._counts[code], code)):
            yield FindingCount(
                code=code,
                severity=self._severities[code],
                count=self._counts[code],
                example=self._examples[code],
            )

    def _example(self, record: Record, found: Finding | None) -> Example:
        probe = "" if record.probe is None else record.probe.probe
        if found is None:
            return Example(case=record.case, probe=probe)
        exchanges = record.detail.exchanges
        exchange = exchanges[found.turn] if self._bodies and found.turn < len(exchanges) else None
        return Example(
            case=record.case,
            probe=probe,
            evidence=found.evidence,
            turn=found.turn,
            call=found.call,
            url="" if exchange is None else exchange.url,
            body=None if exchange is None else exchange.sent or exchange.request.body,
        )
