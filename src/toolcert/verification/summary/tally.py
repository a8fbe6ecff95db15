"""Counts a run record by record and makes its summary; memory does not grow with the run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.events import CaseFinished, Event
from toolcert.core.findings import DATASET, EXAMPLES, INTERNAL, LOST_CALLS, Finding, Severity
from toolcert.core.records import Manifest, Record, RowFacts
from toolcert.core.statistics.quantiles import Percentiles, Quantiles, Timings, add_speed
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.excerpt import with_stop
from toolcert.core.verdict import VERIFY_THRESHOLD
from toolcert.diagnose import kind_of
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.marks import Excuse, Mark, MarkTally, marks_of
from toolcert.runs.reader import RunReader
from toolcert.verification.summary.breakdown import OTHERS, Kind, Kinds, Moments, Slices, ToolTallies
from toolcert.verification.summary.figures import (
    BUGS,
    AnswerMode,
    Example,
    FindingLine,
    Rows,
    Times,
    Traffic,
    UnsoundRows,
    VerifySummary,
)
from toolcert.verification.summary.run_verdict import next_lines, run_verdict

_EMPTY = "args.empty"
"""A warning where the call is valid anyway, because nothing is required."""
MAX_NAMES = 200
"""Distinct names, fingerprints or reasons that are counted; a hostile server could send a new one each time."""


class FindingTally:
    """One kind of finding: how many rows, and the first few of them."""

    __slots__ = ("examples", "known", "rows", "severity")

    def __init__(self, severity: Severity) -> None:
        self.severity = severity
        self.rows = self.known = 0
        self.examples: dict[int, Example] = {}

    def wants(self, row: int) -> bool:
        """Whether this row belongs to the first few."""
        return len(self.examples) < EXAMPLES or row < max(self.examples)

    def show(self, example: Example) -> None:
        """Add an example and drop the last one if there are too many."""
        self.examples[example.row] = example
        if len(self.examples) > EXAMPLES:
            del self.examples[max(self.examples)]


class Tally:
    """Counts all figures of a run, from its events or from the records of a finished run."""

    def __init__(self, marks: MarkTally | None = None) -> None:
        self.marks = marks or MarkTally()
        self.known: Counter[bool] = Counter()
        """Rows that are not counted in the verdict, by whether they were streamed."""
        self.outcomes: Counter[Outcome] = Counter()
        self.attempts = self.retried = self.prompt_tokens = self.completion_tokens = 0
        self.rows: Counter[str] = Counter()
        self.finish: Counter[str] = Counter()
        self.finish_with_calls: Counter[str] = Counter()
        self.failed_by: Counter[str] = Counter()
        self.not_measured_by: Counter[str] = Counter()
        self.unsupported_by: Counter[str] = Counter()
        self.not_asked: Counter[str] = Counter()
        self.buckets: Counter[str] = Counter()
        self.answered_as: Counter[str] = Counter()
        self.fingerprints: Counter[str] = Counter()
        self.sound: Counter[bool] = Counter()
        """Sound answers by whether they were streamed."""
        self.unsound: Counter[tuple[bool, tuple[str, ...]]] = Counter()
        """Answers that are not, with their errors."""
        self.refused: Counter[bool] = Counter()
        self.offered: Counter[tuple[bool, bool]] = Counter()
        """Answers to rows with tools, by whether they were streamed and whether they call."""
        self.findings: dict[tuple[bool, str], FindingTally] = {}
        """By whether it is an error in these rows, and by code."""
        self.times: defaultdict[str, Quantiles] = defaultdict(Quantiles)
        self.speeds = Quantiles()
        self.moments = Moments()
        self.tools = ToolTallies()
        self.slices = Slices()
        self._kinds = Kinds()

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self.add(event.record)

    def add(self, record: Record) -> None:
        """Count one record."""
        row = record.row
        if row is None:
            return
        self.outcomes[record.outcome] += 1
        self.moments.add(record)
        excuse = self.marks.judge(record)
        if record.codes:
            self._count_findings(record, row, excuse)
        self.attempts += row.attempts
        self.retried += row.attempts > 1
        if record.outcome is Outcome.PASSED or record.outcome is Outcome.FAILED:
            self._count_answer(record, row, excuse)
        else:
            self._count_unanswered(record, row, excuse)

    def _count_unanswered(self, record: Record, row: RowFacts, excuse: Excuse) -> None:
        if record.outcome is Outcome.NOT_MEASURED:
            self.not_measured_by[_cause(record)] += 1
        elif record.outcome is Outcome.UNSUPPORTED:
            _count_name(self.unsupported_by, record.reason, 1)
            counted = self.known if excuse.explained else self.refused
            counted[row.streamed] += 1
        elif record.skip is not SkipKind.BAD_ROW:
            _count_name(self.not_asked, record.cause or record.reason, 1)

    def add_line(self, line: bytes) -> None:
        """Count a line of a log; its evidence is decoded only for an example."""
        head = decode_head(line)
        self.add(decode_record(line) if self.wants_evidence(head) else head)

    def wants_evidence(self, head: Record) -> bool:
        """Whether the findings of this record are needed as examples, not only counted."""
        if head.row is None or not head.codes:
            return False
        known = (self.findings.get(_place(code, head)) for code in head.codes)
        return any(tally is None or tally.wants(head.row.index) for tally in known)

    def settle(self) -> Tally:
        """Count the rows that were collected by kind; only then are the figures complete."""
        for kind, rows in self._kinds.take():
            self._count_kind(kind, rows)
        return self

    def _count_answer(self, record: Record, row: RowFacts, excuse: Excuse) -> None:
        """Count tokens and times now, and the rest together with rows of the same kind: that is much faster."""
        self.prompt_tokens += row.prompt_tokens or 0
        self.completion_tokens += row.completion_tokens or 0
        if row.seconds is not None:
            self.times["with a call" if row.called else "in text"].add(row.seconds)
            if row.names:
                self.tools.add_seconds(row.names, row.seconds)
        if row.first_token is not None:
            self.times["first token"].add(row.first_token)
        add_speed(self.speeds, row.completion_tokens, row.seconds)
        if self._kinds.add(record, row, excuse):
            self.settle()

    def _count_kind(self, kind: Kind, rows: int) -> None:
        counts = self.rows
        counts["called" if kind.called else "unreadable" if kind.called is None else "in_text"] += rows
        counts["lost"] += rows * (kind.called is False and not LOST_CALLS.isdisjoint(kind.codes))
        _count_name(self.finish, kind.finish or "none", rows)
        if kind.called:
            _count_name(self.finish_with_calls, kind.finish or "none", rows)
            self._count_calls(kind, rows)
        if kind.wanted is not None:
            counts["wanted"] += rows
            counts["triggered"] += rows * (kind.wanted == kind.called)
            counts["correct"] += rows * (kind.correct is True)
            counts["known_expectations"] += rows * (kind.correct is not True and kind.excuse.explained)
        if not kind.passed:
            self.failed_by[_first_error(kind.codes)] += rows
        self._count_soundness(kind, rows)
        _count_name(self.answered_as, kind.answered_as, rows)
        _count_name(self.fingerprints, kind.fingerprint, rows)
        self.tools.add(kind, rows)
        self.slices.add(kind, rows)

    def _count_soundness(self, kind: Kind, rows: int) -> None:
        self.offered[kind.streamed, bool(kind.called)] += rows * bool(kind.tools)
        errors = tuple(code for code in _errors(kind) if code not in kind.excuse.codes)
        if kind.excuse.explained:
            self.known[kind.streamed] += rows
        elif errors or kind.valid is False:
            known = (kind.streamed, errors) in self.unsound or len(self.unsound) < MAX_NAMES
            self.unsound[kind.streamed, errors if known else errors[:1]] += rows
        elif kind.valid or not kind.called:
            self.sound[kind.streamed] += rows

    def _count_calls(self, kind: Kind, rows: int) -> None:
        self.rows["unjudged" if kind.valid is None else "valid" if kind.valid else "invalid"] += rows
        self.rows["calls_valid"] += rows * kind.verdicts.count(True)
        self.rows["calls_invalid"] += rows * kind.verdicts.count(False)
        for bucket in kind.buckets:
            self.buckets[bucket] += rows

    def _count_findings(self, record: Record, row: RowFacts, excuse: Excuse) -> None:
        by_code: dict[str, Finding] = {}
        # Where they are not wanted as examples, evidence that was not decoded yet may stay so.
        for finding in reversed(record.detail.findings if self.wants_evidence(record) else ()):
            if finding.because_of is None:
                by_code[finding.code] = finding
        for code in record.codes:
            found = by_code.get(code)
            tally = self._tally(code, record, found)
            tally.rows += 1
            tally.known += code in excuse.codes
            if found is not None and tally.wants(row.index):
                tally.show(_example(row, found, record.detail.findings))

    def _tally(self, code: str, record: Record, found: Finding | None) -> FindingTally:
        place = _place(code, record)
        tally = self.findings.get(place)
        if tally is None:
            severity = kind_of(code).severity if found is None else found.severity
            harmless = severity is Severity.ERROR and not place[0] and not code.startswith(DATASET)
            tally = self.findings[place] = FindingTally(Severity.WARNING if harmless else severity)
        return tally


def _first_error(codes: tuple[str, ...]) -> str:
    for code in codes:
        if not code.startswith(DATASET) and kind_of(code).severity is Severity.ERROR:
            return code
    return "expectation"


def _place(code: str, record: Record) -> tuple[bool, str]:
    """Whether a finding is an error in this row, and its code; known from the head of the record alone."""
    failed = record.outcome is Outcome.FAILED
    return failed and _is_error(code, valid=None if record.row is None else record.row.valid), code


def _errors(kind: Kind) -> tuple[str, ...]:
    """The errors of the vendor in rows of this kind, in order; a row that passed has none."""
    if kind.passed:
        return ()
    return tuple(sorted(code for code in kind.codes if _is_error(code, valid=kind.valid)))


def _is_error(code: str, *, valid: bool | None) -> bool:
    """Whether a finding is an error of the vendor in a row that failed."""
    if code.startswith((DATASET, _TRANSPORT)) or (code == _EMPTY and valid is not False):
        return False
    return kind_of(code).severity is Severity.ERROR


def _cause(record: Record) -> str:
    if INTERNAL in record.codes:
        return BUGS
    causes = (code for code in record.codes if code.startswith(("transport.", "finish.filtered")))
    return next(causes, "unknown").removeprefix("transport.")


def _example(row: RowFacts, found: Finding, beside: tuple[Finding, ...]) -> Example:
    called = found.call is not None and found.call < len(row.names)
    tool = row.names[found.call or 0] if called else ""
    follows = tuple(sorted({one.code for one in beside if one.because_of == found.code}))
    return Example(row=row.index, tool=tool, evidence=found.evidence, follows=follows)


def _count_name(names: Counter[str], name: str | None, rows: int) -> None:
    if name is not None:
        names[name if name in names or len(names) < MAX_NAMES else OTHERS] += rows


_TIMES = ("first token", "whole answer", "with a call", "in text")
_TRANSPORT = "transport."


def summarise(folder: Path, known: Iterable[Mark] = ()) -> VerifySummary:
    """The summary of a finished or interrupted verify run, from its log and its marks; those `known` are respected."""
    reader = RunReader(folder)
    return summary_of(tally_of(reader, marks_of(folder, known)), reader.manifest)


def tally_of(reader: RunReader, marks: MarkTally | None = None) -> Tally:
    """Count a run log; evidence is decoded only for examples."""
    tally = Tally(marks)
    for _ in reader.decoded(tally.add_line):
        pass
    return tally


def summary_of(tally: Tally, manifest: Manifest) -> VerifySummary:
    """The summary of the counts."""
    tally.settle()
    summary = _with_shares(_with_counts(_about(manifest), tally), tally.rows)
    summary = msgspec.structs.replace(summary, incomplete=_incomplete(summary))
    verdict = run_verdict(summary, threshold_of(manifest))
    summary = msgspec.structs.replace(summary, verdict=verdict, headline=with_stop(verdict.sentence))
    return msgspec.structs.replace(summary, lines=next_lines(summary))


def threshold_of(manifest: Manifest) -> float:
    """The share of sound answers that the run is judged by; runs of 0.1 did not choose one."""
    return float(manifest.parameters.get("threshold", VERIFY_THRESHOLD))


def _about(manifest: Manifest) -> VerifySummary:
    spec = manifest.endpoints[0] if manifest.endpoints else None
    return VerifySummary(
        run=manifest.run,
        toolcert=manifest.toolcert,
        started_at=manifest.started_at,
        finished_at=manifest.finished_at,
        interrupted=manifest.interrupted,
        planned=manifest.planned,
        headline="",
        endpoint="" if spec is None else spec.name,
        base_url="" if spec is None else spec.base_url,
        key_env=None if spec is None else spec.key_env,
        dialect="openai" if spec is None else spec.dialect,
        model=str(manifest.parameters.get("model", "")),
        dataset=manifest.dataset,
    )


def _incomplete(summary: VerifySummary) -> bool:
    """Whether rows are missing: a run that was killed, or is still going on, has no end in its manifest."""
    ended = summary.finished_at is not None and not summary.interrupted
    return not ended and (summary.planned is None or summary.rows.lines < summary.planned)


def _with_counts(summary: VerifySummary, tally: Tally) -> VerifySummary:
    rows = _rows(tally)
    return msgspec.structs.replace(
        summary,
        rows=rows,
        finish=_by_frequency(tally.finish),
        finish_with_calls=_by_frequency(tally.finish_with_calls),
        failed_by=_by_frequency(tally.failed_by),
        not_measured_by=_by_frequency(tally.not_measured_by),
        unsupported_by=_by_frequency(tally.unsupported_by),
        not_asked=_by_frequency(tally.not_asked),
        buckets=_by_frequency(tally.buckets),
        answered_as=_by_frequency(tally.answered_as),
        fingerprints=_by_frequency(tally.fingerprints),
        vendor=_finding_lines(tally, of_dataset=False),
        of_dataset=_finding_lines(tally, of_dataset=True),
        times=tuple(_all_times(tally.times)),
        timings=_timings(tally),
        moments=tally.moments.result(),
        tools=tally.tools.result(),
        slices=tally.slices.result(),
        traffic=_traffic(tally, rows),
        expects=tally.rows["wanted"] > 0,
        nothing_measured=rows.answered == 0,
        known_expectations=tally.rows["known_expectations"],
        marks=tally.marks.lines(),
        modes=tuple(_modes(tally)),
    )


def _with_shares(summary: VerifySummary, counts: Counter[str]) -> VerifySummary:
    rows = summary.rows
    judged = rows.valid + rows.invalid
    return msgspec.structs.replace(
        summary,
        answered=Rate(k=rows.answered, n=rows.sent),
        called=Rate(k=rows.called, n=rows.called + rows.in_text),
        valid=Rate(k=rows.valid, n=judged),
        sound=sum((mode.sound for mode in summary.modes), Rate()),
        valid_calls=Rate(k=counts["calls_valid"], n=counts["calls_valid"] + counts["calls_invalid"]),
        trigger=Rate(k=counts["triggered"], n=counts["wanted"]),
        correct=Rate(k=counts["correct"], n=counts["wanted"]),
        if_missing_were_wrong=Rate(k=rows.valid, n=judged + rows.not_measured),
    )


def _modes(tally: Tally) -> Iterator[AnswerMode]:
    for streamed in (False, True):
        unsound = {codes: rows for (mode, codes), rows in tally.unsound.most_common() if mode is streamed}
        answers = tally.sound[streamed] + sum(unsound.values())
        called = tally.offered[streamed, True]
        if answers or tally.refused[streamed] or tally.known[streamed]:
            yield AnswerMode(
                streamed=streamed,
                sound=Rate(k=tally.sound[streamed], n=answers),
                called=Rate(k=called, n=called + tally.offered[streamed, False]),
                refused=tally.refused[streamed],
                known=tally.known[streamed],
                unsound=tuple(
                    UnsoundRows(codes=codes, rows=rows)
                    for codes, rows in sorted(unsound.items(), key=lambda item: (-item[1], item[0]))
                ),
            )


def _rows(tally: Tally) -> Rows:
    outcomes, rows = tally.outcomes, tally.rows
    answered = outcomes[Outcome.PASSED] + outcomes[Outcome.FAILED]
    sent = answered + outcomes[Outcome.UNSUPPORTED] + outcomes[Outcome.NOT_MEASURED]
    return Rows(
        lines=sent + outcomes[Outcome.SKIPPED],
        sent=sent,
        answered=answered,
        called=rows["called"],
        in_text=rows["in_text"],
        lost=rows["lost"],
        unreadable=rows["unreadable"],
        valid=rows["valid"],
        invalid=rows["invalid"],
        unjudged=rows["unjudged"],
        passed=outcomes[Outcome.PASSED],
        failed=outcomes[Outcome.FAILED],
        unsupported=outcomes[Outcome.UNSUPPORTED],
        not_measured=outcomes[Outcome.NOT_MEASURED],
        skipped=outcomes[Outcome.SKIPPED],
    )


def _finding_lines(tally: Tally, *, of_dataset: bool) -> tuple[FindingLine, ...]:
    """Findings, worst and most frequent first; transport faults and bugs of ours are counted elsewhere."""
    lines = [
        _finding_line(code, found)
        for (_, code), found in tally.findings.items()
        if code.startswith(DATASET) is of_dataset and not code.startswith((_TRANSPORT, INTERNAL))
    ]
    return tuple(sorted(lines, key=lambda line: (line.severity.rank, -line.rows, line.code)))


def _finding_line(code: str, found: FindingTally) -> FindingLine:
    examples = tuple(found.examples[row] for row in sorted(found.examples))
    return FindingLine(
        code=code,
        severity=found.severity,
        title=kind_of(code).title,
        rows=found.rows,
        examples=examples,
        known=found.known,
    )


def _all_times(measured: Mapping[str, Quantiles]) -> Iterator[Times]:
    whole = Quantiles()
    for label in ("with a call", "in text"):
        if label in measured:
            whole.merge(measured[label])
    times = {**measured, "whole answer": whole}
    return (_times(label, times[label]) for label in _TIMES if label in times and times[label].count)


def _timings(tally: Tally) -> Timings:
    return Timings(
        first_token=Percentiles.of(tally.times["first token"]),
        call=Percentiles.of(tally.times["with a call"]),
        tokens_per_second=Percentiles.of(tally.speeds, speed=True),
    )


def _times(label: str, seconds: Quantiles) -> Times:
    def at(share: float) -> float:
        value = seconds.quantile(share)
        assert value is not None  # a label exists only once it was measured
        return value

    return Times(
        label=label,
        count=seconds.count,
        p5=at(0.05),
        p25=at(0.25),
        p50=at(0.5),
        p75=at(0.75),
        p90=at(0.9),
        p95=at(0.95),
        p99=at(0.99),
        longest=seconds.largest,
    )


def _traffic(tally: Tally, rows: Rows) -> Traffic:
    seconds = tally.moments.seconds
    return Traffic(
        requests=tally.attempts,
        retried=tally.retried,
        prompt_tokens=tally.prompt_tokens,
        completion_tokens=tally.completion_tokens,
        seconds=seconds,
        per_second=rows.answered / seconds if seconds else None,
    )


def _by_frequency(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
