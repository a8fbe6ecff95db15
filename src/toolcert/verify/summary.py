"""From records to the summary that every report reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from toolcert.core.findings import Severity
from toolcert.core.manifest import Manifest
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record
from toolcert.core.statistics_quantiles import Quantiles
from toolcert.diagnose import kind_of
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.reader import RunReader
from toolcert.verify.figures import FindingLine, Rows, Share, Times, Traffic, VerifySummary
from toolcert.verify.tally import FindingTally, Tally
from toolcert.verify.words import headline, next_lines

_WEIGHT = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
_TIMES = ("first token", "whole answer", "with a call", "in text")
_TRANSPORT = "transport."


def summarise(folder: Path) -> VerifySummary:
    """The summary of a finished or interrupted verify run, from its log alone."""
    reader = RunReader(folder)
    return summary_of(tally_of(reader), reader.manifest)


def tally_of(reader: RunReader) -> Tally:
    """Count a run log, reading evidence only where it becomes an example."""
    tally = Tally()

    def needed(line: bytes) -> Record:
        head = decode_head(line)
        return decode_record(line) if tally.wants_evidence(head) else head

    for record in reader.decoded(needed):
        tally.add(record)
    return tally


def summary_of(tally: Tally, manifest: Manifest) -> VerifySummary:
    """What the counts of a run say."""
    tally.settle()
    summary = _with_shares(_with_counts(_about(manifest), tally), tally.rows)
    summary = msgspec.structs.replace(summary, incomplete=_incomplete(summary))
    return msgspec.structs.replace(summary, headline=headline(summary), lines=next_lines(summary))


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
        moments=tally.moments.result(),
        tools=tally.tools.result(),
        slices=tally.slices.result(),
        traffic=_traffic(tally, rows),
        expects=tally.rows["wanted"] > 0,
        nothing_measured=rows.answered == 0,
    )


def _with_shares(summary: VerifySummary, counts: Counter[str]) -> VerifySummary:
    rows = summary.rows
    judged = rows.valid + rows.invalid
    return msgspec.structs.replace(
        summary,
        answered=Share.of(rows.answered, rows.sent),
        called=Share.of(rows.called, rows.called + rows.in_text),
        valid=Share.of(rows.valid, judged),
        valid_calls=Share.of(counts["calls_valid"], counts["calls_valid"] + counts["calls_invalid"]),
        trigger=Share.of(counts["triggered"], counts["wanted"]),
        correct=Share.of(counts["correct"], counts["wanted"]),
        if_missing_were_wrong=Share.of(rows.valid, judged + rows.not_measured),
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
    """Worst and most frequent first; transport is no finding about the vendor and has its own counts."""
    lines = [
        _finding_line(code, found)
        for (dataset, code), found in tally.findings.items()
        if dataset is of_dataset and not code.startswith(_TRANSPORT)
    ]
    return tuple(sorted(lines, key=lambda line: (_WEIGHT[line.severity], -line.rows, line.code)))


def _finding_line(code: str, found: FindingTally) -> FindingLine:
    examples = tuple(found.examples[row] for row in sorted(found.examples))
    return FindingLine(
        code=code, severity=found.severity, title=kind_of(code).title, rows=found.rows, examples=examples
    )


def _all_times(measured: Mapping[str, Quantiles]) -> Iterator[Times]:
    whole = Quantiles()
    for label in ("with a call", "in text"):
        if label in measured:
            whole.merge(measured[label])
    times = {**measured, "whole answer": whole}
    return (_times(label, times[label]) for label in _TIMES if label in times and times[label].count)


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
