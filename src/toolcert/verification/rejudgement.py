"""Judges finished runs again, offline: after a rule changed, or by the rules of the older verifiers.

By the older rules a response calls tools when its finish_reason is `tool_calls`, and is valid when every call names an
offered tool that has a schema, its arguments are JSON text, and they satisfy the schema. So empty arguments are invalid
even for a tool without parameters, and a schema that is itself broken makes every call of its tool invalid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, UsageError
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import DATASET, Finding
from toolcert.core.records import Manifest, Record
from toolcert.core.schema.judge import Bucket
from toolcert.core.values import Value
from toolcert.diagnose.judgement import NO_SCHEMA, SCHEMA_FINDINGS, Rules
from toolcert.engine.local import unjudged
from toolcert.runs.encoding import Keep, decode_record, kept_as
from toolcert.runs.marks import Mark, MarkTally, marks_of
from toolcert.runs.reader import RunReader
from toolcert.verification.adapters.base import ModelAdapter
from toolcert.verification.adapters.registry import get_adapter, load_adapter
from toolcert.verification.dataset.lines import describe
from toolcert.verification.digest import content_hash, sampling_hash
from toolcert.verification.older_results import OlderRow, is_older_results, read_older
from toolcert.verification.run.log import JOB
from toolcert.verification.run.row_judge import Row, RowJudge
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import Tally, summary_of
from toolcert.version import __version__

_INVALID_BEFORE = frozenset({Bucket.EMPTY, Bucket.BAD_SCHEMA, Bucket.TOO_COMPLEX, NO_SCHEMA})
"""Faults that the older verifiers counted against the vendor and we do not."""


def by_older_rules(record: Record) -> Record:
    """The same record with the older verdict about its calls."""
    row = record.row
    if row is None or not record.outcome.measured:
        return record
    called = row.finish == "tool_calls"
    valid = (row.valid is True and not _INVALID_BEFORE.intersection(row.buckets)) if called else None
    verdicts = tuple(verdict is True and valid is True for verdict in row.verdicts) if called else ()
    return msgspec.structs.replace(
        record, row=msgspec.structs.replace(row, called=called, valid=valid, verdicts=verdicts)
    )


_OF_TOOLS = frozenset({*SCHEMA_FINDINGS.values(), "dataset.duplicate_tool"})
_TELLING = ("args.", "call.unknown_tool", "call.mangled_name", *SCHEMA_FINDINGS.values())
"""Findings that can decide whether calls are valid."""


class Rejudged(Value):
    """A record judged again, with its earlier verdict."""

    record: Record
    before: bool | None
    """Whether its calls were valid; None without a verdict."""


class Difference(Value):
    """A row whose verdict changed."""

    row: int
    before: bool | None
    after: bool | None
    reason: str


class Rejudgement(Value):
    """The new summary and every row whose verdict changed."""

    summary: VerifySummary
    differences: tuple[Difference, ...]


def rejudge(
    path: Path,
    rules: Rules = Rules.OURS,
    threshold: float | None = None,
    adapter: str | None = None,
    known: Sequence[Mark] = (),
) -> Rejudgement:
    """Judge a run folder or an older results file again; nothing is sent.

    A run made with an adapter of the user's own needs it again as `adapter`. What `known` marks excuse is not counted.
    """
    tally = Tally(marks_of(path, known) if path.is_dir() else MarkTally(known=known))
    differences = []
    for judged in rejudged(path, rules, adapter):
        tally.add(judged.record)
        difference = _difference(judged)
        if difference is not None:
            differences.append(difference)
    manifest = manifest_of(path)
    if threshold is not None:
        manifest = msgspec.structs.replace(manifest, parameters=manifest.parameters | {"threshold": threshold})
    return Rejudgement(
        summary=summary_of(tally, manifest), differences=tuple(sorted(differences, key=lambda item: item.row))
    )


def rejudged(path: Path, rules: Rules = Rules.OURS, adapter: str | None = None) -> Iterator[Rejudged]:
    """Every record, judged again."""
    judged = _rejudge_older(path) if is_older_results(path) else _rejudge_run(path, adapter)
    if rules is Rules.OURS:
        return judged
    return (msgspec.structs.replace(one, record=by_older_rules(one.record)) for one in judged)


def manifest_of(path: Path) -> Manifest:
    """The manifest of a run; for an older results file, one made from its rows."""
    if not is_older_results(path):
        return RunReader(path).manifest
    first = next(read_older(path), None)
    model = "" if first is None else str(first.request.get("model", ""))
    return Manifest(
        run=path.stem,
        job="verify",
        started_at=0.0,
        finished_at=0.0,  # the time is unknown, but such a file is written when a run ends
        toolcert=__version__,
        parameters={"model": model},
    )


def _rejudge_run(folder: Path, adapter: str | None) -> Iterator[Rejudged]:
    reader = RunReader(folder)
    if reader.manifest.job != JOB:
        raise InputError(f"{folder} holds a {reader.manifest.job} run; only verify runs are judged again.")
    judge = RowJudge(adapter_of_run(reader.manifest, adapter))
    for record in reader.decoded(_with_raw_answer):
        yield Rejudged(record=_again(record, judge), before=record.row.valid if record.row else None)


def _with_raw_answer(line: bytes) -> Record:
    """Decode a line that can be judged again; a run resumed with another --keep also has lines that cannot."""
    record = decode_record(line)
    exchanges = record.detail.exchanges
    if record.outcome.measured and not (exchanges and exchanges[-1].payload) and kept_as(line) is not Keep.RAW:
        where = record.case if record.row is None else f"row {record.row.index}"
        raise InputError(
            f"{where} was kept as {kept_as(line)}: the raw answer that judging needs is not there.",
            remedy="Run again with --keep raw.",
        )
    return record


def _again(record: Record, judge: RowJudge) -> Record:
    if record.outcome is Outcome.SKIPPED or not record.detail.exchanges:
        return record
    exchange = record.detail.exchanges[-1]
    if exchange.cut is not None:
        return record  # only its beginning was kept, so the first judgement stands
    try:
        row = Row.of_record(record, dataset_problems(record, exchange))
        return judge.judge(row, exchange, at=record.at)
    except msgspec.ValidationError as error:
        raise InputError(f"{record.case}: its evidence is damaged ({error}).") from error
    except Exception as error:  # noqa: BLE001 - not hidden: it becomes the record of the row, as in a run
        return unjudged(record, error, record.detail.exchanges)


def dataset_problems(record: Record, exchange: Exchange) -> tuple[Finding, ...]:
    """The dataset's problems: those of the tools are examined again, the others are kept."""
    fresh = describe(exchange.request.body.get("tools")).findings
    earlier = (finding for finding in record.detail.findings if finding.code.startswith(DATASET))
    kept = (finding for finding in earlier if finding.code not in _OF_TOOLS and finding not in fresh)
    return (*fresh, *kept)


def _rejudge_older(path: Path) -> Iterator[Rejudged]:
    for older in read_older(path):
        yield Rejudged(record=record_of_older(older, str(path)), before=older.tool_calls_valid)


def record_of_older(older: OlderRow, endpoint: str) -> Record:
    """Judge a row of an older results file by our rules."""
    body = older.request
    model = str(body.get("model", ""))
    toolset = describe(body.get("tools"))
    row = Row(
        key=f"{endpoint}#{older.data_index}",
        endpoint=endpoint,
        model=model,
        index=older.data_index,
        content=content_hash(body, toolset.digest),
        sampling=sampling_hash(body),
        problems=toolset.findings,
    )
    return RowJudge(get_adapter(model)).judge(row, older.exchange(), at=0.0)


def adapter_of_run(manifest: Manifest, given: str | None = None) -> ModelAdapter:
    """The adapter that the user has `given` as `file.py:Class`, or the installed one that the run was made with.

    A run folder may come from a stranger: a file that it names is never loaded.
    """
    model = str(manifest.parameters.get("model", ""))
    if given is not None:
        return get_adapter(model, load_adapter(given))
    name = manifest.parameters.get("adapter")
    if name is None or (isinstance(name, str) and ":" not in name):
        return get_adapter(model, name)
    raise UsageError(
        f"the run was made with the adapter {name}, which is code; code that a run names is not loaded.",
        remedy="If you trust the file, give it again: --adapter FILE.py:CLASS.",
    )


def _difference(judged: Rejudged) -> Difference | None:
    row = judged.record.row
    if row is None or row.valid == judged.before:
        return None
    findings = judged.record.detail.findings
    telling = next((finding for finding in findings if finding.code.startswith(_TELLING)), None)
    reason = f"{telling.code}: {telling.evidence}" if telling else judged.record.reason or "no fault by these rules"
    return Difference(row=row.index, before=judged.before, after=row.valid, reason=reason)
