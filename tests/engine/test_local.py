"""The engine: plan in, events out."""

import asyncio
import itertools
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pytest

from toolcert.core.cases import Case, Outcome, Skip, SkipKind
from toolcert.core.errors import OutputError, TooManyBugsError
from toolcert.core.events import CaseFinished, Event, Handler, RunFinished, RunStarted, RunStopping
from toolcert.core.exchanges import Attempt, Exchange, Fault, FaultKind, OnAttempt
from toolcert.core.findings import INTERNAL
from toolcert.core.records import Detail, Manifest, Record
from toolcert.core.requests import Request
from toolcert.engine import read_ahead
from toolcert.engine.interfaces import Judge, Session, Unjudged
from toolcert.engine.local import LocalEngine
from toolcert.engine.outage import OutageWatch
from toolcert.engine.read_ahead import ReadAhead

BUSY = Fault(kind=FaultKind.RATE_LIMITED, message="busy", status=429)
STARTED = RunStarted(manifest=Manifest(run="r", job="probe", started_at=0.0, toolcert="0"), total=None)


class Server:
    """A session that answers after a while, at the last of so many attempts, and remembers what it was asked."""

    def __init__(self, seconds: float = 0.0, attempts: int = 1) -> None:
        self.seconds, self.attempts = seconds, attempts
        self.asked: list[str] = []
        self.sent = 0
        self.now = self.most = 0

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
        self.asked.append(request.model)
        self.now += 1
        self.most = max(self.most, self.now)
        await self.think()
        self.now -= 1
        for number in range(1, self.attempts + 1):
            self.sent += 1
            if on_attempt is not None:
                on_attempt(Attempt(number=number, started_at=0.0, fault=BUSY if number < self.attempts else None))
            await asyncio.sleep(0)
        return Exchange(request=request, status=200)

    async def think(self) -> None:
        await asyncio.sleep(self.seconds)


class ServerOfRounds(Server):
    """Answers all that is asked within a while at the same moment: timers of their own may go off one by one."""

    _round: asyncio.Future[None] | None = None

    async def think(self) -> None:
        if self._round is None or self._round.done():
            loop = asyncio.get_running_loop()
            self._round = loop.create_future()
            loop.call_later(self.seconds, self._round.set_result, None)
        await asyncio.shield(self._round)


class OneRequest:
    """Work that asks once per case."""

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record | Judge:
        if case.model == "bug":
            raise RuntimeError("our own bug")
        await session.ask(Request(body={"model": case.model}), on_attempt=on_attempt)
        return Record(case=case.key, endpoint=case.endpoint, model=case.model, outcome=Outcome.PASSED)


class Cases:
    """A plan of given cases; some are released by the end of others."""

    total = None

    def __init__(self, cases: Iterable[Case], releases: Mapping[str, list[Case]] | None = None) -> None:
        self.pulled = 0
        self._cases = cases
        self._releases = releases or {}

    def sources(self) -> Mapping[str, Iterator[Case]]:
        by_endpoint: dict[str, list[Case]] = {"a": [], "b": []}
        for case in self._cases:
            by_endpoint[case.endpoint].append(case)
        return {name: self._pull(cases) for name, cases in by_endpoint.items()}

    def _pull(self, cases: list[Case]) -> Iterator[Case]:
        for case in cases:
            self.pulled += 1
            yield case

    def after(self, record: Record) -> Iterable[Case]:
        return self._releases.get(record.case, ())


_NO_TIME = Skip(kind=SkipKind.DECIDED, reason="no time")


def case(key: str, endpoint: str = "a", model: str = "m", skip: Skip | None = None) -> Case:
    return Case(key=key, endpoint=endpoint, model=model, probe="p", iteration=1, skip=skip)


async def run(
    plan: Cases, *, concurrency: int = 4, max_requests: int | None = None, server: Server | None = None
) -> tuple[list[Event], Server]:
    server = server or Server()
    events: list[Event] = []
    engine = LocalEngine(
        {"a": server, "b": server},
        concurrency={"a": concurrency, "b": concurrency},
        handlers=[events.append],
        max_requests=max_requests,
    )
    await asyncio.wait_for(engine.run(plan, OneRequest(), STARTED), 10)
    return events, server


def finished(events: list[Event]) -> list[Record]:
    return [event.record for event in events if isinstance(event, CaseFinished)]


async def test_every_case_ends_in_exactly_one_record() -> None:
    events, _ = await run(Cases([case(str(n), "ab"[n % 2]) for n in range(50)]))
    assert sorted(record.case for record in finished(events)) == sorted(map(str, range(50)))
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)


async def test_cases_released_by_results_are_done_too_even_at_another_endpoint() -> None:
    plan = Cases([case("1")], {"1": [case("2", "b"), case("3")], "3": [case("4", "b")]})
    events, _ = await run(plan)
    assert {record.case for record in finished(events)} == {"1", "2", "3", "4"}


async def test_cases_are_pulled_lazily_and_concurrency_is_the_ceiling() -> None:
    plan = Cases([case(str(n)) for n in range(100)])
    server = Server(0.005)
    pulled: list[int] = []

    class Watching(Server):
        async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
            pulled.append(plan.pulled)
            return await server.ask(request, on_attempt=on_attempt)

    await run(plan, concurrency=5, server=Watching())
    assert server.most == 5
    assert max(pulled[:5]) <= 5


async def test_a_skip_case_is_recorded_without_being_asked() -> None:
    events, server = await run(Cases([case("1", skip=Skip(kind=SkipKind.NO_CALL, reason="no call in the first 5"))]))
    (record,) = finished(events)
    assert (record.outcome, record.skip, record.reason) == (Outcome.SKIPPED, SkipKind.NO_CALL, "no call in the first 5")
    assert server.asked == []


async def test_the_request_budget_is_kept_and_no_case_vanishes() -> None:
    events, server = await run(Cases([case(str(n)) for n in range(20)]), max_requests=7)
    assert len(server.asked) == 7
    outcomes = [record.outcome for record in finished(events)]
    assert outcomes.count(Outcome.PASSED) == 7
    assert outcomes.count(Outcome.SKIPPED) == 13


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("budget", [1, 9, 10, 11])
async def test_no_retry_breaks_the_budget(budget: int, concurrency: int) -> None:
    cases = Cases([case(str(n)) for n in range(20)])
    events, server = await run(cases, max_requests=budget, concurrency=concurrency, server=Server(0, 3))
    assert server.sent <= budget
    assert len(finished(events)) == 20
    if concurrency == 1:
        assert server.sent == budget


async def test_the_last_answer_before_the_limit_is_told() -> None:
    events, _ = await run(Cases([case("1")]), max_requests=1, server=Server(0, 2))
    [record] = finished(events)
    assert record.reason == "the limit of 1 requests was reached after: busy"
    assert (record.skip, record.cause) == (SkipKind.BUDGET, "the limit of 1 requests was reached")


async def test_a_request_set_aside_for_a_retry_that_does_not_come_is_there_for_others() -> None:
    class Refusing(Server):
        async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
            self.asked.append(request.model)
            if on_attempt is not None:
                on_attempt(Attempt(number=1, started_at=0.0, fault=BUSY))
            return Exchange(request=request, status=429, fault=BUSY)

    _, server = await run(Cases([case(str(n)) for n in range(9)]), max_requests=5, concurrency=1, server=Refusing())
    assert len(server.asked) == 5


async def test_our_own_bug_costs_its_case_and_is_reported_with_a_traceback() -> None:
    events, _ = await run(Cases([case("1"), case("2", model="bug"), case("3")]), concurrency=1)
    assert [(record.case, record.outcome) for record in finished(events)] == [
        ("1", Outcome.PASSED),
        ("2", Outcome.NOT_MEASURED),
        ("3", Outcome.PASSED),
    ]
    broken = finished(events)[1]
    assert broken.codes == (INTERNAL,)
    assert "RuntimeError: our own bug" in broken.detail.figures["traceback"]


async def test_a_record_that_cannot_be_kept_is_replaced_by_one_that_says_so() -> None:
    kept: list[Record] = []

    def keep(event: Event) -> None:
        if isinstance(event, CaseFinished):
            if event.record.outcome is Outcome.PASSED and event.record.case == "2":
                raise UnicodeEncodeError("utf-8", "x", 0, 1, "surrogates not allowed")
            kept.append(event.record)

    engine = LocalEngine({"a": Server(), "b": Server()}, concurrency={"a": 1, "b": 1}, handlers=[keep])
    await engine.run(Cases([case("1"), case("2"), case("3")]), OneRequest(), STARTED)
    assert [record.codes for record in kept] == [(), (INTERNAL,), ()]


@pytest.mark.parametrize(
    ("bugs", "others", "stops"), [(19, 0, False), (20, 0, True), (25, 3000, False), (35, 3000, True)]
)
async def test_a_run_stops_only_if_20_cases_and_more_than_one_in_a_hundred_meet_a_bug(
    bugs: int, others: int, stops: bool
) -> None:
    plan = Cases([*(case(str(n)) for n in range(others)), *(case(f"bug {n}", model="bug") for n in range(bugs))])
    if stops:
        with pytest.raises(TooManyBugsError, match="a bug in toolcert met"):
            await run(plan, concurrency=1)
    else:
        events, _ = await run(plan, concurrency=1)
        assert len(finished(events)) == bugs + others


@pytest.mark.heavy
async def test_ctrl_c_lets_work_in_flight_end_and_asks_nothing_more() -> None:
    server = Server(0.6)
    asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
    events, _ = await run(Cases([case(str(n)) for n in range(50)]), concurrency=3, server=server)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].interrupted
    assert sum(isinstance(event, RunStopping) for event in events) == 1
    assert len(server.asked) == 3
    assert len(finished(events)) == 3


async def test_ctrl_c_is_heard_while_the_rest_of_a_plan_is_skipped() -> None:
    class WithoutEnd(Cases):
        def sources(self) -> Mapping[str, Iterator[Case]]:
            return {"a": (case(str(number), skip=_NO_TIME) for number in itertools.count()), "b": iter(())}

    asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
    events, _ = await run(WithoutEnd([]))
    assert isinstance(events[-1], RunFinished)
    assert events[-1].interrupted


@pytest.mark.heavy
async def test_what_was_interrupted_can_go_on_undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of grace ends with its run: the next one on the same loop must not be cancelled by it."""
    monkeypatch.setattr("toolcert.engine.local.GRACE_SECONDS", 0.6)
    events: list[Event] = []
    server = Server(0.4)
    engine = LocalEngine({"a": server, "b": server}, concurrency={"a": 1, "b": 1}, handlers=[events.append])
    asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
    assert (await engine.run(Cases([case("1"), case("2")]), OneRequest(), STARTED)).interrupted
    server.seconds = 0.8
    assert not (await engine.run(Cases([case("2")]), OneRequest(), STARTED)).interrupted
    assert [record.case for record in finished(events)] == ["1", "2"]


async def test_a_second_ctrl_c_stops_at_once() -> None:
    server = Server(60)
    loop = asyncio.get_running_loop()
    loop.call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
    loop.call_later(0.1, os.kill, os.getpid(), signal.SIGINT)
    begun = loop.time()
    events, _ = await run(Cases([case("1")]), server=server)
    assert loop.time() - begun < 30
    assert isinstance(events[-1], RunFinished)
    assert events[-1].interrupted
    assert finished(events) == []


class JudgedLater(OneRequest):
    """Work whose answers are judged in two steps; what happens is noted in order."""

    def __init__(self, server: Server) -> None:
        self.notes: list[str] = []
        self._server = server

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record | Judge:
        exchange = await session.ask(Request(body={"model": case.model}), on_attempt=on_attempt)
        return self._steps(case, exchange)

    def _steps(self, case: Case, exchange: Exchange) -> Judge:
        self.notes.append(f"first {case.key} after {len(self._server.asked)} requests")
        yield
        self.notes.append(f"second {case.key}")
        if case.model == "bug":
            raise Unjudged([exchange]) from RuntimeError("our own bug")
        return Record(case=case.key, endpoint=case.endpoint, model=case.model, outcome=Outcome.PASSED)


async def run_judged_later(plan: Cases, handlers: list[Handler], *, concurrency: int = 2) -> JudgedLater:
    server = ServerOfRounds(0.01)
    work = JudgedLater(server)
    engine = LocalEngine(
        {"a": server, "b": server}, concurrency={"a": concurrency, "b": concurrency}, handlers=handlers
    )
    await asyncio.wait_for(engine.run(plan, work, STARTED), 10)
    return work


async def test_the_next_requests_go_out_before_answers_are_judged_a_step_for_all_in_turn() -> None:
    work = await run_judged_later(Cases([case(str(n)) for n in range(4)]), [])
    assert work.notes[:4] == ["first 0 after 4 requests", "first 1 after 4 requests", "second 0", "second 1"]


class ReadOneAhead(Cases):
    """A plan of cases that are read one ahead; one of them may not be readable at all."""

    def __init__(self, cases: Iterable[Case], unreadable: BaseException | None = None) -> None:
        super().__init__(cases)
        self._unreadable = unreadable

    def sources(self) -> Mapping[str, Iterator[Case]]:
        return {"a": ReadAhead(self._then_unreadable(super().sources()["a"]))}

    def _then_unreadable(self, cases: Iterator[Case]) -> Iterator[Case]:
        yield from cases
        if self._unreadable is not None:
            raise self._unreadable


@pytest.fixture
def one_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "CASES_AHEAD", 1)
    monkeypatch.setattr(read_ahead, "READ_SECONDS", 60)


@pytest.mark.usefixtures("one_ahead")
async def test_the_next_case_is_read_while_the_endpoint_is_at_work_and_answers_are_judged() -> None:
    read_at_answers: list[int] = []
    read_at_judgements: list[int] = []

    class Noting(Server):
        async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
            exchange = await super().ask(request, on_attempt=on_attempt)
            read_at_answers.append(plan.pulled)
            return exchange

    class NotingJudge(JudgedLater):
        def _steps(self, case: Case, exchange: Exchange) -> Judge:
            read_at_judgements.append(plan.pulled)
            return (yield from super()._steps(case, exchange))

    plan = ReadOneAhead([case(str(n)) for n in range(5)])
    server = Noting(0.01)
    engine = LocalEngine({"a": server}, concurrency={"a": 1})
    await asyncio.wait_for(engine.run(plan, NotingJudge(server), STARTED), 10)
    assert read_at_answers == [1, 3, 4, 5, 5]
    assert read_at_judgements == [2, 3, 4, 5, 5]


class Panic(BaseException):
    """What a library raises that is no Exception, as those written in Rust do."""


@pytest.mark.usefixtures("one_ahead")
@pytest.mark.parametrize("error", [Panic, ValueError])
async def test_a_plan_that_fails_while_it_is_read_ahead_is_not_taken_for_finished(error: type[BaseException]) -> None:
    server = Server(0.01)
    engine = LocalEngine({"a": server}, concurrency={"a": 1})
    plan = ReadOneAhead([case(str(n)) for n in range(3)], error())
    with pytest.raises(error):
        await asyncio.wait_for(engine.run(plan, JudgedLater(server), STARTED), 10)


async def test_every_judged_case_ends_in_one_record_that_each_handler_has_before_the_next() -> None:
    kept: list[str] = []
    told: list[str] = []

    def keep(event: Event) -> None:
        if isinstance(event, CaseFinished):
            kept.append(event.record.case)

    def tell(event: Event) -> None:
        if isinstance(event, CaseFinished):
            assert event.record.case in kept
            told.append(event.record.case)

    await run_judged_later(Cases([case(str(n)) for n in range(300)]), [keep, tell], concurrency=100)
    assert kept == told
    assert sorted(kept, key=int) == [str(n) for n in range(300)]


class Batches:
    """A handler that takes finished cases together, and fails on one of them."""

    def __init__(self) -> None:
        self.kept: list[Record] = []
        self.together = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self._refuse(event)
            self.kept.append(event.record)

    def finish_all(self, events: Sequence[CaseFinished]) -> None:
        for event in events:
            self._refuse(event)
        self.kept += [event.record for event in events]
        self.together = max(self.together, len(events))

    def _refuse(self, event: CaseFinished) -> None:
        if event.record.case == "7" and event.record.outcome is Outcome.PASSED:
            raise ValueError("this one cannot be kept")


async def test_a_record_that_cannot_be_kept_among_others_costs_its_case_alone() -> None:
    handler = Batches()
    told: list[Event] = []
    await run_judged_later(Cases([case(str(n)) for n in range(40)]), [handler, told.append], concurrency=10)
    assert handler.together > 1
    assert sorted((record.case for record in handler.kept), key=int) == [str(n) for n in range(40)]
    assert [record.case for record in handler.kept if record.codes == (INTERNAL,)] == ["7"]
    assert finished(told) == handler.kept


async def test_a_bug_in_judging_costs_its_case_and_keeps_the_answer() -> None:
    events: list[Event] = []
    await run_judged_later(Cases([case("1"), case("2", model="bug"), case("3")]), [events.append])
    records = {record.case: record for record in finished(events)}
    assert [records[key].codes for key in "123"] == [(), (INTERNAL,), ()]
    assert len(records["2"].detail.exchanges) == 1
    assert "RuntimeError: our own bug" in records["2"].detail.figures["traceback"]


async def test_a_record_that_cannot_be_written_ends_a_run_that_judges_later() -> None:
    def keep(event: Event) -> None:
        if isinstance(event, CaseFinished) and event.record.case == "5":
            raise OutputError("the disk is full")

    with pytest.raises(OutputError, match="the disk is full"):
        await run_judged_later(Cases([case(str(n)) for n in range(1000)]), [keep])


async def test_an_answer_is_kept_that_came_in_the_moment_of_a_second_ctrl_c() -> None:
    events: list[Event] = []
    server = Server()
    work = JudgedLater(server)
    engine = LocalEngine({"a": server}, concurrency={"a": 1}, handlers=[events.append])

    class Interrupted(OneRequest):
        async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record | Judge:
            answer = await work.perform(case, session, on_attempt)
            engine._cancel()  # as a second Ctrl-C does: the answer is not judged yet
            return answer

    plan = Cases([case("1"), case("2")])
    await asyncio.wait_for(engine.run(plan, Interrupted(), STARTED), 10)
    assert [record.case for record in finished(events)] == ["1"]


async def test_faults_and_answers_are_seen_in_the_order_in_which_they_came() -> None:
    """Every second case is refused: no five in a row are, although a refusal is not judged later as answers are."""
    server = Server()
    refusal = Fault(kind=FaultKind.CONFIGURATION, message="no such project", status=404)

    class EverySecondRefused(JudgedLater):
        async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record | Judge:
            answer = await super().perform(case, session, on_attempt)
            if int(case.key) % 2:
                return answer
            detail = Detail(exchanges=(Exchange(request=Request(body={}), fault=refusal),))
            return Record(case=case.key, endpoint="a", model=case.model, outcome=Outcome.NOT_MEASURED, detail=detail)

    events: list[Event] = []
    engine = LocalEngine(
        {"a": server, "b": server}, concurrency={"a": 40, "b": 1}, handlers=[events.append], watch=OutageWatch()
    )
    await asyncio.wait_for(
        engine.run(Cases([case(str(n)) for n in range(200)]), EverySecondRefused(server), STARTED), 10
    )
    assert len(server.asked) == 200
    assert [record for record in finished(events) if record.outcome is Outcome.SKIPPED] == []


async def test_answers_that_came_are_kept_when_bugs_stop_a_run() -> None:
    together = asyncio.Barrier(100)

    class AllAtOnce(Server):
        async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:  # noqa: ARG002
            await together.wait()
            return Exchange(request=request, status=200)

    events: list[Event] = []
    server = AllAtOnce()
    engine = LocalEngine({"a": server, "b": server}, concurrency={"a": 100, "b": 1}, handlers=[events.append])
    plan = Cases([case(str(n), model="bug" if n < 40 else "m") for n in range(100)])
    with pytest.raises(TooManyBugsError):
        await asyncio.wait_for(engine.run(plan, JudgedLater(server), STARTED), 10)
    assert len(finished(events)) == 100
