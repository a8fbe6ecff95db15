"""A verify run put together: dataset, plan, engine, run log and summary.

A run whose first rows all meet a lasting fault is stopped early; a dry run says what would be sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.errors import NothingMeasuredError, UnauthorisedError, UnreachableError, UsageError
from toolcert.core.events import CaseFinished, Event, Handler, RunFinished, RunStarted
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.gates import parse_gates
from toolcert.core.manifest import Dataset as DatasetFacts
from toolcert.core.manifest import Manifest
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import Value
from toolcert.engine.interfaces import Session
from toolcert.engine.local import LocalEngine
from toolcert.engine.outage import LASTING, OutageWatch, fault_of
from toolcert.runs.encoding import Keep
from toolcert.runs.reader import is_run, read_manifest
from toolcert.runs.resume import Keys
from toolcert.runs.writer import RunWriter, hold
from toolcert.verification.dataset.inspection import DatasetReport, inspect, rough_tokens
from toolcert.verification.dataset.lines import Dataset
from toolcert.verification.dataset.source import Source
from toolcert.verification.run.earlier_run import (
    Earlier,
    LogRoom,
    Wanted,
    follow_moved_lines,
    look_at,
    require_run,
    run_asking,
    take_back,
)
from toolcert.verification.run.log import (
    UNMEASURED,
    Aftermath,
    VerifyLog,
    changes,
    notices,
    refuse_place_of_unmeasured,
    untouched,
)
from toolcert.verification.run.row_plan import VerifyPlan, VerifyWork, target_of
from toolcert.verification.summary.fail_under import GATE_NAMES, any_expectation, missed_gates, require_expectations
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import Tally, summarise, summary_of
from toolcert.verification.verify_options import VerifyOptions, adapter_of

ENOUGH = 20
"""Rows in a row, from the first on, that fail for a reason no later row can be free of."""
_LASTING = LASTING | {FaultKind.UNKNOWN_MODEL, FaultKind.CONFIGURATION}


class GiveUpEarly:
    """A handler that ends the run when the first rows all meet a lasting fault; one answer disarms it."""

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
    message = f"the first {ENOUGH} rows all failed: {fault.message.rstrip('.')}."
    if fault.kind is FaultKind.AUTH:
        return UnauthorisedError(message, remedy="Check the key; `toolcert doctor` says which one is used.")
    if fault.kind in (FaultKind.CONNECT, FaultKind.TLS):
        return UnreachableError(message, remedy="Check the address; `toolcert doctor` tries it.")
    if fault.kind is FaultKind.UNKNOWN_MODEL:
        return NothingMeasuredError(message, remedy="Check the model's name; `toolcert models` lists them.")
    return NothingMeasuredError(message)


AHEAD = 1
"""Workers besides those the endpoint may answer at a time: one holds the next request ready, so that it goes out
while the answer before it is judged. The session's limit still bounds what is under way."""


class VerifyRun(Value):
    """A finished verify run."""

    folder: str
    """Where its records are: the folder asked for, unless nothing was measured and that one holds measurements."""
    summary: VerifySummary
    interrupted: bool = False
    missed: tuple[str, ...] = ()
    """The gates that were not met, in words."""
    kept_earlier: bool = False
    """Nothing was measured, and the earlier run in the folder asked for is as it was."""
    notices: tuple[str, ...] = ()
    """What became of measurements of earlier runs in the folder, in words."""


class VerifyJob:
    """A verify run that is planned and not yet started."""

    def __init__(self, source: Source, spec: EndpointSpec, options: VerifyOptions, manifest: Manifest) -> None:
        self.options = options
        self.spec = spec
        self.shaping = options.shaping()
        self.selection = options.selection()
        self.gates = parse_gates(options.fail_under, GATE_NAMES)
        self.dataset = Dataset(source)
        self.manifest = msgspec.structs.replace(
            manifest,
            run=self._run_gone_on_with() or manifest.run,
            dataset=DatasetFacts(path=source.name),
            parameters=options.parameters(self.shaping),
        )
        require_expectations(self.gates, source.name, lambda: any_expectation(self.dataset))
        self._check_adapter()

    def _run_gone_on_with(self) -> str | None:
        if self.options.output is None or self.options.fresh:
            return None
        return run_asking(Path(self.options.output), target_of(self.spec, self.shaping))

    def plan(self, earlier: Earlier | None = None) -> VerifyPlan:
        """The cases that are to be asked."""
        return VerifyPlan(self.dataset, self.spec, self.shaping, selection=self.selection, earlier=earlier)

    def wanted(self, folder: Path) -> Wanted:
        """What an earlier run in `folder` is held against; which rows are chosen matters only where there is one."""
        all_rows = self.selection.everything or not is_run(folder)
        chosen = None if all_rows else Keys(case.key for case in self.plan().cases())
        target = target_of(self.spec, self.shaping)
        return Wanted(target=target, fresh=self.options.fresh, only_failed=self.options.only_failed, chosen=chosen)

    async def run(self, session: Session, folder: Path, handlers: Sequence[Handler] = ()) -> VerifyRun:
        """Do it; what an earlier run in the same folder measured is not asked again."""
        refuse_place_of_unmeasured(folder)
        if self.options.only_failed:
            require_run(folder)
        with hold(folder) as lock:
            wanted = self.wanted(folder)
            earlier = look_at(folder, wanted)
            changed = changes(read_manifest(folder), self.manifest) if earlier.foreign else ""
            plan = self.plan(earlier)
            # Rows that are not chosen now may stand in the log as well: then no number is that of all.
            self.manifest = msgspec.structs.replace(self.manifest, planned=None if earlier.elsewhere else plan.total)
            tally = Tally()
            with closing(self._log(folder, lock, wanted, earlier)) as log:
                finished = await self._ask(session, plan, log, [tally, GiveUpEarly(), *handlers])
            summary = summary_of(tally, log.writer.manifest)
            if log.kept_earlier:
                return self._nothing_measured(folder, finished, summary, earlier)
            after = Aftermath(changed=changed)
            if earlier.only is not None:
                back = take_back(folder, wanted, earlier.only, interrupted=finished.interrupted)
                after = msgspec.structs.replace(after, in_vain=back)
            return self._result(folder, finished, summary, earlier, after)

    def _log(self, folder: Path, lock: IO[bytes], wanted: Wanted, earlier: Earlier) -> VerifyLog:
        def open_writer(place: Path) -> RunWriter:
            return RunWriter(place, self.manifest, keep=self.options.keep, lock=lock)

        return VerifyLog(folder, earlier, open_writer, LogRoom(folder, wanted))

    async def _ask(
        self, session: Session, plan: VerifyPlan, log: VerifyLog, handlers: Sequence[Handler]
    ) -> RunFinished:
        engine = LocalEngine(
            {self.spec.name: session},
            concurrency={self.spec.name: self.spec.concurrency + AHEAD},
            handlers=[self._note_dataset(log), log, *handlers],
            max_requests=self.options.max_requests,
            watch=OutageWatch(),
        )
        resumed = plan.earlier.resumed  # lines that are gone from the dataset are among them
        resumed = resumed if plan.total is None else min(resumed, plan.total)
        started = RunStarted(manifest=self.manifest, total=plan.total, resumed=resumed)
        try:
            return await engine.run(plan, VerifyWork(self.shaping), started)
        except NothingMeasuredError as error:
            if log.kept_earlier:
                error.remedy = f"{error.remedy} {untouched(log.folder, plan.earlier)}".strip()
            raise

    def _result(
        self, folder: Path, finished: RunFinished, summary: VerifySummary, earlier: Earlier, after: Aftermath
    ) -> VerifyRun:
        # Where no line can be asked, the dataset is wrong: it says nothing about rows measured earlier.
        telling = earlier.taken_over > 0 or not summary.nothing_measured
        if telling and self.selection.everything and not finished.interrupted and not self.options.only_failed:
            after = msgspec.structs.replace(after, gone=follow_moved_lines(folder, earlier))
        # What is not kept is not reported either.
        if earlier.resumed or earlier.elsewhere or after.in_vain or self.options.keep is Keep.VERDICTS:
            summary = summarise(folder)
        return VerifyRun(
            folder=str(folder),
            summary=summary,
            interrupted=finished.interrupted,
            missed=tuple(missed_gates(self.gates, summary)),
            notices=tuple(notices(folder, earlier, after)),
        )

    def _nothing_measured(
        self, folder: Path, finished: RunFinished, summary: VerifySummary, earlier: Earlier
    ) -> VerifyRun:
        return VerifyRun(
            folder=str(folder / UNMEASURED),
            summary=summary,
            interrupted=finished.interrupted,
            missed=tuple(missed_gates(self.gates, summary)),
            kept_earlier=True,
            notices=(untouched(folder, earlier),),
        )

    def _note_dataset(self, log: VerifyLog) -> Handler:
        """The digest is known once the last line was read; the writer puts it into the finished manifest."""

        def note(event: Event) -> None:
            if isinstance(event, RunFinished) and self.dataset.source.digest is not None:
                facts = DatasetFacts(
                    path=self.dataset.source.name, digest=self.dataset.source.digest, rows=self.dataset.source.rows
                )
                log.writer.manifest = msgspec.structs.replace(log.writer.manifest, dataset=facts)

        return note

    def _check_adapter(self) -> None:
        """Say what is missing for raw completions before the first request."""
        adapter = adapter_of(self.shaping)
        if adapter.supports_raw_completions() and adapter.get_tokenizer() is None:
            raise UsageError("--use-raw-completions needs --tokenizer-model, a name or a local folder.")


class DryRun(Value):
    """A run that was planned and not made."""

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
    """The chosen rows described, with what is wrong with them."""


def dry_run(job: VerifyJob, folder: Path | None) -> DryRun:
    """Go through the dataset as a run would, without asking anything or changing a file."""
    plan = job.plan(_earlier(job, folder))
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
        settled=plan.earlier.taken_over,
        dataset=inspect(job.dataset, job.selection.lines(job.dataset)),
    )


def _earlier(job: VerifyJob, folder: Path | None) -> Earlier:
    """What the run would find in its folder."""
    if folder is None or job.options.fresh:
        return Earlier()
    if job.options.only_failed:
        require_run(folder)
    return look_at(folder, job.wanted(folder))
