"""From records to the summary that every report reads; it needs nothing but the run log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import msgspec

from toolcert.core.findings import Severity
from toolcert.core.records import Manifest, ProbeFacts, Record
from toolcert.core.statistics.quantiles import Percentiles, Quantiles, Timings, add_speed
from toolcert.core.targets import ModelInfo
from toolcert.core.verdict import Verdict, Word, worst
from toolcert.diagnose import kind_of
from toolcert.probes.base import all_probes
from toolcert.probes.run.fingerprint import FingerprintWatch
from toolcert.probes.suites import Suite, core_of, find_suite, weights_of
from toolcert.probes.summary.cell_tally import CellTally, FindingTally, Times, score_of
from toolcert.probes.summary.load_tally import CORRUPTION, CROSSTALK, LoadTally
from toolcert.probes.summary.model_verdict import model_verdict
from toolcert.probes.summary.scorecard import (
    Cause,
    Cell,
    ModelSummary,
    ProbeColumn,
    ProbeSummary,
    Reliability,
    Totals,
    UnderLoad,
    Usage,
    sum_counts,
)
from toolcert.probes.summary.sentences import (
    as_sentence,
    further_lines,
    headline,
    incomplete_words,
    reasons_for,
    unreachable_lines,
)
from toolcert.runs.marks import NO_EXCUSE, Excuse, Mark, MarkTally, marks_of
from toolcert.runs.reader import RunReader, settled

Prices: TypeAlias = Mapping[str, tuple[float, float]]
"""Model id (or a pattern) to the price of a million tokens in and out."""
SHOWS_RELIABILITY = ("result_use", "hello_world", "basic")
"""The probe whose rates stand for the model's reliability: the first of these in the run, else its first probe."""


class ModelTally:
    """Counts the records of one model at one endpoint."""

    def __init__(
        self, endpoint: str, info: ModelInfo, columns: Sequence[ProbeColumn], planned: int = 0, at_load: int = 0
    ) -> None:
        self._endpoint = endpoint
        self._info = info
        self._columns = columns
        self._cells = {column.name: CellTally(planned) for column in columns}
        self._findings = FindingTally()
        self._times = {label: Times() for label in ("first token", "call", "answer")}
        self._speeds = Quantiles()
        self._load = LoadTally(at_load) if at_load else None
        self._requests = self._retried = self._tokens_in = self._tokens_out = 0

    def add(self, record: Record, excuse: Excuse = NO_EXCUSE) -> None:
        """Count one record."""
        facts = record.probe
        if facts is None:
            return
        if record.load is not None and self._load is not None:
            self._load.add(record)
        elif facts.probe in self._cells:
            self._cells[facts.probe].add(record, excuse)
            self._findings.add(record, excuse)
            self._time(facts)
        else:
            return
        self._requests += facts.requests
        self._retried += facts.retried
        self._tokens_in += facts.tokens_in
        self._tokens_out += facts.tokens_out

    def _time(self, facts: ProbeFacts) -> None:
        if facts.first_token is not None:
            self._times["first token"].add(facts.first_token)
        if facts.called and facts.seconds:
            self._times["call"].add(facts.seconds[0])
            if facts.handled is not None and len(facts.seconds) > 1:
                self._times["answer"].add(facts.seconds[1])
        if facts.requests == len(facts.seconds):  # where one was repeated, its tokens and times are not told apart
            add_speed(self._speeds, facts.tokens_out, sum(facts.seconds))

    def summary(self, suite: Suite, weights: Mapping[str, float], threshold: float, prices: Prices) -> ModelSummary:
        """What the records say about the model."""
        cells = tuple(self._cells[column.name].cell(column.name, column.group, threshold) for column in self._columns)
        reliability = self._reliability(cells)
        score = score_of(self._cells, weights, suite)
        under_load = self._under_load()
        findings = (*(self._load.findings() if self._load else ()), *self._findings)
        verdict = self._verdict(cells, threshold, under_load)
        codes = [found.code for found in findings if found.severity is not Severity.NOTE]
        others = reasons_for(cells, weights, codes) if self._info.can_chat else ()
        if verdict.word is Word.NOT_MEASURED and others:
            verdict = msgspec.structs.replace(verdict, reason=others[0].removeprefix("Not measured: "))
        reason = as_sentence(verdict.reason)
        return ModelSummary(
            endpoint=self._endpoint,
            model=self._info.id,
            verdict=verdict,
            score=score,
            reason=reason,
            reasons=tuple(dict.fromkeys((reason, *others))),
            reliability=reliability,
            cells=cells,
            counts=sum_counts(cell.counts for cell in cells),
            findings=findings,
            latency=tuple(line for label, times in self._times.items() if (line := times.latency(label))),
            timings=self._timings(),
            usage=self._usage(prices),
            declares_tools=self._info.declares_tools,
            under_load=under_load,
        )

    def _under_load(self) -> UnderLoad | None:
        if self._load is None or not self._load.levels:
            return None
        self._load.close()
        return self._load.under_load()

    def _timings(self) -> Timings:
        return Timings(
            first_token=Percentiles.of(self._times["first token"].quantiles),
            call=Percentiles.of(self._times["call"].quantiles),
            tokens_per_second=Percentiles.of(self._speeds, speed=True),
        )

    def _verdict(self, cells: Sequence[Cell], threshold: float, under_load: UnderLoad | None) -> Verdict:
        if not self._info.can_chat:
            return Verdict(word=Word.UNSUPPORTED, reason=self._why_not())
        columns = {column.name: column for column in self._columns}
        return model_verdict(cells, columns, threshold, under_load=under_load)

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


_ORDER = tuple(Word)


def summarise_run(folder: Path, prices: Prices | None = None, known: Iterable[Mark] = ()) -> ProbeSummary:
    """The summary of a finished or interrupted probe run, from its log and its marks; those `known` are respected."""
    reader = RunReader(folder)
    return summarise(reader.manifest, reader.records(), prices=prices, marks=marks_of(folder, known))


def summarise(
    manifest: Manifest, records: Iterable[Record], *, prices: Prices | None = None, marks: MarkTally | None = None
) -> ProbeSummary:
    """The summary of a run."""
    summariser = Summariser(manifest, prices=prices, marks=marks)
    for record in records:
        summariser.add(record)
    return summariser.summary()


class Summariser:
    """Takes records one by one, in any order; gives a summary at any time."""

    def __init__(self, manifest: Manifest, *, prices: Prices | None = None, marks: MarkTally | None = None) -> None:
        self._manifest = manifest
        self._marks = marks or MarkTally()
        self._suite = find_suite(manifest.suite)
        self._iterations = manifest.iterations or 1
        self._columns = _columns(manifest)
        self._weights = {column.name: column.weight for column in self._columns}
        self._prices = prices or {}
        self._findings = FindingTally(bodies=True)
        self._fingerprints = FingerprintWatch()
        self._models = {
            (endpoint, info.id): ModelTally(endpoint, info, self._columns, _planned(manifest, info), _level(manifest))
            for endpoint, infos in manifest.models.items()
            for info in infos
        }

    def add(self, record: Record) -> None:
        """Count one record; models and probes outside the manifest belong to another run."""
        tally = self._models.get((record.endpoint, record.model))
        if tally is not None and record.load is not None:
            tally.add(record)
        elif tally is not None and record.probe is not None and self._counts(record, record.probe):
            compared = self._fingerprints.compared(record)
            excuse = self._marks.judge(compared)
            tally.add(compared, excuse)
            self._findings.add(compared, excuse)

    def _counts(self, record: Record, facts: ProbeFacts) -> bool:
        # An earlier run with more iterations leaves its answers to this one, and not its gaps.
        return facts.probe in self._weights and (facts.iteration <= self._iterations or settled(record))

    def summary(self, *, finished_at: float | None = None) -> ProbeSummary:
        """The summary of all records so far."""
        models = self._ranked()
        causes = self._causes(models)
        totals = self._totals(models, finished_at or self._manifest.finished_at)
        counts = totals.counts
        return ProbeSummary(
            run=self._manifest.run,
            toolcert=self._manifest.toolcert,
            started_at=self._manifest.started_at,
            verdict=worst(
                [
                    *(model.verdict.word for model in models if model.asked),
                    *(Word.NOT_MEASURED for _ in self._manifest.unreachable),
                ]
            ),
            headline=incomplete_words(models) + headline(models, totals, tuple(self._manifest.unreachable)),
            lines=(
                *unreachable_lines(self._manifest.unreachable),
                *further_lines(models, causes, several=len(self._manifest.models) > 1),
            ),
            finished_at=finished_at or self._manifest.finished_at,
            interrupted=self._manifest.interrupted,
            suite=self._manifest.suite,
            iterations=self._manifest.iterations or 1,
            threshold=self._manifest.threshold,
            versions=self._manifest.versions,
            endpoints=self._manifest.endpoints,
            unreachable=self._manifest.unreachable,
            partial=self._manifest.partial,
            marks=self._marks.lines(),
            probes=self._columns,
            models=models,
            causes=causes,
            totals=totals,
            nothing_measured=all(model.verdict.word is Word.NOT_MEASURED for model in models if model.asked)
            or not counts.measured + counts.unsupported,
        )

    def _ranked(self) -> tuple[ModelSummary, ...]:
        """By verdict, score, whether it answered at once, time to a call, and name; the rank is the place."""
        models = [
            tally.summary(self._suite, self._weights, self._manifest.threshold, self._prices)
            for tally in self._models.values()
        ]
        models.sort(key=_standing)
        return tuple(msgspec.structs.replace(model, rank=place) for place, model in enumerate(models, start=1))

    def _causes(self, models: tuple[ModelSummary, ...]) -> tuple[Cause, ...]:
        several = len(self._manifest.models) > 1
        causes = []
        for found in self._findings:
            seen = [model for model in models if any(one.code == found.code for one in model.findings)]
            cells = (cell for model in seen for cell in model.cells)
            probes = (cell.probe for cell in cells if any(one.code == found.code for one in cell.findings))
            causes.append(
                Cause(
                    code=found.code,
                    severity=found.severity,
                    title=kind_of(found.code).title,
                    count=found.count,
                    models=tuple(f"{model.endpoint}: {model.model}" if several else model.model for model in seen),
                    probes=tuple(dict.fromkeys(probes)),
                    example=found.example,
                    follows=found.follows,
                    known=found.known,
                )
            )
        causes += _load_causes(models, several=several)
        causes.sort(key=lambda cause: (cause.severity.rank, -len(cause.models), -cause.count, cause.code))
        return tuple(causes)

    def _totals(self, models: tuple[ModelSummary, ...], finished_at: float | None) -> Totals:
        by_word = {word.value: sum(model.verdict.word is word for model in models) for word in Word}
        return Totals(
            models=len(models),
            **by_word,
            counts=sum_counts(model.counts for model in models),
            usage=_usage([model.usage for model in models]),
            seconds=None if finished_at is None else finished_at - self._manifest.started_at,
        )


def _load_causes(models: Sequence[ModelSummary], *, several: bool) -> Iterator[Cause]:
    """What only load shows, across the models."""
    for code in (CROSSTALK, CORRUPTION):
        seen = [(model, one) for model in models for one in model.findings if one.code == code]
        if seen:
            yield Cause(
                code=code,
                severity=seen[0][1].severity,
                title=kind_of(code).title,
                count=sum(one.count for _, one in seen),
                models=tuple(f"{model.endpoint}: {model.model}" if several else model.model for model, _ in seen),
                probes=(),
                example=seen[0][1].example,
            )


def _level(manifest: Manifest) -> int:
    """Requests at a time if the run asks under load as well."""
    level = manifest.parameters.get("at_load")
    return level if isinstance(level, int) and level > 1 else 0


def _planned(manifest: Manifest, info: ModelInfo) -> int:
    """Cases of each probe; a model that is not for chatting is skipped once."""
    return (manifest.iterations or 1) if info.can_chat else 1


def _columns(manifest: Manifest) -> tuple[ProbeColumn, ...]:
    """The run's probes in display order; what is not registered is a scenario of the user's."""
    known = {probe.name: probe for probe in all_probes()}
    names = [*(name for name in known if name in manifest.probes), *(n for n in manifest.probes if n not in known)]
    groups = [(name, known[name].group if name in known else "scenario") for name in names]
    weights = weights_of(find_suite(manifest.suite), groups)
    core = core_of(names)
    return tuple(
        ProbeColumn(
            name=name,
            group=group,
            title=known[name].title if name in known else name,
            meaning=known[name].meaning if name in known else "",
            weight=weights[name],
            requests=known[name].requests if name in known else 1,
            core=name in core,
        )
        for name, group in groups
    )


def _standing(model: ModelSummary) -> tuple[int, float, bool, float, str, str]:
    seconds = model.seconds("call")
    return (
        _ORDER.index(model.verdict.word),
        -model.score.low,
        bool(model.usage.retried or model.counts.not_measured),  # a short time to a call does not make up for waits
        float("inf") if seconds is None else seconds,
        model.model,
        model.endpoint,
    )


def _usage(parts: list[Usage]) -> Usage:
    costs = [part.cost for part in parts if part.cost is not None]
    return Usage(
        requests=sum(part.requests for part in parts),
        retried=sum(part.retried for part in parts),
        tokens_in=sum(part.tokens_in for part in parts),
        tokens_out=sum(part.tokens_out for part in parts),
        cost=sum(costs) if costs else None,
    )
