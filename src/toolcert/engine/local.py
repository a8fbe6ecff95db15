"""The local engine: workers in this process pull cases and emit events; Ctrl-C or SIGTERM stops them in two steps."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from toolcert.core.cases import Case, Outcome, Skip, SkipKind
from toolcert.core.errors import OutputError, ToolcertError, TooManyBugsError
from toolcert.core.events import (
    AttemptMade,
    CaseFinished,
    CaseStarted,
    Event,
    FinishAll,
    Handler,
    RunFinished,
    RunStarted,
    RunStopping,
)
from toolcert.core.exchanges import Attempt, Exchange, OnAttempt
from toolcert.core.findings import INTERNAL
from toolcert.core.records import Detail, ProbeFacts, Record, RowFacts
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.diagnose import finding
from toolcert.engine.interfaces import Judge, Plan, Session, Unjudged, Work
from toolcert.engine.outage import OutageWatch
from toolcert.engine.read_ahead import ReadAhead
from toolcert.protocol.unicode import well_formed


class BudgetSpent(Exception):  # noqa: N818 - control flow inside the engine, not an error of anyone
    """No request is left for this run."""


class Budget:
    """Counts the requests that are left; retries count as requests."""

    def __init__(self, requests: int | None) -> None:
        self._left = requests
        self.limit = requests
        self.over = Skip(kind=SkipKind.BUDGET, reason=f"the limit of {requests} requests was reached")
        """Why a case is not asked once it is spent."""

    @property
    def spent(self) -> bool:
        return self._left is not None and self._left <= 0

    def take(self) -> None:
        """Reserve one request before it is sent; raises BudgetSpent where none is left."""
        if self.spent:
            raise BudgetSpent
        if self._left is not None:
            self._left -= 1

    def give_back(self) -> None:
        """Return a reserved request that was not sent."""
        if self._left is not None:
            self._left += 1


class BudgetedSession:
    """A session that stops asking when the run's budget is spent."""

    def __init__(self, session: Session, budget: Budget) -> None:
        self._session = session
        self._budget = budget

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
        self._budget.take()

        def counted(attempt: Attempt) -> None:
            if on_attempt is not None:
                on_attempt(attempt)
            if attempt.fault is not None:
                # Reserve the next attempt now: the session sends it without asking again.
                self._budget.take()

        exchange = await self._session.ask(request, on_attempt=counted)
        if exchange.fault is not None:
            self._budget.give_back()
        return exchange

    async def models(self) -> list[ModelInfo]:
        self._budget.take()
        return await self._session.models()


class CaseQueue:
    """Hands cases to workers; a worker that finds none waits until one is released or all is done."""

    def __init__(self, sources: Mapping[str, Iterator[Case]]) -> None:
        self._sources = dict(sources)
        self._released: dict[str, deque[Case]] = {name: deque() for name in sources}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {name: deque() for name in sources}
        self._taken = 0
        """Cases given out and not yet done: each may still release others."""
        self.closed = False

    async def take(self, endpoint: str) -> Case | None:
        """The next case for a worker of `endpoint`; None when there will be no more."""
        while (case := self.take_now(endpoint)) is None and not self.closed:
            await self._released_or_closed(endpoint)
        return case

    def take_now(self, endpoint: str) -> Case | None:
        """The next case, if there is one at present; when there will be no more, the queue is closed."""
        case = None if self.closed else self._next(endpoint)
        if case is not None:
            self._taken += 1
        elif self._taken == 0 and not self._anything_left():
            self.close()
        return case

    def done(self, released: Iterable[Case]) -> None:
        """A case taken earlier is done and released these."""
        for case in released:
            self._released[case.endpoint].append(case)
            self._wake(case.endpoint)
        self._taken -= 1
        if self._taken == 0 and not self._anything_left():
            self.close()

    def read_ahead(self) -> None:
        """Have cases read that will be taken soon."""
        if self.closed:
            return
        for source in self._sources.values():
            if isinstance(source, ReadAhead):
                source.refill()

    def close(self) -> None:
        """Hand out no more cases and end all waiting workers."""
        self.closed = True
        for name in self._waiting:
            while self._waiting[name]:
                self._wake(name)

    def _next(self, endpoint: str) -> Case | None:
        released = self._released[endpoint]
        if released:
            return released.popleft()
        source = self._sources.get(endpoint)
        if source is None:
            return None
        case = next(source, None)
        if case is None:
            del self._sources[endpoint]
        return case

    def _anything_left(self) -> bool:
        return bool(self._sources) or any(self._released.values())

    async def _released_or_closed(self, endpoint: str) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[endpoint].append(future)
        await future

    def _wake(self, endpoint: str) -> None:
        waiting = self._waiting[endpoint]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(None)
                return


GRACE_SECONDS = 5.0
"""Long enough for most answers in flight, short enough for a person who pressed Ctrl-C."""


@contextlib.contextmanager
def on_interrupt(first: Callable[[], None], second: Callable[[], None]) -> Iterator[None]:
    """Call `first` at the first Ctrl-C, SIGTERM or SIGHUP (the terminal was closed) and `second` at every later one."""
    loop = asyncio.get_running_loop()
    calls = iter([first])

    def pressed() -> None:
        next(calls, second)()

    signals = [signal.SIGINT]
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        ending = getattr(signal, name, None)
        # A program that uses the library may handle it itself, and `nohup` has it ignored.
        if ending is not None and signal.getsignal(ending) is signal.SIG_DFL:
            signals.append(ending)
    try:
        for one in signals:
            loop.add_signal_handler(one, pressed)
    except (NotImplementedError, RuntimeError, ValueError):
        # Windows' loop and loops outside the main thread have no signal handlers:
        # there KeyboardInterrupt reaches the caller, and every reported record is on disk already.
        yield
        return
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)


MOST_BUGS = 20
"""Cases on which toolcert may fail before their share counts."""
_BUG_SHARE = 0.01
_LONGEST_TRACEBACK = 8000


class BugWatch:
    """Stops a run in which toolcert fails on more than a few cases: it would waste the user's requests."""

    def __init__(self) -> None:
        self._cases = self._bugs = 0

    def saw(self, record: Record) -> None:
        """Take note of a finished case."""
        self._cases += 1
        self._bugs += INTERNAL in record.codes
        if self._bugs >= MOST_BUGS and self._bugs > _BUG_SHARE * self._cases and INTERNAL in record.codes:
            raise TooManyBugsError(
                f"a bug in toolcert met {self._bugs} of {self._cases} cases; the run is stopped. {record.reason}.",
                remedy="Please report it; the records of these cases hold the tracebacks. "
                "After an update, the same command goes on from here.",
            )


BATCH = 32
"""Answers that are judged in a row, then reported in a row: that takes a third less time than to judge and report them
one by one, because what a step needs stays in the processor's cache."""


class LocalEngine:
    """Runs a plan with `concurrency` workers per endpoint."""

    def __init__(
        self,
        sessions: Mapping[str, Session],
        *,
        concurrency: Mapping[str, int],
        handlers: Sequence[Handler] = (),
        recorders: Sequence[Handler] = (),
        max_requests: int | None = None,
        watch: OutageWatch | None = None,
    ) -> None:
        """`recorders` come before the handlers, and need not be told that a case is begun or an attempt made.

        With a `watch`, the remaining cases of an endpoint that no longer answers are skipped.
        """
        self._budget = Budget(max_requests)
        self._sessions = sessions if max_requests is None else self._budgeted(sessions)
        self._concurrency = concurrency
        self._handlers = handlers
        self._all_handlers = (*recorders, *handlers)
        self._finish_all: list[FinishAll | None] = [getattr(one, "finish_all", None) for one in self._all_handlers]
        self._watch = watch
        self._bugs = BugWatch()
        self._workers: list[asyncio.Task[None]] = []
        self._answered: list[tuple[Case, Judge]] = []
        self._failure: BaseException | None = None
        """Why the run cannot go on, if that came up where no worker could raise it."""
        self._unwritable = False
        """Whether it is that nothing more can be written. After other failures, answers that came are still kept."""

    async def run(self, plan: Plan, work: Work, started: RunStarted) -> RunFinished:
        """Perform every case of the plan; a case on which our own code fails is not measured, and the others go on."""
        begun = time.monotonic()
        queue = CaseQueue(plan.sources())
        self._emit(started)
        grace: asyncio.TimerHandle | None = None

        def wind_down() -> None:
            nonlocal grace
            queue.close()
            grace = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._cancel)
            with self._failure_kept():
                self._emit(RunStopping(grace=GRACE_SECONDS))

        with on_interrupt(wind_down, self._cancel):
            await self._work_off(plan, work, queue)
        if grace is not None:
            grace.cancel()  # the loop may belong to the caller, and the timer would cancel a later run
        finished = RunFinished(interrupted=grace is not None, seconds=time.monotonic() - begun)
        self._emit(finished)
        return finished

    async def _work_off(self, plan: Plan, work: Work, queue: CaseQueue) -> None:
        self._workers = [
            asyncio.create_task(self._worker(endpoint, plan, work, queue))
            for endpoint in self._sessions
            for _ in range(self._concurrency[endpoint])
        ]
        try:
            await _first_failure(self._workers)
        finally:
            self._cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            self._settle(plan, queue)
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def _worker(self, endpoint: str, plan: Plan, work: Work, queue: CaseQueue) -> None:
        session = self._sessions[endpoint]
        while (case := await self._next(endpoint, queue)) is not None:
            self._tell(CaseStarted(case=case))
            if skip := self._skip(case):
                # Without this pause the rest of a long plan would be skipped at once, and Ctrl-C would not be noticed.
                await asyncio.sleep(0)
                answer: Record | Judge = skipped(case, skip)
            else:
                on_attempt = partial(self._attempted, case)
                answer = await performed(case, work, session, on_attempt, self._budget.over)
            if isinstance(answer, Record):
                self._settle(plan, queue)  # what came before it is seen before it: faults in a row are counted
                self._finish([(case, answer)], plan, queue)
                continue
            if not self._answered:
                asyncio.get_running_loop().call_soon(self._settle_after_sending, plan, queue)
            self._answered.append((case, answer))

    async def _next(self, endpoint: str, queue: CaseQueue) -> Case | None:
        try:
            return await queue.take(endpoint)
        except Exception as error:  # noqa: BLE001 - the run raises it
            self._end_of_plan(queue, error)
            return None

    def _end_of_plan(self, queue: CaseQueue, error: Exception) -> None:
        """The next case cannot be had, as from a damaged file: what was asked before is still answered and kept."""
        self._failure = self._failure or error
        queue.close()

    def _settle_after_sending(self, plan: Plan, queue: CaseQueue) -> None:
        """Settle in the next turn of the event loop: the requests that were made in the last one go out in this one."""
        loop = asyncio.get_running_loop()
        loop.call_soon(self._settle, plan, queue)
        loop.call_soon(self._read_ahead, queue)

    def _read_ahead(self, queue: CaseQueue) -> None:
        """Read what is asked next while the endpoint is at work."""
        with self._failure_kept():
            queue.read_ahead()

    def _settle(self, plan: Plan, queue: CaseQueue) -> None:
        """Judge and report all that was answered."""
        answered, self._answered = self._answered, []
        for start in range(0, len(answered), BATCH):
            with self._failure_kept():
                self._finish(judged(answered[start : start + BATCH]), plan, queue)

    @contextlib.contextmanager
    def _failure_kept(self) -> Iterator[None]:
        """Stop the run if this fails; the run raises the failure at its end."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - the run raises it
            self._failure = self._failure or error
            self._unwritable = self._unwritable or isinstance(error, OutputError | OSError)
            self._cancel()

    def _finish(self, finished: list[tuple[Case, Record]], plan: Plan, queue: CaseQueue) -> None:
        """Take note of finished cases, report them, and release what waited for them."""
        if self._unwritable:
            return
        if self._watch is not None:
            for _, record in finished:
                self._watch.saw(record)
        for record in self._reported(finished):
            self._bugs.saw(record)
            queue.done(plan.after(record))

    def _reported(self, finished: list[tuple[Case, Record]]) -> list[Record]:
        """Report finished cases, and return what was reported: a record that cannot be kept is our bug as well."""
        events = [CaseFinished(record=record) for _, record in finished]
        for number, handler in enumerate(self._all_handlers, 1):
            if _took_all(self._finish_all[number - 1], events):
                continue
            for place, event in enumerate(events):
                try:
                    handler(event)
                except (ToolcertError, OSError):
                    raise
                except Exception as error:  # noqa: BLE001 - not hidden: it becomes the record of the case
                    case, _ = finished[place]
                    events[place] = CaseFinished(record=unjudged(unmeasured(case), error))
                    for told in self._all_handlers[:number]:
                        told(events[place])
        return [event.record for event in events]

    def _attempted(self, case: Case, attempt: Attempt) -> None:
        self._tell(AttemptMade(case=case, attempt=attempt))

    def _skip(self, case: Case) -> Skip | None:
        """Why a case is not to be asked at all."""
        if case.skip is not None:
            return case.skip
        if self._budget.spent:
            return self._budget.over
        return None if self._watch is None else self._watch.gone(case.endpoint, case.model)

    def _budgeted(self, sessions: Mapping[str, Session]) -> dict[str, Session]:
        return {name: BudgetedSession(session, self._budget) for name, session in sessions.items()}

    def _emit(self, event: Event) -> None:
        for handler in self._all_handlers:
            handler(event)

    def _tell(self, event: CaseStarted | AttemptMade) -> None:
        for handler in self._handlers:
            handler(event)

    def _cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()


def _took_all(finish_all: FinishAll | None, events: Sequence[CaseFinished]) -> bool:
    """Whether a handler took all these events; otherwise each must be tried, to find the one it fails on."""
    if finish_all is None:
        return False
    try:
        finish_all(events)
    except (ToolcertError, OSError):
        raise
    except Exception:  # noqa: BLE001 - not hidden: it comes up again with the event that causes it
        return False
    return True


async def performed(case: Case, work: Work, session: Session, on_attempt: OnAttempt, over: Skip) -> Record | Judge:
    """Ask a case, whatever becomes of it; `over` says why it was given up where the budget was spent."""
    last: Attempt | None = None

    def attempted(attempt: Attempt) -> None:
        nonlocal last
        last = attempt
        on_attempt(attempt)

    try:
        return await work.perform(case, session, attempted)
    except BudgetSpent:
        fault = None if last is None else last.fault
        return skipped(
            case, over, last_fault="" if fault is None else fault.message, attempts=0 if last is None else last.number
        )
    except ToolcertError:
        raise  # something that the user has to mend
    except Exception as error:  # noqa: BLE001 - not hidden: it becomes the record of the case
        return _failed_on(case, error)


def judged(answered: Sequence[tuple[Case, Judge]]) -> list[tuple[Case, Record]]:
    """The records of cases that were answered, whatever becomes of them; each step is done for all in turn."""
    records: list[tuple[Case, Record]] = []
    while answered:
        unfinished = []
        for case, judge in answered:
            try:
                next(judge)
            except StopIteration as finished:
                records.append((case, finished.value))
            except ToolcertError:
                raise
            except Exception as error:  # noqa: BLE001 - not hidden: it becomes the record of the case
                records.append((case, _failed_on(case, error)))
            else:
                unfinished.append((case, judge))
        answered = unfinished
    return records


def _failed_on(case: Case, error: Exception) -> Record:
    if isinstance(error, Unjudged):
        return unjudged(unmeasured(case), error.__cause__ or error, error.exchanges)
    return unjudged(unmeasured(case), error)


def unjudged(record: Record, error: BaseException, exchanges: tuple[Exchange, ...] = ()) -> Record:
    """The record of a case on which our own code failed: what was answered, and the traceback."""
    told = well_formed(f"{type(error).__name__}: {error}")
    found = finding(INTERNAL, told)
    trace = well_formed("".join(traceback.format_exception(error))[-_LONGEST_TRACEBACK:])
    row, probe = record.row, record.probe
    requests = sum(max(1, len(exchange.attempts)) for exchange in exchanges)
    return Record(
        case=record.case,
        endpoint=record.endpoint,
        model=record.model,
        outcome=Outcome.NOT_MEASURED,
        reason=f"toolcert failed on this case ({found.evidence})",
        cause="toolcert failed on this case",
        codes=(INTERNAL,),
        at=record.at,
        probe=probe and ProbeFacts(probe=probe.probe, iteration=probe.iteration, requests=requests),
        row=row and RowFacts(index=row.index, content=row.content, attempts=requests, tags=row.tags, id=row.id),
        detail=Detail(findings=(found,), exchanges=exchanges, figures={"traceback": trace}),
    )


def unmeasured(case: Case, *, attempts: int = 0) -> Record:
    """The record of a case of which nothing is known."""
    probe = None if case.probe is None else ProbeFacts(probe=case.probe, iteration=case.iteration or 0)
    content = str(case.extra.get("content", ""))
    row = None if case.index is None else RowFacts(index=case.index, content=content, attempts=attempts)
    return Record(
        case=case.key,
        endpoint=case.endpoint,
        model=case.model,
        outcome=Outcome.NOT_MEASURED,
        at=time.time(),
        probe=probe,
        row=row,
    )


def skipped(case: Case, skip: Skip, *, last_fault: str = "", attempts: int = 0) -> Record:
    """The record of a case that was not asked, or not to its end after `attempts` and their last fault."""
    return msgspec.structs.replace(
        unmeasured(case, attempts=attempts),
        outcome=Outcome.SKIPPED,
        reason=f"{skip.reason} after: {last_fault}" if last_fault else skip.reason,
        skip=skip.kind,
        cause=skip.reason if last_fault else "",
    )


async def _first_failure(workers: Sequence[asyncio.Task[None]]) -> None:
    """Wait for all workers, or for the first that fails; a cancelled worker is not a failure."""
    if not workers:
        return
    done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        if not task.cancelled():
            task.result()
