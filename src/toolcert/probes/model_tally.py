"""The records of one model, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from toolcert.core.findings import Severity
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.targets import ModelInfo
from toolcert.probes.latency import Times
from toolcert.probes.reliability import CellTally
from toolcert.probes.scorecard import (
    Category,
    Cell,
    ModelSummary,
    ProbeColumn,
    Reliability,
    Usage,
    sum_counts,
)
from toolcert.probes.scoring import category_of, score_of
from toolcert.probes.sightings import Sightings
from toolcert.probes.suites import Suite
from toolcert.probes.wording import reasons_for

Prices: TypeAlias = Mapping[str, tuple[float, float]]
"""Model id (or a pattern) to the price of a million tokens in and out."""
SHOWS_RELIABILITY = ("result_use", "hello_world", "basic")
"""The probe whose rates stand for the model's reliability: the first of these in the run, else its first probe."""


class ModelTally:
    """Counts the records of one model at one endpoint."""

    def __init__(self, endpoint: str, info: ModelInfo, columns: Sequence[ProbeColumn], planned: int = 0) -> None:
        self._endpoint = endpoint
        self._info = info
        self._columns = columns
        self._cells = {column.name: CellTally(planned) for column in columns}
        self._sightings = Sightings()
        self._times = {label: Times() for label in ("first token", "call", "answer")}
        self._requests = self._retried = self._tokens_in = self._tokens_out = 0

    def add(self, record: Record) -> None:
        """Count one record."""
        facts = record.probe
        if facts is None or facts.probe not in self._cells:
            return
        self._cells[facts.probe].add(record)
        self._sightings.add(record)
        self._requests += facts.requests
        self._retried += facts.retried
        self._tokens_in += facts.tokens_in
        self._tokens_out += facts.tokens_out
        self._time(facts)

    def _time(self, facts: ProbeFacts) -> None:
        if facts.first_token is not None:
            self._times["first token"].add(facts.first_token)
        if facts.called and facts.seconds:
            self._times["call"].add(facts.seconds[0])
            if facts.handled is not None and len(facts.seconds) > 1:
                self._times["answer"].add(facts.seconds[1])

    def summary(self, suite: Suite, weights: Mapping[str, float], threshold: float, prices: Prices) -> ModelSummary:
        """What the records say about the model."""
        cells = tuple(self._cells[column.name].cell(column.name, column.group, threshold) for column in self._columns)
        reliability = self._reliability(cells)
        score = score_of(self._cells, weights, suite, reliable=reliability.reliable)
        findings = tuple(self._sightings)
        category = category_of(score, cells) if self._info.can_chat else Category.UNSUPPORTED
        codes = [found.code for found in findings if found.severity is not Severity.NOTE]
        reasons = reasons_for(cells, weights, codes) if self._info.can_chat else (self._why_not(),)
        return ModelSummary(
            endpoint=self._endpoint,
            model=self._info.id,
            category=category,
            score=score,
            reason=reasons[0],
            reasons=reasons,
            reliability=reliability,
            cells=cells,
            counts=sum_counts(cell.counts for cell in cells),
            findings=findings,
            latency=tuple(line for label, times in self._times.items() if (line := times.latency(label))),
            usage=self._usage(prices),
            declares_tools=self._info.declares_tools,
        )

    def _reliability(self, cells: Sequence[Cell]) -> Reliability:
        by_name = {cell.probe: cell for cell in cells}
        name = next((name for name in SHOWS_RELIABILITY if name in by_name), cells[0].probe if cells else "")
        if not name:
            return Reliability()
        cell = by_name[name]
        return Reliability(
            probe=name,
            rate=cell.rate,
            called=cell.called,
            handled=cell.handled,
            certainty=cell.certainty,
            reliable=cell.reliable,
        )

    def _why_not(self) -> str:
        reason = self._info.why_not or "not a chat model"
        return reason[:1].upper() + reason[1:]

    def _usage(self, prices: Prices) -> Usage:
        price = prices.get(self._info.id) or next(
            (price for pattern, price in prices.items() if fnmatchcase(self._info.id, pattern)), None
        )
        cost = None if price is None else (self._tokens_in * price[0] + self._tokens_out * price[1]) / 1_000_000
        return Usage(
            requests=self._requests,
            retried=self._retried,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
            cost=cost,
        )
