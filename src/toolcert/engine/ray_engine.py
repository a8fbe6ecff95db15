"""The Ray engine: the same plan in, the same events out, with the asking and judging done by workers of a Ray cluster.

Everything that decides stays here: the run log, what is skipped, the budget, the limits of the endpoint, the outage
watch. Workers get leases of cases and a share of the limits. A worker that is gone loses its leases to the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
import os
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from toolcert.core.cases import Case, Skip, SkipKind
from toolcert.core.errors import ClusterError, ConfigurationError, ToolcertError, install_line
from toolcert.core.events import CaseStarted, Event, Handler, RunStopping
from toolcert.core.exchanges import Attempt
from toolcert.core.findings import LOST_WITH_WORKER
from toolcert.core.records import Detail, Record
from toolcert.core.requests import SharedTools
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.core.text.number_text import plural
from toolcert.core.values import Value
from toolcert.diagnose.checks.registry import finding
from toolcert.engine.interfaces import Plan, Work
from toolcert.engine.local import BATCH, Budget, CaseQueue, LocalEngine, skipped, unmeasured
from toolcert.engine.outage import OutageWatch
from toolcert.engine.ray_worker import (
    BEAT_SECONDS,
    READ_AHEAD,
    Assignment,
    FinishedCase,
    Grant,
    Hello,
    LeasedCase,
    NumberedTools,
    Orders,
    Report,
    Share,
    key_pair,
    read_frame,
    seal,
    send,
)
from toolcert.http.limiter import AdaptiveLimiter
from toolcert.http.retry import RetryPolicy
from toolcert.runs.encoding import record_of
from toolcert.settings.credentials import variables_in
from toolcert.version import __version__

SILENT_SECONDS = 20.0
"""A worker that is silent for this long is considered dead; it stops by itself before that."""
JOIN_SECONDS = 60.0
"""Waiting for a worker when there is none: longer than Ray takes to start a process on a busy machine."""
LEAST_AHEAD, MOST_AHEAD = 2, 768
AHEAD_SECONDS = 0.25
"""A worker is given cases for this long beyond those that it may ask at once: several times what a delivery takes."""
_RATE_SECONDS = 0.1
MOST_DEALT = 64
DEAL_SECONDS = 0.005
"""Cases that are read and dealt out at a time, and how long that may take: meanwhile nothing is heard of workers."""
MOST_LOSSES = 3
"""Workers that may die over a case before it is given up."""
MOST_GIVEN_UP = 20
"""Cases that may be given up before their share counts."""
_GIVEN_UP_SHARE = 0.01
_HELLO_SECONDS = 5.0
_LONGEST_HELLO = 65536
_MOST_TOOLSETS = 512
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode_report = msgspec.msgpack.Decoder(Report).decode


class Lender(NamedTuple):
    """Where the cases of a pool come from, and where their records go."""

    next_case: Callable[[], Case | None]
    """The next one, if there is one at present."""
    skip: Callable[[Case], Skip | None]
    """Why a case is not to be asked."""
    attempted: Callable[[Case, Attempt], None]
    finish: Callable[[list[tuple[Case, Record]]], None]
    is_exhausted: Callable[[], bool]
    """Whether no more cases will come."""
    end: Callable[[], None]
    """Called when nothing is in hand and nothing will come."""
    fail: Callable[[Exception], None]
    """Called when the run cannot go on."""


class Lease(Value, kw_only=False):
    """A case that a worker has."""

    case: Case
    """Without its body."""
    sent: LeasedCase
    tools: SharedTools | None
    """Those of its body, where they were sent apart."""

    def whole_case(self) -> Case:
        """The case as it was lent."""
        return self.sent.case(self.tools)

    def record(self, finished: FinishedCase) -> Record:
        """The record that the worker made of it."""
        line = finished.with_body(self.sent.body(self.tools))
        record = record_of(line)
        # In what a worker encodes, an end of a line is escaped.
        if record.case != self.case.key or line.find(b"\n") != len(line) - 1 or b"\r" in line:
            raise msgspec.DecodeError("this is not the record of the case")
        return record


class WorkerLink:
    """The engine's side of the connection to one worker."""

    def __init__(self, writer: asyncio.StreamWriter, machine: str) -> None:
        self._writer = writer
        self.machine = machine
        self.leases: dict[str, Lease] = {}
        self.places = 0
        """Requests that it may have in flight."""
        self.most_in_flight = 0
        """Requests that it may still have in flight from a larger share before."""
        self._shares = 0
        self.open = True
        """Whether it may get new cases."""
        self.alone = False
        """Whether it gets only cases that other workers have died over, one at a time."""
        self._recalled = False
        self.rate = 0.0
        """Cases a second, lately."""
        self._counted = 0
        self._counted_since = time.monotonic()
        self.silent = 0
        """Checks in a row without a message from it; time in which the engine itself was stalled does not count."""
        self._tools: dict[int, tuple[SharedTools, int]] = {}
        """Tool lists that it has, and their numbers, by identity."""
        self._cases: list[LeasedCase] = []
        self._new_tools: list[NumberedTools] = []
        """What is to be handed over, and the tool lists that it refers to and the worker does not have."""
        self._forget = False
        """Whether the worker is to forget all tool lists before."""

    @property
    def room(self) -> int:
        """How many more cases it can take now."""
        ahead = min(MOST_AHEAD, max(LEAST_AHEAD, math.ceil(self.rate * AHEAD_SECONDS)))
        return max(0, self.places + ahead - len(self.leases)) if self.open and self.places and not self.alone else 0

    def send(self, orders: Orders) -> None:
        send(self._writer, orders)

    def share(self, places: int, pace: float, pause: float, cut: int, *, hand_back: bool) -> None:
        """Tell it how many requests it may have in flight."""
        self._shares += 1
        self.places, self.most_in_flight = places, max(places, self.most_in_flight)
        given = Share(places=places, pace=pace, pause=pause, cut=cut, number=self._shares)
        self.send(Orders(share=given, hand_back=hand_back))

    def obeys(self, share: int) -> None:
        """Take note that it has no more requests in flight than the share with this number allows."""
        if share == self._shares:
            self.most_in_flight = self.places

    def lease(self, case: Case) -> None:
        """Lend it a case, which is handed over with others."""
        bare, tools = msgspec.structs.replace(case, body=None), (case.body or {}).get("tools")
        shared = tools if isinstance(tools, SharedTools) else None
        leased = LeasedCase.of(bare, case.body, None if shared is None else self._number(shared))
        self._cases.append(leased)
        self.leases[case.key] = Lease(bare, leased, shared)

    def recall(self) -> None:
        """Have it hand back the cases that it has not begun."""
        if not self._recalled:
            self._recalled = True
            self.send(Orders(hand_back=True))

    def hand_over(self) -> None:
        """Send it the cases that it was lent."""
        if not self._cases:
            return
        self._recalled = False
        self.send(Orders(cases=tuple(self._cases), tools=tuple(self._new_tools), forget_tools=self._forget))
        self._cases, self._new_tools = [], []
        self._forget = len(self._tools) > _MOST_TOOLSETS
        if self._forget:
            self._tools.clear()

    def _number(self, tools: SharedTools) -> int:
        """The number under which the worker has a tool list, or will have it before the cases."""
        known = self._tools.get(id(tools))
        if known is not None:
            return known[1]
        number = len(self._tools)
        self._tools[id(tools)] = tools, number
        self._new_tools.append(NumberedTools(number=number, json=tools.json))
        return number

    def count(self, cases: int) -> None:
        """Take note of finished cases, for the rate; it falls slowly, because pauses of the machine say nothing."""
        self._counted += cases
        seconds = time.monotonic() - self._counted_since
        if seconds >= _RATE_SECONDS:
            self.rate, self._counted = max(self._counted / seconds, self.rate / 2), 0
            self._counted_since += seconds

    def close(self) -> None:
        self._writer.transport.abort()


class WorkerPool:
    """The workers of a run: deals cases out, divides the limits, and collects records."""

    def __init__(
        self,
        spec: EndpointSpec,
        key: Secret | None,
        work: Work,
        *,
        max_requests: int | None = None,
        policy: RetryPolicy | None = None,
        attempts: bool = True,
    ) -> None:
        """`work` is copied to the workers; without `attempts`, they do not report each attempt at once."""
        self.spec = spec
        self.work = work
        self.planned = 1
        """Workers that are wanted."""
        self._key = key
        self._policy = policy
        self._attempts = attempts
        patience = (policy or RetryPolicy()).patience
        self._limit = AdaptiveLimiter(spec.concurrency, spec.rpm, longest_pause=patience)
        self._cuts = 0
        self._shared: tuple[object, ...] = ()
        self._tokens: set[str] = set()
        """Workers that were started and have not joined, by what they will show."""
        self._links: list[WorkerLink] = []
        self._again: deque[Case] = deque()
        """Cases that workers lost or handed back."""
        self._suspects: deque[Case] = deque()
        """Cases of which one more loss would be the last."""
        self._losses: dict[str, int] = {}
        self._dealing = self._stopping = False
        self._joined = asyncio.Event()
        self._alone_since = time.monotonic()
        self._broken: Exception | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.lost: Callable[[], None] = lambda: None
        """Called when a worker that had joined is gone."""
        self._lender: Lender | None = None
        self.budget = Budget(max_requests)
        self.machines: set[str] = set()
        self.workers = self.workers_lost = self.dealt_again = self.asked_alone = self.given_up = 0
        self._answered = 0

    async def open(self, host: str) -> None:
        """Listen for workers."""
        self._server = await asyncio.start_server(self._meet, host, 0, limit=READ_AHEAD)
        self._address = self._server.sockets[0].getsockname()[:2]
        self.in_background(self._watch())

    async def close(self) -> None:
        """Stop all workers."""
        self._stopping = True
        self._server.close()
        for link in self._links:
            link.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def assignment(self) -> Assignment:
        """What a new worker is started with."""
        token = secrets.token_hex(16)
        self._tokens.add(token)
        return Assignment(
            host=self._address[0],
            port=self._address[1],
            token=token,
            spec=self.spec,
            policy=self._policy,
            key=None if self._key is None else self._key.source if _in_environment(self._key) else "",
            variables=tuple(name for value in self.spec.headers.values() for name in variables_in(value)),
            over=self.budget.over,
            limited=self.budget.limit is not None,
            attempts=self._attempts,
        )

    async def first_worker(self) -> None:
        """Wait until there is one."""
        await self._joined.wait()
        if self._broken is not None:
            raise self._broken

    @contextlib.contextmanager
    def lent(self, lender: Lender) -> Iterator[None]:
        """Meanwhile, the workers ask and judge the cases of `lender`."""
        if self._broken is not None:
            raise self._broken
        self._lender = lender
        self._deal_soon()
        try:
            yield
        finally:
            self._lender = None

    def stop(self) -> None:
        """Begin no more cases."""
        self._stopping = True
        self._again.clear()
        self._suspects.clear()
        for link in self._links:
            link.send(Orders(hand_back=True))
        self._end_if_done()

    def fail(self, error: Exception) -> None:
        """End the run with an error."""
        self._broken = self._broken or error
        self._joined.set()
        if self._lender is not None:
            self._lender.fail(error)

    def fail_alone(self, error: ToolcertError) -> None:
        """End the run with an error unless some worker is there."""
        if not self._links:
            self.fail(error)

    def never_came(self, token: str) -> bool:
        """Whether a worker that has ended did not even introduce itself."""
        known = token in self._tokens
        self._tokens.discard(token)
        return known and not self._stopping

    def notices(self) -> Iterator[str]:
        """Messages for the user."""
        yield f"Ray: {plural(self.workers, 'worker')} on {plural(len(self.machines), 'machine')}."
        if self.workers_lost:
            one = self.dealt_again == 1
            held = f"{plural(self.dealt_again, 'case')} in hand {'was' if one else 'were'} given to others."
            sent = f" Requests sent for {'it' if one else 'them'} before are in no record." if self.dealt_again else ""
            yield f"{plural(self.workers_lost, 'worker')} died; {held}{sent}"
        if self.asked_alone:
            yield f"{plural(self.asked_alone, 'case')} had been lost twice, and had a worker alone the third time."
        if self.given_up:
            whom = "it" if self.given_up == 1 else "each"
            yield f"{plural(self.given_up, 'case')} not measured: {MOST_LOSSES} workers died over {whom}."

    def in_background(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something for as long as the pool is open."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection: that of one of our workers until it ends, or that of a stranger."""
        try:
            async with asyncio.timeout(_HELLO_SECONDS):
                hello = _decode_report(await read_frame(reader, _LONGEST_HELLO)).hello
        except (OSError, EOFError, TimeoutError, *_UNREADABLE):
            hello = None
        if hello is None or not self._is_ours(hello):
            writer.transport.abort()
            return
        link = WorkerLink(writer, hello.machine)
        try:
            self._equip(link, hello)
            await self._hear(reader, link)
        except (EOFError, OSError):
            pass  # gone: what it had in hand is dealt out again
        except Exception as error:  # noqa: BLE001 - the run raises it
            self.fail(error)
        finally:
            self._leave(link)

    def _is_ours(self, hello: Hello) -> bool:
        token = next((one for one in self._tokens if hmac.compare_digest(one.encode(), hello.token.encode())), None)
        self._tokens.discard(token or "")
        return token is not None

    def _equip(self, link: WorkerLink, hello: Hello) -> None:
        """Give a new worker the secrets that it lacks."""
        if hello.toolcert != __version__:
            raise ClusterError(
                f"the worker on {hello.machine} has toolcert {hello.toolcert}, not {__version__}.",
                remedy="Install the same version on every machine of the cluster.",
            )
        if not hello.lacks:
            link.send(Orders(begin=True))
            return
        if not hello.public or not key_pair()[1]:
            names = ", ".join(name or "the key" for name in hello.lacks)
            raise ConfigurationError(
                f"the worker on {hello.machine} lacks {names}.",
                remedy=f"Set it where Ray starts its workers, or let it be sent encrypted. {install_line('tls')}",
            )
        values = {name: os.environ.get(name, "") for name in hello.lacks if name}
        if self._key is not None and (name := self._key.source if _in_environment(self._key) else "") in hello.lacks:
            values[name] = self._key.reveal()
        link.send(Orders(begin=True, sealed=seal(values, hello.public)))

    async def _hear(self, reader: asyncio.StreamReader, link: WorkerLink) -> None:
        while True:
            content = await read_frame(reader)
            link.silent = 0
            try:
                report = _decode_report(content)
                records = [
                    (done.key, link.leases[done.key].record(done))
                    for done in report.finished
                    if done.key in link.leases
                ]
            except _UNREADABLE as error:
                raise ConnectionError("this is no report") from error
            if report.failure is not None:
                raise ConfigurationError(report.failure.message, remedy=report.failure.remedy)
            if report.ready and link not in self._links:
                self._welcome(link)
            self._take(link, report, records)

    def _welcome(self, link: WorkerLink) -> None:
        self._links.append(link)
        self.workers += 1
        self.machines.add(link.machine)
        self._joined.set()
        self._divide(everyone=True)
        self._deal_soon()

    def _leave(self, link: WorkerLink) -> None:
        """A worker is gone: what it had in hand is asked again, by others."""
        link.close()
        if link not in self._links:
            return
        self._links.remove(link)
        if not self._links:
            self._alone_since = time.monotonic()
        # What it may still have sent is no longer taken: others are asked.
        held, link.leases = link.leases, {}
        if self._stopping:
            self._end_if_done()
            return
        self.workers_lost += 1
        self._report([lost for lease in reversed(held.values()) if (lost := self._lose(lease)) is not None])
        self._fail_if_deadly()
        self._divide()
        self._deal_soon()
        self.lost()

    def _lose(self, lease: Lease) -> tuple[Case, Record] | None:
        """Have a case asked again; its record where it was lost too often."""
        case = lease.case
        self._losses[case.key] = self._losses.get(case.key, 0) + 1
        if self._losses[case.key] < MOST_LOSSES:
            self.dealt_again += 1
            self._put_back(lease)
            return None
        self.given_up += 1
        return case, _given_up(case)

    def _fail_if_deadly(self) -> None:
        """End a run in which workers die over more than a few of its cases: each costs several of them."""
        cases = self._answered + self.given_up
        if self.given_up >= MOST_GIVEN_UP and self.given_up > _GIVEN_UP_SHARE * cases:
            self.fail(
                ClusterError(
                    f"{self.given_up} of the {cases} cases that were asked are given up, because {MOST_LOSSES} workers "
                    "died over each; the run is stopped.",
                    remedy="Ray's logs may tell why; too little memory is a frequent cause. What was measured is kept: "
                    "when that is mended, or these rows are left out, the same command goes on from there.",
                )
            )

    def _put_back(self, lease: Lease) -> None:
        """Have a case asked before those that were not lent yet."""
        last_time = self._losses.get(lease.case.key, 0) == MOST_LOSSES - 1
        (self._suspects if last_time else self._again).appendleft(lease.whole_case())

    def _take(self, link: WorkerLink, report: Report, records: Sequence[tuple[str, Record]]) -> None:
        for key, attempt in report.attempts:
            if (lease := link.leases.get(key)) is not None and self._lender is not None:
                self._lender.attempted(lease.whole_case(), attempt)
        for refusal in report.refusals:
            news = refusal.news and refusal.cut == self._cuts
            self._limit.overloaded(refusal.retry_after, started=None if news else -math.inf)
            self._cuts += news
        for _ in range(report.answered if self._limit.limit < self._limit.ceiling else 0):
            self._limit.succeeded()
        finished = []
        for key, record in records:
            lease = link.leases.pop(key, None)
            if lease is not None:
                finished.append((lease.case, record))
        self._answered += len(finished)
        self._report(finished)
        link.count(len(records))
        link.obeys(report.obeyed)
        self._take_back(link, report.returned)
        if report.wants:
            link.send(Orders(grant=self._grant(report.wants)))
        self._divide(everyone=bool(report.refusals))
        self._deal_soon()

    def _report(self, finished: list[tuple[Case, Record]]) -> None:
        if finished and self._lender is not None:
            self._lender.finish(finished)
        self._end_if_done()

    def _end_if_done(self) -> None:
        """Tell the lender that nothing is in hand and nothing will come."""
        if self._lender is None or self._again or self._suspects or any(link.leases for link in self._links):
            return
        if self._stopping or self._lender.is_exhausted():
            self._lender.end()

    def _take_back(self, link: WorkerLink, keys: Sequence[str]) -> None:
        leases = [lease for key in reversed(keys) if (lease := link.leases.pop(key, None)) is not None]
        for lease in () if self._stopping else leases:
            self._put_back(lease)
        self._end_if_done()

    def _grant(self, wanted: int) -> Grant:
        granted = wanted if self.budget.limit is None else 0
        while granted < wanted and not self.budget.spent:
            self.budget.take()
            granted += 1
        return Grant(requests=granted, spent=self.budget.spent)

    def _divide(self, *, everyone: bool = False) -> None:
        """Tell the workers their shares, where these have changed."""
        limit, links = self._limit.limit, self._links
        if not links:
            return
        fair, more = divmod(limit, len(links))
        state, pause = (limit, self._cuts, len(links)), self._limit.pause
        everyone, self._shared = everyone or state != self._shared, state
        free = max(0, limit - sum(link.most_in_flight for link in links))
        for number, link in enumerate(links):
            share = fair + (number < more)
            parked = link.open and not share
            link.open = share > 0
            # Without a place, what it has begun would wait forever.
            wanted = max(share, min(1, len(link.leases)))
            # What others still have in flight from a larger share is theirs until they report less.
            places = min(wanted, link.most_in_flight + free)
            free -= max(0, places - link.most_in_flight)
            if everyone or places != link.places:
                pace = 60.0 * limit / (self.spec.rpm * max(1, places)) if self.spec.rpm else 0.0
                link.share(places, pace, pause, self._cuts, hand_back=parked)

    def _deal_soon(self) -> None:
        if not self._dealing and self._lender is not None and not self._stopping:
            self._dealing = True
            asyncio.get_running_loop().call_soon(self._deal)

    def _deal(self) -> None:
        """Hand cases to the workers that have room, evenly."""
        self._dealing = False
        lender = self._lender
        if lender is None or self._stopping:
            return
        try:
            self._recall_in_an_outage(lender)
            self._deal_suspects(lender)
            hungry = sorted((link for link in self._links if link.room), key=lambda link: -link.room)
            if hungry and self._deal_out(lender, hungry):
                self._deal_soon()
        except Exception as error:  # noqa: BLE001 - the run raises it: nobody waits for this call
            lender.fail(error)
        for link in self._links:
            link.hand_over()
        self._end_if_done()

    def _deal_out(self, lender: Lender, hungry: list[WorkerLink]) -> bool:
        """Deal out as many cases as can be read in a moment; whether there may be more for these workers."""
        turns = deque((link, link.room) for link in hungry)
        until = time.monotonic() + DEAL_SECONDS
        for _ in range(MOST_DEALT):
            if not turns or time.monotonic() > until:
                break
            case = self._again.popleft() if self._again else lender.next_case()
            if case is None:
                return False
            if (skip := lender.skip(case)) is not None:
                lender.finish([(case, skipped(case, skip))])
                continue
            link, room = turns.popleft()
            link.lease(case)  # at once, while the row is in the processor's cache
            if room > 1:
                turns.append((link, room - 1))
        return bool(turns)

    def _recall_in_an_outage(self, lender: Lender) -> None:
        for link in self._links:
            lease = next(iter(link.leases.values()), None)
            skip = None if lease is None else lender.skip(lease.case)
            if skip is not None and skip.kind is SkipKind.OUTAGE:
                link.recall()

    def _deal_suspects(self, lender: Lender) -> None:
        """Lend cases that workers have died over to workers that have nothing else: a death takes no other along."""
        able = sorted((link for link in self._links if link.open and link.places), key=lambda link: len(link.leases))
        for link in self._links:
            link.alone = link.alone and (bool(link.leases) or (bool(self._suspects) and link in able))
        wanted = min(len(self._suspects), max(1, len(able) - 1)) - sum(link.alone for link in able)
        for link in able:
            if not link.alone and wanted > 0:
                wanted -= 1
                link.alone = True
                link.recall()
            if link.alone and not link.leases:
                self._lend_suspect(link, lender)

    def _lend_suspect(self, link: WorkerLink, lender: Lender) -> None:
        while self._suspects and not link.leases:
            case = self._suspects.popleft()
            if (skip := lender.skip(case)) is None:
                self.asked_alone += 1
                link.lease(case)
            else:
                lender.finish([(case, skipped(case, skip))])

    async def _watch(self) -> None:
        """Notice workers that have fallen silent, and that there is none left."""
        while True:
            await asyncio.sleep(BEAT_SECONDS / 2)
            for link in self._links:
                link.silent += 1
            for link in [link for link in self._links if link.silent * BEAT_SECONDS / 2 > SILENT_SECONDS]:
                self._leave(link)
            self._divide(everyone=True)
            if not self._links and not self._stopping and time.monotonic() - self._alone_since > JOIN_SECONDS:
                self.fail(
                    ClusterError(
                        f"no worker of the Ray cluster has joined within {JOIN_SECONDS:.0f} s.",
                        remedy="`ray status` shows whether a CPU is free. What was measured is kept: "
                        "the same command goes on from there.",
                    )
                )


def _given_up(case: Case) -> Record:
    """The record of a case that was lost too often. Why the workers died is not known here."""
    found = finding(LOST_WITH_WORKER, f"{MOST_LOSSES} workers died while they had this case")
    return msgspec.structs.replace(
        unmeasured(case), reason=found.evidence, codes=(found.code,), detail=Detail(findings=(found,))
    )


def _in_environment(key: Secret) -> bool:
    return os.environ.get(key.source, "").strip() == key.reveal()


class RayEngine(LocalEngine):
    """Runs a plan with the workers of a pool: all but the asking and judging is as on one machine."""

    def __init__(
        self,
        pool: WorkerPool,
        *,
        handlers: Sequence[Handler] = (),
        recorders: Sequence[Handler] = (),
        watch: OutageWatch | None = None,
    ) -> None:
        """The budget is the pool's, and the workers have the sessions."""
        super().__init__({}, concurrency={}, handlers=handlers, recorders=recorders, watch=watch)
        self._pool, self._budget = pool, pool.budget
        self._ended: asyncio.Future[None] | None = None

    async def _work_off(self, plan: Plan, work: Work, queue: CaseQueue) -> None:  # noqa: ARG002 - the pool has the work
        self._ended = asyncio.get_running_loop().create_future()

        def finish(finished: list[tuple[Case, Record]]) -> None:
            for start in range(0, len(finished), BATCH):
                with self._failure_kept():
                    self._finish(finished[start : start + BATCH], plan, queue)

        def attempted(case: Case, attempt: Attempt) -> None:
            with self._failure_kept():
                self._attempted(case, attempt)

        lender = Lender(
            next_case=partial(self._next_case, queue),
            skip=self._skip,
            attempted=attempted,
            finish=finish,
            is_exhausted=lambda: queue.closed,
            end=self._cancel,
            fail=self._fail,
        )
        with self._pool.lent(lender):
            await self._ended
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _next_case(self, queue: CaseQueue) -> Case | None:
        try:
            case = queue.take_now(self._pool.spec.name)
        except Exception as error:  # noqa: BLE001 - the run raises it
            self._end_of_plan(queue, error)
            return None
        if case is not None:
            self._tell(CaseStarted(case=case))
        return case

    def _fail(self, error: Exception) -> None:
        with self._failure_kept():
            raise error

    def _cancel(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _emit(self, event: Event) -> None:
        super()._emit(event)
        if isinstance(event, RunStopping):
            self._pool.stop()
