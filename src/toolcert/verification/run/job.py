"""Runs a verification: dataset, plan, engine, run log and summary.

A run whose first rows all end with a lasting fault is stopped early; a dry run says what would be sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import msgspec

from toolcert.core.cases import Outcome, Shard
from toolcert.core.errors import NothingMeasuredError, UnauthorisedError, UnreachableError, UsageError
from toolcert.core.events import CaseFinished, Event, Handler, RunFinished, RunStarted
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.records import Dataset as DatasetFacts
from toolcert.core.records import Manifest, Record
from toolcert.core.targets import EndpointSpec
from toolcert.core.text.excerpt import with_stop
from toolcert.core.text.number_text import plural
from toolcert.core.values import Value
from toolcert.endpoints.dialects.error_answer import PAYMENT_REMEDY
from toolcert.engine.interfaces import Session
from toolcert.engine.local import LocalEngine
from toolcert.engine.outage import LASTING, OutageWatch, fault_of
from toolcert.runs.encoding import Keep
from toolcert.runs.marks import known_marks, marks_of
from toolcert.runs.provenance import new_run_id
from toolcert.runs.reader import is_run, read_manifest, settled
from toolcert.runs.resume import AskAgain, Earlier, adopt_superseded, differences, refuse_another_job, resume
from toolcert.runs.writer import RunWriter, hold
from toolcert.verification.dataset.inspection import DatasetReport, inspect, rough_tokens
from toolcert.verification.dataset.lines import Dataset
from toolcert.verification.dataset.source import Source
from toolcert.verification.run.log import (
    JOB,
    UNMEASURED,
    VerifyLog,
    follow_moved_lines,
    refuse_place_of_unmeasured,
    require_run,
)
from toolcert.verification.run.row_plan import Deal, VerifyPlan, VerifyWork, target_of
from toolcert.verification.summary.failed_gates import (
    any_expectation,
    failed_gates,
    require_expectations,
    too_little_measured,
)
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import Tally, summarise, summary_of
from toolcert.verification.verify_options import VerifyOptions, adapter_of

if TYPE_CHECKING:
    from toolcert.engine.ray_engine import WorkerPool

ENOUGH = 20
"""The run is stopped if this many rows, from the first on, all end with a fault that every later row would have."""
_LASTING = LASTING | {FaultKind.UNKNOWN_MODEL, FaultKind.CONFIGURATION}


class GiveUpEarly:
    """Ends the run when the first rows all end with a lasting fault; after one answer it does nothing."""

    def __init__(self) -> None:
        self._refusals = 0
        self._armed = True

    def __call__(self, event: Event) -> None:
        if not self._armed or not isinstance(event, CaseFinished) or event.record.outcome is Outcome.SKIPPED:
            return
        fault = fault_of(event.record, _LASTING)
        if fault is None:
            self._armed = False
            return
        self._refusals += 1
        if self._refusals >= ENOUGH:
            raise _reason(fault)


def _reason(fault: Fault) -> NothingMeasuredError:
    message = f"the first {ENOUGH} rows all failed: {with_stop(fault.message)}"
    if fault.kind is FaultKind.AUTH:
        return UnauthorisedError(message, remedy="Check the key; `toolcert doctor` says which one is used.")
    if fault.kind is FaultKind.PAYMENT:
        return NothingMeasuredError(message, remedy=PAYMENT_REMEDY)
    if fault.kind in (FaultKind.CONNECT, FaultKind.TLS):
        return UnreachableError(message, remedy="Check the address; `toolcert doctor` tries it.")
    if fault.kind is FaultKind.UNKNOWN_MODEL:
        return NothingMeasuredError(message, remedy="Check the model's name; `toolcert models` lists them.")
    return NothingMeasuredError(message)


AHEAD = 1
"""Workers beyond the concurrency of the endpoint: one prepares the next request, which a large row makes long, while
all others wait for answers. The session still limits the number of concurrent requests."""


class VerifyRun(Value):
    """A finished verify run."""

    folder: str
    """Where its records are: the folder asked for, unless a fresh run measured nothing and that one holds
    measurements."""
    summary: VerifySummary
    interrupted: bool = False
    missed: tuple[str, ...] = ()
    """The gates that were not met, in words; those of `fail_under` alone where nothing else is required."""
    kept_earlier: bool = False
    """Nothing was measured, and what the earlier run in the folder measured is as it was."""
    notices: tuple[str, ...] = ()
    """What became of measurements of earlier runs in the folder, in words."""


class Aftermath:
    """What this run did to the records of an earlier one; a handler, for the rows that are asked again."""

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier
        self.left = 0
        """Rows that the dataset no longer has."""
        self.in_vain = 0
        """Rows that were asked again and got no new answer."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished) and not settled(event.record):
            self.in_vain += self._earlier.is_retry(event.record.case)

    def notices(self) -> Iterator[str]:
        """Messages for the user."""
        if self.left:
            stay = "stays in the log and is" if self.left == 1 else "stay in the log and are"
            yield f"{plural(self.left, 'row')} that the dataset no longer has {stay} left out of the figures."
        if self.in_vain:
            stand = "stands as it was" if self.in_vain == 1 else "stand as they were"
            yield f"{plural(self.in_vain, 'failed row')} got no other answer and {stand}."


class VerifyJob:
    """A verify run that is planned and not yet started."""

    def __init__(self, source: Source, spec: EndpointSpec, options: VerifyOptions, manifest: Manifest) -> None:
        self.options = options
        self.spec = spec
        self.shaping = options.shaping()
        self.selection = options.selection()
        self.gates = options.gates()
        self._known = known_marks(options.known)
        self.dataset = Dataset(source)
        self.fresh = options.fresh
        self.again: AskAgain | None = _is_failed if options.only_failed else None
        self.manifest = msgspec.structs.replace(
            manifest,
            run=self._run_gone_on_with() or manifest.run,
            dataset=DatasetFacts(path=source.name),
            shard=options.shard,
            parameters=options.parameters(self.shaping),
        )
        require_expectations(self.gates.figures, source.name, lambda: any_expectation(self.dataset))
        self._check_adapter()

    def _run_gone_on_with(self) -> str | None:
        folder = None if self.options.output is None or self.options.fresh else Path(self.options.output)
        return read_manifest(folder).run if folder is not None and is_run(folder) else None

    def start_afresh(self) -> None:
        """Make this a new run, whatever its folder holds."""
        self.fresh = True
        self.manifest = msgspec.structs.replace(self.manifest, run=new_run_id())

    def holds_another_run(self, folder: Path) -> bool:
        """Whether the run in `folder` is one that this run cannot continue."""
        return is_run(folder) and bool(differences(read_manifest(folder), self.manifest))

    def plan(self, earlier: Earlier | None = None) -> VerifyPlan:
        """The cases that are to be asked."""
        return VerifyPlan(
            self.dataset,
            self.spec,
            self.shaping,
            selection=self.selection,
            earlier=earlier,
            only_known=self.options.only_failed,
            deal=self.deal,
        )

    @cached_property
    def deal(self) -> Deal | None:
        """The rows of the shard; None where the run is not one of several. Every chosen row is read for it once."""
        if self.options.shard is None:
            return None
        plan = VerifyPlan(self.dataset, self.spec, self.shaping, selection=self.selection)
        return plan.dealt(Shard.parse(self.options.shard))

    def earlier(self, folder: Path) -> Earlier:
        """What an earlier run in `folder` has measured; nothing is changed there."""
        if self.options.only_failed:
            require_run(folder)
        if self.fresh:
            if is_run(folder):
                refuse_another_job(folder, read_manifest(folder), JOB)
            return Earlier()
        return resume(folder, self.manifest, self.again)

    async def run(self, session: Session | WorkerPool, folder: Path, handlers: Sequence[Handler] = ()) -> VerifyRun:
        """Run it; rows that an earlier run in the same folder has an answer to are not asked."""
        refuse_place_of_unmeasured(folder)
        if self.options.only_failed:  # before the folder is made
            require_run(folder)
        with hold(folder) as lock:
            if not self.fresh:
                adopt_superseded(folder, target_of(self.spec, self.shaping))
            earlier = self.earlier(folder)
            plan = self.plan(earlier)
            # The log may hold rows that are not chosen now: then no number is that of all its rows.
            others = self._meet_chosen(earlier) and earlier.met < earlier.known
            former = earlier.manifest or self.manifest
            # The rows stay as they are; how they are judged may have changed.
            judged = former.parameters | {"threshold": self.options.threshold}
            self.manifest = msgspec.structs.replace(
                former,
                planned=None if others else plan.total,
                planned_by_all=None if others or self.deal is None else self.deal.of_all,
                parameters=judged,
            )
            tally, after = Tally(marks_of(folder, self._known)), Aftermath(earlier)
            with closing(self._log(folder, lock)) as log:
                conclude = self._conclude(log, earlier, tally, after)
                recorders = (conclude, log, tally, after, GiveUpEarly())
                finished = await self._ask(self._engine(session, handlers, recorders), plan, log)
            result = self._result(log, finished, summary_of(tally, log.writer.manifest), earlier, after)
            pool = self._pool(session)
            told = () if pool is None else pool.notices()
            return msgspec.structs.replace(result, notices=(*result.notices, *told))

    def _meet_chosen(self, earlier: Earlier) -> bool:
        """Where only a part of the rows is chosen, find out which of them an earlier run asked."""
        partly = earlier.known > 0 and not self.selection.everything
        for _ in self.plan(earlier).cases() if partly else ():
            pass
        return partly

    def _log(self, folder: Path, lock: IO[bytes]) -> VerifyLog:
        def open_writer(place: Path) -> RunWriter:
            return RunWriter(place, self.manifest, keep=self.options.keep, lock=lock)

        return VerifyLog(folder, open_writer, fresh=self.fresh)

    async def _ask(self, engine: LocalEngine, plan: VerifyPlan, log: VerifyLog) -> RunFinished:
        # Of the whole dataset all rows of the log, those included that have left it since.
        resumed = len(plan.earlier) if self.selection.everything else plan.earlier.settled_met
        resumed = resumed if plan.total is None else min(resumed, plan.total)
        started = RunStarted(manifest=self.manifest, total=plan.total, resumed=resumed)
        try:
            return await engine.run(plan, VerifyWork(self.shaping), started)
        except NothingMeasuredError as error:
            error.folder = str(log.writer.folder)
            if log.kept_earlier:
                error.remedy = f"{error.remedy} {log.untouched()}".strip()
            raise

    def _pool(self, session: Session | WorkerPool) -> WorkerPool | None:
        """The workers elsewhere that ask the rows; None where this process asks them."""
        return cast("WorkerPool", session) if self.options.engine == "ray" else None

    def _engine(
        self, session: Session | WorkerPool, handlers: Sequence[Handler], recorders: Sequence[Handler]
    ) -> LocalEngine:
        pool = self._pool(session)
        if pool is not None:
            from toolcert.engine.ray_engine import RayEngine

            return RayEngine(pool, handlers=handlers, recorders=recorders, watch=OutageWatch())
        return LocalEngine(
            {self.spec.name: cast("Session", session)},
            concurrency={self.spec.name: self.spec.concurrency + AHEAD},
            handlers=handlers,
            recorders=recorders,
            max_requests=self.options.max_requests,
            watch=OutageWatch(),
        )

    def _conclude(self, log: VerifyLog, earlier: Earlier, tally: Tally, after: Aftermath) -> Handler:
        """Complete the log before its writer says that the run has ended."""

        def conclude(event: Event) -> None:
            if not isinstance(event, RunFinished):
                return
            source = self.dataset.source
            if source.digest is not None:  # known once the last line was read
                facts = DatasetFacts(path=source.name, digest=source.digest, rows=source.rows)
                log.writer.manifest = msgspec.structs.replace(log.writer.manifest, dataset=facts)
            # A dataset of which no line can be asked is the wrong one: it says nothing about rows measured earlier.
            if earlier.known and (earlier.met or any(outcome.measured for outcome in tally.outcomes)):
                whole = self.selection.everything and not event.interrupted
                after.left = follow_moved_lines(log.writer, earlier, whole=whole)

        return conclude

    def _result(
        self, log: VerifyLog, finished: RunFinished, summary: VerifySummary, earlier: Earlier, after: Aftermath
    ) -> VerifyRun:
        folder, notices = log.folder, [*after.notices()]
        in_vain = after.in_vain > 0 and summary.nothing_measured
        if log.kept_earlier:
            folder, notices = folder / UNMEASURED, [log.untouched()]
        elif earlier.known or self.options.keep is Keep.VERDICTS:  # what is not kept is not reported either
            summary = summarise(folder, self._known)
        return VerifyRun(
            folder=str(folder),
            summary=summary,
            interrupted=finished.interrupted,
            missed=self._missed(summary),
            kept_earlier=log.kept_earlier or in_vain,
            notices=tuple(notices),
        )

    def _missed(self, summary: VerifySummary) -> tuple[str, ...]:
        gap = too_little_measured(summary) if self.gates else ""
        return (f"The gates cannot be judged: {gap}.",) if gap else tuple(failed_gates(self.gates, summary))

    def _check_adapter(self) -> None:
        """Say what is missing for raw completions before the first request."""
        adapter = adapter_of(self.shaping)
        if adapter.supports_raw_completions() and adapter.get_tokenizer() is None:
            raise UsageError("--use-raw-completions needs --tokenizer-model, a name or a local folder.")


def _is_failed(head: Record) -> bool:
    return head.outcome is Outcome.FAILED


class DryRun(Value):
    """What a run would send."""

    endpoint: str
    url: str
    model: str
    adapter: str
    requests: int
    """Rows that would be asked, retries apart."""
    tokens: int
    """Rough number of prompt tokens these rows hold."""
    settled: int
    """Rows an earlier run in the same folder has measured already."""
    dataset: DatasetReport
    """The description of the chosen rows, with their problems."""


def dry_run(job: VerifyJob, folder: Path | None) -> DryRun:
    """Read the dataset as a run would, without sending anything or changing a file."""
    plan = job.plan(None if folder is None else job.earlier(folder))
    requests = tokens = 0
    for case in plan.cases():
        if case.body is not None and (job.options.max_requests is None or requests < job.options.max_requests):
            requests += 1
            tokens += rough_tokens(case.body)
    return DryRun(
        endpoint=job.spec.name,
        url=job.spec.base_url,
        model=job.shaping.model,
        adapter=plan.adapter_name,
        requests=requests,
        tokens=tokens,
        settled=plan.earlier.settled_met,
        dataset=inspect(job.dataset, plan.lines()),
    )
