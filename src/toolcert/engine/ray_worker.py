"""A worker of the Ray engine: takes leases of cases over a connection to the engine, and sends back records.

Ray places and starts the worker. Cases and records take a connection of our own: a call through Ray costs more than
the ten rows that it would carry, and Ray's object store and logs never see a row.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
from collections import deque
from collections.abc import Coroutine
from functools import partial
from itertools import repeat
from typing import Any

import msgspec

from toolcert.core.cases import Case, Outcome, Skip
from toolcert.core.errors import ToolcertError
from toolcert.core.exchanges import Attempt
from toolcert.core.records import Record
from toolcert.core.requests import EncodedBody, SharedTools, encode_body
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import JsonObject, Value
from toolcert.engine.batch_policy import batch_policy
from toolcert.engine.interfaces import Judge, Session, Work
from toolcert.engine.local import BudgetSpent, judged, performed, unjudged, unmeasured
from toolcert.http.limiter import SharedLimiter, Slot
from toolcert.http.retry import RetryPolicy
from toolcert.runs.encoding import encode_record
from toolcert.version import __version__

AHEAD = 1
"""Cases that are prepared while all places are taken."""
BATCH = 64
FLUSH_SECONDS = 0.025
"""Records are collected for this long before they are sent; a killed worker loses these and what is in flight."""
LARGEST_BATCH = 4 * 1024 * 1024
READ_AHEAD = 1024 * 1024
"""Bytes, more than a report of usual rows has: to pause in the middle of each would cost a tenth of the speed."""
BEAT_SECONDS = 2.0
"""Both sides send a sign of life at least this often."""
QUIET_SECONDS = 10.0
"""A worker that hears nothing for this long starts no request: the engine may have given its share to others."""
LEAVE_SECONDS = 60.0
COLLECT_AFTER = 50_000
"""Objects made before the collector looks for cycles, as in the command itself. It need not look at those of Ray."""


class Share(Value):
    """A worker's part of the endpoint's limits."""

    places: int
    pace: float = 0.0
    """Seconds between two starts."""
    pause: float = 0.0
    cut: int = 0
    """How often the whole limit has been cut: refusals of requests from before say nothing new."""
    number: int = 0
    """Counts the shares of this worker."""


class Grant(Value):
    """Requests of the budget for a worker that asked for some."""

    requests: int
    spent: bool = False


class Sealed(Value):
    """Secrets for one worker, which alone can open them."""

    public: bytes
    nonce: bytes
    content: bytes


class NumberedTools(Value):
    """A tool list that many cases offer, sent once."""

    number: int
    json: bytes


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_decode_case = msgspec.json.Decoder(Case).decode
_MARK = b"\0"
"""Stands in JSON for what the other side has. In what we encode, it cannot occur otherwise: it would be escaped."""
_RAW_MARK = msgspec.Raw(_MARK)


class LeasedCase(Value, array_like=True):
    """A case for a worker, as JSON: decoded, it would take five times as much memory."""

    head: bytes
    """The case without its body."""
    before: bytes = b""
    """The body up to the tools that are sent apart, or all of it; empty where there is none."""
    after: bytes = b""
    """What follows these tools."""
    tools: int | None = None
    """Their number."""

    @classmethod
    def of(cls, bare: Case, body: JsonObject | None, tools: int | None) -> LeasedCase:
        """`bare` is the case without its body; `tools` is the number of those of the body, if they are sent apart."""
        if body is None or tools is None:
            return cls(head=_encode(bare), before=b"" if body is None else encode_body(body))
        before, _, after = _encode(body | {"tools": _RAW_MARK}).partition(_MARK)
        return cls(head=_encode(bare), before=before, after=after, tools=tools)

    def body(self, tools: SharedTools | None) -> bytes:
        """The JSON of the whole body; `tools` are those that were sent apart."""
        return self.before if tools is None else b"".join((self.before, tools.json, self.after))

    def case(self, tools: SharedTools | None) -> Case:
        """The case with its body."""
        bare = _decode_case(self.head)
        if not self.before:
            return bare
        if tools is None:
            body = EncodedBody(_decode(self.before))
        else:
            body = EncodedBody(_decode(b"".join((self.before, b"null", self.after))))
            body["tools"] = tools
        body.json = self.body(tools)
        return msgspec.structs.replace(bare, body=body)


class FinishedCase(Value, array_like=True, kw_only=False):
    """What came of a leased case."""

    key: str
    line: bytes
    """Its record."""
    marked: bool = False
    """Whether a mark stands in the line for the body, as it was lent."""

    def with_body(self, body: bytes) -> bytes:
        """The line with this body in place of the mark. An answer may have such a character as well, but after it."""
        return self.line.replace(_MARK, body, 1) if self.marked else self.line


class Orders(Value):
    """What the engine tells a worker."""

    share: Share | None = None
    grant: Grant | None = None
    sealed: Sealed | None = None
    begin: bool = False
    """The secrets are complete, and cases may come."""
    forget_tools: bool = False
    tools: tuple[NumberedTools, ...] = ()
    """New ones, which the cases refer to."""
    cases: tuple[LeasedCase, ...] = ()
    hand_back: bool = False
    """Return the cases that are not begun."""


class Hello(Value):
    """What a worker says of itself first."""

    token: str
    toolcert: str
    machine: str
    lacks: tuple[str, ...] = ()
    """Variables with secrets that are not set where it runs."""
    public: bytes = b""
    """What secrets for it are sealed with; empty where it cannot open any."""


class Failure(Value):
    """Why a worker or the whole run cannot go on, in words for the user."""

    message: str
    remedy: str = ""


class Refusal(Value):
    """The server said that it gets too many requests."""

    retry_after: float | None
    news: bool
    cut: int


class Report(Value):
    """What a worker tells the engine."""

    hello: Hello | None = None
    ready: bool = False
    failure: Failure | None = None
    finished: tuple[FinishedCase, ...] = ()
    attempts: tuple[tuple[str, Attempt], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    answered: int = 0
    wants: int = 0
    """Requests of the budget that it waits for."""
    returned: tuple[str, ...] = ()
    """Keys of leased cases that it did not begin."""
    obeyed: int = 0
    """The number of its share, once it has no more requests in flight than that allows."""


_LENGTH = 4
LONGEST = (1 << 8 * _LENGTH) - 1


_pack = msgspec.msgpack.Encoder().encode
_decode_orders = msgspec.msgpack.Decoder(Orders).decode


def frame(message: Value) -> bytes:
    """A message as bytes, with its length before it."""
    content = _pack(message)
    return len(content).to_bytes(_LENGTH, "big") + content


def send(writer: asyncio.StreamWriter, message: Value) -> None:
    """Send a message, unless the other side is gone: that is noticed where its messages are awaited."""
    if not writer.transport.is_closing():
        writer.write(frame(message))


async def read_frame(reader: asyncio.StreamReader, longest: int = LONGEST) -> bytes:
    """The next message, to be decoded; IncompleteReadError at the end."""
    length = int.from_bytes(await reader.readexactly(_LENGTH), "big")
    if length > longest:
        raise ConnectionError("the message is too long")
    return await reader.readexactly(length)


def key_pair() -> tuple[Any, bytes]:
    """A private key, and the public one to seal secrets with; nothing where `cryptography` is not installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    except ImportError:
        return None, b""
    private = X25519PrivateKey.generate()
    return private, private.public_key().public_bytes_raw()


def _cipher(private: Any, public: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    shared = private.exchange(X25519PublicKey.from_public_bytes(public))
    return ChaCha20Poly1305(HKDF(SHA256(), 32, salt=None, info=b"toolcert worker secrets").derive(shared))


def seal(secrets: dict[str, str], public: bytes) -> Sealed:
    """Encrypt secrets for the holder of the other half of `public`."""
    private, own = key_pair()
    nonce = os.urandom(12)
    content = _cipher(private, public).encrypt(nonce, msgspec.json.encode(secrets), None)
    return Sealed(public=own, nonce=nonce, content=content)


def unseal(sealed: Sealed, private: Any) -> dict[str, str]:
    """What was sealed for this private key."""
    content = _cipher(private, sealed.public).decrypt(sealed.nonce, sealed.content, None)
    return msgspec.json.decode(content, type=dict[str, str])


class Assignment(Value):
    """All that a worker is started with; no secret is among it."""

    host: str
    port: int
    token: str
    """Shows that it was started by this engine."""
    spec: EndpointSpec
    over: Skip
    """Why a case is not asked once the budget is spent."""
    policy: RetryPolicy | None = None
    key: str | None = None
    """The variable that holds the key; empty where none does, None where there is no key."""
    variables: tuple[str, ...] = ()
    """Variables that headers take secrets from."""
    limited: bool = False
    """Whether there is a budget."""
    attempts: bool = True
    """Whether anyone wants to know of each attempt at once; the records have them in any case."""


class WorkerBudget:
    """A worker's side of the budget: each attempt waits for its grant."""

    def __init__(self, worker: RayWorker) -> None:
        self._worker = worker
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.wants = 0
        """Requests that the engine has not been asked for yet."""

    async def take(self) -> None:
        """Wait until one request may be sent; raises BudgetSpent where none is left."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self.wants += 1
        self._worker.tell_soon()
        await waiting

    def fill(self, grant: Grant) -> None:
        """Allow this many requests; the others fail if there will be no more."""
        for _ in range(min(grant.requests, len(self._waiting))):
            self._end(None)
        while grant.spent and self._waiting:
            self._end(BudgetSpent())

    def _end(self, error: BudgetSpent | None) -> None:
        waiting = self._waiting.popleft()
        if waiting.done():
            return
        if error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(error)


class BudgetedSlot(Slot):
    """A place under the limit that is used only with a request of the budget."""

    __slots__ = ("_budget",)

    def __init__(self, limiter: SharedLimiter, budget: WorkerBudget) -> None:
        super().__init__(limiter)
        self._budget = budget

    async def __aenter__(self) -> float:
        queued = await super().__aenter__()
        try:
            await self._budget.take()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return queued


class WorkerLimiter(SharedLimiter):
    """The share of this worker, with the budget where there is one."""

    budget: WorkerBudget | None = None

    def slot(self) -> Slot:
        return Slot(self) if self.budget is None else BudgetedSlot(self, self.budget)


class RayWorker:
    """Runs in a process of its own: one loop, its own connections, its own judge."""

    def __init__(self, assignment: Assignment, work: Work) -> None:
        self._given = assignment
        self._work = work
        longest = (assignment.policy or RetryPolicy()).patience
        self._limiter = WorkerLimiter(self._refused, longest_pause=longest)
        self._budget = WorkerBudget(self) if assignment.limited else None
        self._limiter.budget = self._budget
        self._session: Session | None = None
        self._cuts = self._share = 0
        self._queue: deque[tuple[LeasedCase, dict[int, SharedTools]]] = deque()
        """Leased cases, and the tool lists of that time. A case is decoded when its turn comes, and then used at
        once: hundreds of decoded ones would be in no cache of the processor any more."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._tools: dict[int, SharedTools] = {}
        self._answered: list[tuple[Case, Judge]] = []
        self._finished: list[FinishedCase] = []
        self._size = 0
        self._attempts: list[tuple[str, Attempt]] = []
        self._refusals: list[Refusal] = []
        self._returned: list[str] = []
        self._timer: asyncio.TimerHandle | asyncio.Handle | None = None
        self._urgent = False
        self._heard = 0.0

    async def serve(self) -> None:
        """Work until the engine closes the connection."""
        given = self._given
        reader, self._writer = await asyncio.open_connection(given.host, given.port, limit=READ_AHEAD)
        loop = asyncio.get_running_loop()
        self._heard = loop.time()
        beat = loop.create_task(self._beat())
        try:
            # The engine going away is how a worker's work ends.
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                try:
                    await self._opened(reader)
                    await self._listen(reader)
                except ToolcertError as error:
                    await self._fail(error)
        finally:
            beat.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(beat, *self._tasks, return_exceptions=True)
            self._writer.close()

    async def _opened(self, reader: asyncio.StreamReader) -> None:
        """Introduce the worker, get the secrets that it lacks, and open the endpoint."""
        from toolcert.endpoints.registry import open_endpoint

        given = self._given
        private, public = key_pair()
        wanted = [name for name in (given.key, *given.variables) if name is not None]
        lacks = tuple(name for name in dict.fromkeys(wanted) if not (name and os.environ.get(name)))
        self._send(
            Report(
                hello=Hello(
                    token=given.token, toolcert=__version__, machine=socket.gethostname(), lacks=lacks, public=public
                )
            )
        )
        secrets: dict[str, str] = {}
        while True:
            orders = _decode_orders(await read_frame(reader))
            if orders.sealed is not None:
                secrets = unseal(orders.sealed, private)
            if orders.begin:
                break
        # Headers take their variables from the environment of this process, which is the worker's alone.
        os.environ.update({name: secrets[name] for name in given.variables if name in secrets})
        key = None
        if given.key is not None:
            key = Secret(secrets.get(given.key) or os.environ[given.key], source=given.key or "the engine")
        session = open_endpoint(given.spec, key, policy=given.policy)
        session.limiter = self._limiter
        self._session = session
        self._send(Report(ready=True))

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        loop = asyncio.get_running_loop()
        while True:
            orders = _decode_orders(await read_frame(reader))
            self._heard = loop.time()
            self._obey(orders)

    def _obey(self, orders: Orders) -> None:
        if orders.forget_tools:
            self._tools = {}
        for shared in orders.tools:
            self._tools[shared.number] = SharedTools(_decode(shared.json), shared.json)
        self._queue.extend(zip(orders.cases, repeat(self._tools)))
        if (share := orders.share) is not None:
            self._limiter.share(share.places, share.pace, share.pause, cut=share.cut > self._cuts)
            self._cuts, self._share = share.cut, share.number
            self.tell_soon()
        if orders.grant is not None and self._budget is not None:
            self._budget.fill(orders.grant)
        if orders.hand_back:
            self._hand_back()
        self._begin()

    def _hand_back(self) -> None:
        if self._queue:
            self._returned += [_decode_case(leased.head).key for leased, _ in self._queue]
            self._queue.clear()
            self.tell_soon()

    def _begin(self) -> None:
        """Start as many tasks as there are places; each goes on with the next case."""
        for _ in range(min(len(self._queue), self._limiter.limit + AHEAD - len(self._tasks))):
            self._start(self._cases())

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cases(self) -> None:
        session = self._session
        assert session is not None
        try:
            while self._queue and len(self._tasks) <= self._limiter.limit + AHEAD:
                case = self._next_case()
                on_attempt = partial(self._attempted, case.key) if self._given.attempts else _unheard
                answer = await performed(case, self._work, session, on_attempt, self._given.over)
                if isinstance(answer, Record):
                    self._settle()
                    self._keep(case, answer)
                    continue
                if not self._answered:
                    asyncio.get_running_loop().call_soon(self._settle_after_sending)
                self._answered.append((case, answer))
        except ToolcertError as error:
            await self._fail(error)
        except Exception:
            self._writer.transport.abort()  # a worker that lives keeps its cases: others must have this one
            raise

    def _next_case(self) -> Case:
        leased, tools = self._queue.popleft()
        return leased.case(None if leased.tools is None else tools[leased.tools])

    def _settle_after_sending(self) -> None:
        """Settle in the next turn of the event loop: the requests that were made in the last one go out in this one."""
        asyncio.get_running_loop().call_soon(self._settle)

    def _settle(self) -> None:
        """Judge what was answered."""
        batch, self._answered = self._answered, []
        try:
            for case, record in judged(batch):
                self._keep(case, record)
        except ToolcertError as error:
            self._start(self._fail(error))
        self._tell_in_time()

    def _attempted(self, key: str, attempt: Attempt) -> None:
        self._attempts.append((key, attempt))

    def _keep(self, case: Case, record: Record) -> None:
        try:
            marked = _has_lent_body(record, case)
            line = encode_record(record, body=_MARK if marked else None)
        except Exception as error:  # noqa: BLE001 - not hidden: it becomes the record of the case
            line, marked = encode_record(unjudged(unmeasured(case), error)), False
        self._finished.append(FinishedCase(case.key, line, marked))
        self._size += len(line)
        if len(self._finished) >= BATCH or self._size >= LARGEST_BATCH:
            self._tell()
        elif record.outcome is Outcome.NOT_MEASURED:
            self.tell_soon()  # it may be a reason to send nothing more

    def _tell_in_time(self) -> None:
        """See to it that what was kept is reported."""
        if not (self._queue or self._tasks):
            self.tell_soon()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._tell)

    def _refused(self, retry_after: float | None, news: bool) -> None:
        self._refusals.append(Refusal(retry_after=retry_after, news=news, cut=self._cuts))
        self.tell_soon()

    def tell_soon(self) -> None:
        """Report before the next turn of the loop ends."""
        if not self._urgent:
            self._urgent = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        """Report what came together."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._urgent = None, False
        wants = 0 if self._budget is None else self._budget.wants
        report = Report(
            finished=tuple(self._finished),
            attempts=tuple(self._attempts),
            refusals=tuple(self._refusals),
            answered=self._limiter.answered,
            wants=wants,
            returned=tuple(self._returned),
            obeyed=self._share if self._limiter.in_flight <= self._limiter.limit else 0,
        )
        self._send(report)
        self._finished, self._size, self._attempts, self._refusals, self._returned = [], 0, [], [], []
        self._limiter.answered = 0
        if self._budget is not None:
            self._budget.wants = 0

    def _send(self, report: Report) -> None:
        send(self._writer, report)

    async def _fail(self, error: ToolcertError) -> None:
        """Tell the engine what its user has to mend."""
        self._send(Report(failure=Failure(message=error.message, remedy=error.remedy)))
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def _beat(self) -> None:
        """Send a sign of life, and pause when none comes from the engine."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            silent = loop.time() - self._heard
            if silent > LEAVE_SECONDS:
                self._writer.transport.abort()
            elif silent > QUIET_SECONDS:
                self._limiter.share(0, 0.0, 0.0, cut=False)
            elif self._session is not None:
                self._tell()


def _unheard(attempt: Attempt) -> None:
    """Nobody wants to know of an attempt at once."""


def _has_lent_body(record: Record, case: Case) -> bool:
    """Whether a record holds the body that was lent, as it was lent: the engine has it."""
    exchanges = record.detail.exchanges
    if len(exchanges) != 1 or not isinstance(case.body, EncodedBody):
        return False
    encoded = exchanges[0].encoded
    return encoded is not None and encoded[1] is case.body.json and encoded[0] is exchanges[0].request.body


class RayActor:
    """What Ray starts: the worker has its loop to itself, because none of these methods is asynchronous."""

    def __init__(self, folder: str) -> None:
        """Relative paths of the user start at `folder`, where the command was given."""
        with contextlib.suppress(OSError):
            os.chdir(folder)

    def run(self, assignment: Assignment, work: Work) -> None:
        """Work until the engine no longer needs this worker."""
        from toolcert.http.connection import run

        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        with batch_policy():
            run(RayWorker(assignment, work).serve())
