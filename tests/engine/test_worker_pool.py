"""Workers that are lent cases: the same records, limits, budget and interrupts as in one process, whoever dies."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.exceptions import InvalidTag

from support.http_servers import Dialogue, serving
from support.rows import TIME, WEATHER, row, write_rows
from support.verifying import records, run, timeless
from toolcert.api.endpoint import Endpoint
from toolcert.api.verify import verify_job
from toolcert.core.cases import Case, Outcome, SkipKind
from toolcert.core.errors import ClusterError, ConfigurationError, InputError, UnreachableError
from toolcert.core.events import AttemptMade, CaseFinished, CaseStarted, Event, Handler, RunStopping
from toolcert.core.findings import LOST_WITH_WORKER
from toolcert.core.records import Record
from toolcert.core.requests import SharedTools
from toolcert.core.secrets import Secret
from toolcert.core.values import Value
from toolcert.engine import ray_cluster, ray_engine, ray_worker
from toolcert.engine.outage import OutageWatch
from toolcert.engine.ray_engine import WorkerPool
from toolcert.engine.ray_worker import (
    FinishedCase,
    Hello,
    LeasedCase,
    Orders,
    RayWorker,
    Refusal,
    Report,
    frame,
    key_pair,
    read_frame,
    seal,
    unseal,
)
from toolcert.http.connection import run as run_on_uvloop
from toolcert.http.retry import RetryPolicy
from toolcert.runs.encoding import Keep, decode_record, encode_record, record_of
from toolcert.simulate import Vendor
from toolcert.verification.run.job import VerifyRun
from toolcert.verification.run.row_plan import VerifyWork
from toolcert.verification.verify_options import VerifyOptions

Start = Callable[[WorkerPool], Any]


async def worker(pool: WorkerPool) -> None:
    """A worker as Ray starts one, but in this process: only what can be pickled reaches it."""
    given, work = pickle.loads(pickle.dumps((pool.assignment(), pool.work)))
    await RayWorker(given, work).serve()


async def on_workers(
    dataset: str,
    url: str,
    output: Path,
    *,
    workers: Sequence[Start] = (worker, worker),
    endpoint: dict[str, Any] | None = None,
    handlers: Sequence[Handler] = (),
    policy: RetryPolicy | None = None,
    **options: Any,
) -> VerifyRun:
    """One run into a folder, asked by workers."""
    given = Endpoint(url, **(endpoint or {}))
    with verify_job(
        dataset, given, VerifyOptions(**({"model": "faithful", "engine": "ray"} | options), output=str(output))
    ) as job:
        limit = options.get("max_requests")
        pool = WorkerPool(job.spec, given.key, VerifyWork(job.shaping), max_requests=limit, policy=policy)
        pool.planned = len(workers)
        async with working(pool, workers):
            return await job.run(pool, output, handlers)


@contextlib.asynccontextmanager
async def working(pool: WorkerPool, workers: Sequence[Start]) -> AsyncIterator[None]:
    await pool.open("127.0.0.1")
    tasks = [asyncio.create_task(start(pool)) for start in workers]
    try:
        await pool.first_worker()
        yield
    finally:
        await pool.close()
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in ended:
        if error is not None and not isinstance(error, OSError | EOFError | asyncio.CancelledError):
            raise error


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - the pool has no event for it
        await asyncio.sleep(0.005)


def dataset_of(folder: Path, rows: int = 60) -> str:
    return write_rows(folder / "d.jsonl", [row(n) for n in range(rows)])


def told(folder: Path) -> list[Any]:
    """What a run recorded, without the clock."""
    shown = []
    for one in records(folder):
        facts = None if one.row is None else msgspec.structs.replace(one.row, seconds=None, first_token=None)
        detail = msgspec.to_builtins(one.detail)
        for exchange in detail.get("exchanges", ()):
            exchange.pop("attempts"), exchange.pop("headers", None), exchange.pop("payload", None)
            exchange["arrivals"] = "arrivals" in exchange
        shown.append((one.case, one.outcome, one.reason, one.codes, one.skip, facts, detail))
    return shown


class KeptExchange(Value):
    request: msgspec.Raw


class KeptDetail(Value):
    exchanges: tuple[KeptExchange, ...] = ()


class KeptLine(Value):
    case: str
    detail: KeptDetail = KeptDetail()


def requests_in(folder: Path) -> dict[str, list[bytes]]:
    """The requests of a run by their cases, as they are written."""
    read = [msgspec.json.decode(line, type=KeptLine) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    return {line.case: [bytes(one.request) for one in line.detail.exchanges] for line in read}


STRANGE = [
    row(1),
    row(1),
    row(2, tools=[WEATHER, TIME], stream=True),
    row(3, seed=2**70),
    row(4, tools={"not": "a list"}),
    row(5, tools=None),
    "not JSON",
    [1, 2],
    {"messages": []},
    row(6, toolcert={"id": "six", "tags": ["a", "b"], "expect": {"calls": [{"name": "get_weather"}]}}),
    row(7, messages=[{"role": "user", "content": "Wetter in Köln?\u2028 \x7f \U0001f600"}]),
]


async def test_workers_record_what_one_process_records(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", STRANGE)
    with Vendor(models=["faithful"]) as vendor:
        there = await on_workers(dataset, vendor.url, tmp_path / "there")
        here = await asyncio.to_thread(run, dataset, vendor.url, tmp_path / "here")
    assert told(tmp_path / "there") == told(tmp_path / "here")
    assert requests_in(tmp_path / "there") == requests_in(tmp_path / "here")
    assert timeless(there.summary) == timeless(here.summary)
    assert there.notices == ("Ray: 2 workers on 1 machine.",)


def test_a_record_gets_the_body_that_was_lent_and_nothing_else_is_changed() -> None:
    tools = SharedTools([WEATHER])
    sent = row(1, messages=[{"role": "user", "content": '\0 "body":\0 \t\n'}], tools=tools)
    bare = Case(key="k", endpoint="e", model="m")
    lent = LeasedCase.of(bare, sent, 0)
    assert b"get_weather" not in lent.before + lent.after
    assert lent.body(tools) == msgspec.json.encode(sent)
    assert lent.case(tools) == msgspec.structs.replace(bare, body=sent)
    line = b'{"case":"k","detail":{"exchanges":[{"request":{"body":\0},"response":{"text":"\0"}}]}}'
    whole = line.replace(b'"body":\0', b'"body":' + msgspec.json.encode(sent))
    assert FinishedCase("k", line, marked=True).with_body(lent.body(tools)) == whole
    assert FinishedCase("k", line).with_body(lent.body(tools)) == line


async def test_an_answer_of_any_depth_costs_its_case_and_not_the_run(tmp_path: Path) -> None:
    """Which depth a parser takes depends on where it is called from: here or in a worker."""
    depths = iter(range(800, 1010, 2))

    async def refuse(dialogue: Dialogue) -> None:
        while await dialogue.request():
            depth = next(depths)
            body = b'{"error":' + b"[" * depth + b"]" * depth + b"}"
            await dialogue.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    async with serving(refuse) as server:
        result = await on_workers(dataset_of(tmp_path, 105), server.url("/v1"), tmp_path / "run")
    assert result.summary.rows.not_measured == 105


async def test_tool_lists_are_forgotten_when_there_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "_MOST_TOOLSETS", 3)
    monkeypatch.setattr(ray_engine, "MOST_DEALT", 5)
    named = [{"type": "function", "function": {**WEATHER["function"], "name": f"w{n % 17}"}} for n in range(60)]
    dataset = write_rows(tmp_path / "d.jsonl", [row(n, tools=[tool]) for n, tool in enumerate(named)])
    with Vendor(models=["faithful"]) as vendor:
        await on_workers(dataset, vendor.url, tmp_path / "there")
        await asyncio.to_thread(run, dataset, vendor.url, tmp_path / "here")
    assert told(tmp_path / "there") == told(tmp_path / "here")
    offered = {one.row.offered for one in records(tmp_path / "there") if one.row is not None}
    assert offered == {(f"w{n}",) for n in range(17)}


@pytest.mark.parametrize("keep", list(Keep))
async def test_a_run_keeps_as_much_as_it_is_told(tmp_path: Path, keep: Keep) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", STRANGE)
    with Vendor(models=["faithful"]) as vendor:
        await on_workers(dataset, vendor.url, tmp_path / "there", keep=keep)
        await asyncio.to_thread(run, dataset, vendor.url, tmp_path / "here", keep=keep)
    assert told(tmp_path / "there") == told(tmp_path / "here")


@pytest.mark.heavy
async def test_a_worker_that_vanishes_costs_only_what_it_had_in_hand(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 300)
    doomed: list[asyncio.Task[None]] = []
    finished = 0

    async def mortal(pool: WorkerPool) -> None:
        doomed.append(asyncio.create_task(worker(pool)))
        await doomed[0]

    def kill(event: Event) -> None:
        nonlocal finished
        finished += isinstance(event, CaseFinished)
        if finished == 100:
            doomed[0].cancel()

    with Vendor(models=["faithful"], latency=0.002) as vendor:
        result = await on_workers(
            dataset,
            vendor.url,
            tmp_path / "run",
            workers=(worker, mortal),
            handlers=[kill],
            endpoint={"concurrency": 8},
        )
        asked = len(vendor.requests)
    indices = [one.row.index for one in records(tmp_path / "run") if one.row]
    assert indices == list(range(1, 301))
    assert result.summary.rows.passed == 300
    assert asked - 300 <= 4 + ray_worker.BATCH
    assert "1 worker died" in result.notices[-1]
    assert "given to others. Requests sent for them before are in no record." in result.notices[-1]


async def test_a_budget_is_that_of_all_workers(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 80)
    with Vendor(models={"faithful": "fault:transport.server_error"}) as vendor:
        await on_workers(
            dataset, vendor.url, tmp_path / "run", max_requests=31, policy=RetryPolicy.without_waits(retries=2)
        )
        assert len(vendor.requests) == 31
    found = records(tmp_path / "run")
    assert len(found) == 80
    over = [one for one in found if one.skip is SkipKind.BUDGET]
    assert len(over) >= 80 - 31
    assert {one.reason.partition(" after: ")[0] for one in over} == {"the limit of 31 requests was reached"}


async def test_the_concurrency_of_an_endpoint_is_divided_among_workers(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 60)
    with Vendor(models=["faithful"], latency=0.01, capacity=6) as vendor:
        await on_workers(dataset, vendor.url, tmp_path / "run", workers=[worker] * 3, endpoint={"concurrency": 6})
    # The vendor refuses the seventh at a time.
    assert {one.row.attempts for one in records(tmp_path / "run") if one.row} == {1}


@pytest.mark.heavy
async def test_a_refusal_anywhere_slows_all_workers(tmp_path: Path) -> None:
    dataset, refused = dataset_of(tmp_path, 600), 0

    def count(event: Event) -> None:
        nonlocal refused
        refused += isinstance(event, AttemptMade) and event.attempt.status == 429

    policy = RetryPolicy(retries=20, base=0.002, cap=0.02)
    with Vendor(models=["faithful"], latency=0.005, capacity=3) as vendor:
        result = await on_workers(
            dataset,
            vendor.url,
            tmp_path / "run",
            workers=[worker] * 4,
            endpoint={"concurrency": 32},
            handlers=[count],
            policy=policy,
        )
    assert result.summary.rows.passed == 600
    assert refused < 600, "900 where the others do not hear of it"


async def test_more_workers_than_places_leave_no_row_behind(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 30)
    with Vendor(models=["faithful"], capacity=1, latency=0.001) as vendor:
        result = await on_workers(
            dataset,
            vendor.url,
            tmp_path / "run",
            workers=[worker] * 5,
            endpoint={"concurrency": 2},
            policy=RetryPolicy(retries=20, base=0.002, cap=0.01),
        )
    assert result.summary.rows.passed == 30


async def test_a_worker_that_joins_gets_what_others_have_freed(tmp_path: Path) -> None:
    """The vendor refuses the seventh request at a time; each takes long beside the time that joining takes."""

    async def later(pool: WorkerPool) -> None:
        await asyncio.sleep(0.15)
        await worker(pool)

    with Vendor(models=["faithful"], latency=0.1, capacity=6) as vendor:
        await on_workers(
            dataset_of(tmp_path, 60), vendor.url, tmp_path / "run", workers=(worker, later), endpoint={"concurrency": 6}
        )
    assert {one.row.attempts for one in records(tmp_path / "run") if one.row} == {1}


@pytest.mark.heavy
async def test_requests_per_minute_are_divided_among_workers(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 12)
    with Vendor(models=["faithful"]) as vendor:
        began = time.time()
        result = await on_workers(dataset, vendor.url, tmp_path / "run", endpoint={"rpm": 1200})
        assert result.summary.rows.passed == 12
    assert max(one.at for one in records(tmp_path / "run")) - began >= 9 * 0.05  # 20 a second, two of them at once


@pytest.mark.heavy
async def test_an_interrupt_ends_the_run_and_the_next_goes_on(tmp_path: Path) -> None:
    dataset, pressed = dataset_of(tmp_path, 400), False

    def press(event: Event) -> None:
        nonlocal pressed
        if isinstance(event, CaseFinished) and not pressed:
            pressed = True
            os.kill(os.getpid(), signal.SIGINT)

    with Vendor(models=["faithful"], latency=0.005) as vendor:
        first = await on_workers(dataset, vendor.url, tmp_path / "run", handlers=[press])
        before = len(vendor.requests)
        assert first.interrupted
        assert before < 400
        second = await on_workers(dataset, vendor.url, tmp_path / "run")
        assert len(vendor.requests) == 400
    assert not second.interrupted
    assert second.summary.rows.passed == 400


async def test_an_endpoint_that_is_not_there_ends_the_run_early(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match="first 20 rows"):
        await on_workers(
            dataset_of(tmp_path), "http://127.0.0.1:9", tmp_path / "run", policy=RetryPolicy.without_waits(0)
        )


async def test_a_key_without_a_variable_is_sealed_for_the_worker(tmp_path: Path) -> None:
    key = "sk-sealed-0123456789abcdef"
    endpoint = {"api_key": Secret(key, source="the prompt")}
    with Vendor(models=["faithful"], api_key=key) as vendor:
        result = await on_workers(dataset_of(tmp_path, 5), vendor.url, tmp_path / "run", endpoint=endpoint)
    assert result.summary.rows.passed == 5


async def test_a_key_in_a_variable_travels_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TEST_KEY", "sk-by-name-0123456789")
    monkeypatch.setattr(ray_engine, "seal", lambda *_: pytest.fail("nothing is to be sealed"))
    endpoint = {"api_key": Secret("sk-by-name-0123456789", source="MY_TEST_KEY")}
    with Vendor(models=["faithful"], api_key="sk-by-name-0123456789") as vendor:
        result = await on_workers(dataset_of(tmp_path, 5), vendor.url, tmp_path / "run", endpoint=endpoint)
    assert result.summary.rows.passed == 5


def test_what_is_sealed_shows_nothing_and_opens_for_its_worker_alone() -> None:
    private, public = key_pair()
    sealed = seal({"": "sk-very-secret"}, public)
    assert b"sk-very-secret" not in frame(Orders(sealed=sealed))
    assert unseal(sealed, private) == {"": "sk-very-secret"}
    with pytest.raises(InvalidTag):
        unseal(sealed, key_pair()[0])


async def test_without_encryption_a_worker_that_lacks_the_key_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_worker, "key_pair", lambda: (None, b""))
    endpoint = {"api_key": Secret("sk-0123456789", source="the prompt")}
    with pytest.raises(ConfigurationError, match="lacks the key"):
        await on_workers(dataset_of(tmp_path, 2), "http://127.0.0.1:9", tmp_path / "run", endpoint=endpoint)


STRANGERS = {
    "an empty message": bytes(4),
    "no UTF-8": b"\x00\x00\x00\x03\x81\xa1\xff",
    "noise": b"\xff\xff\xff\xff\x00\x01\x02",
    "a web browser": b"GET / HTTP/1.1\r\n\r\n",
    "no message": b"\x00\x00\x00\x03abc",
    "a deep message": (60_003).to_bytes(4, "big") + b"\x81\xa1z" + b"\x91" * 60_000,
    "a long message": (100_000).to_bytes(4, "big") + bytes(100_000),
    "another token": frame(Report(hello=Hello(token="guessed", toolcert="0", machine="m"))),
    "a token that is no ASCII": frame(Report(hello=Hello(token="é", toolcert="0", machine="m"))),
    "no hello": frame(Report(ready=True, finished=(FinishedCase("k", b"{}\n"),))),
}


@pytest.mark.sampled
@pytest.mark.parametrize("words", STRANGERS.values(), ids=STRANGERS)
async def test_a_stranger_at_the_door_is_turned_away(tmp_path: Path, words: bytes) -> None:
    answered: list[bytes] = []

    async def stranger(pool: WorkerPool) -> None:
        reader, writer = await asyncio.open_connection(*pool._address)
        writer.write(words)
        writer.write_eof()
        with contextlib.suppress(ConnectionError):
            answered.append(await reader.read())

    with Vendor(models=["faithful"]) as vendor:
        result = await on_workers(
            dataset_of(tmp_path, 20), vendor.url, tmp_path / "run", workers=(worker, stranger), policy=RetryPolicy()
        )
    assert result.summary.rows.passed == 20
    assert not any(answered)


async def hello(pool: WorkerPool, version: str = ray_engine.__version__) -> tuple[Any, Any]:
    """The first steps of a worker, by hand."""
    reader, writer = await asyncio.open_connection(*pool._address)
    greeting = Hello(token=pool.assignment().token, toolcert=version, machine="elsewhere")
    writer.write(frame(Report(hello=greeting)))
    await read_frame(reader)
    writer.write(frame(Report(ready=True)))
    return reader, writer


@pytest.mark.heavy
async def test_a_worker_that_falls_silent_loses_its_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "SILENT_SECONDS", 3.0)
    monkeypatch.setattr(ray_engine, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(ray_worker, "BEAT_SECONDS", 0.1)

    async def silent(pool: WorkerPool) -> None:
        await hello(pool)
        await asyncio.sleep(60)

    async def later(pool: WorkerPool) -> None:
        await asyncio.sleep(0.1)
        await worker(pool)

    with Vendor(models=["faithful"]) as vendor:
        result = await on_workers(
            dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", workers=(silent, later), policy=RetryPolicy()
        )
    assert result.summary.rows.passed == 40
    assert "1 worker died" in result.notices[-1]


async def test_a_record_of_a_case_that_another_worker_has_is_dropped(tmp_path: Path) -> None:
    async def liar(pool: WorkerPool) -> None:
        reader, writer = await hello(pool)
        while not any(link.leases for link in pool._links):
            await read_frame(reader)
        foreign = {"case": "other", "endpoint": "e", "model": "m", "outcome": "passed"}
        writer.write(frame(Report(finished=(FinishedCase("other", json.dumps(foreign).encode() + b"\n"),) * 2)))
        await asyncio.sleep(0.05)
        writer.close()

    with Vendor(models=["faithful"]) as vendor:
        await on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", workers=(liar, worker))
    cases = [one.case for one in records(tmp_path / "run")]
    assert len(cases) == len(set(cases)) == 40
    assert "other" not in cases


async def test_a_record_that_arrives_after_its_worker_was_given_up_is_dropped(tmp_path: Path) -> None:
    """The case is another's by then, and would be recorded twice."""

    async def late(pool: WorkerPool) -> None:
        reader, _ = await hello(pool)
        while not any(link.leases for link in pool._links):
            await read_frame(reader)
        link = next(link for link in pool._links if link.machine == "elsewhere")
        late = [(key, Record(case=key, endpoint="e", model="m", outcome=Outcome.PASSED)) for key in link.leases]
        pool._leave(link)
        pool._take(link, Report(), late)

    with Vendor(models=["faithful"]) as vendor:
        await on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", workers=(late, worker))
    assert [one.row.index for one in records(tmp_path / "run") if one.row] == list(range(1, 41))
    assert len((tmp_path / "run/records.jsonl").read_bytes().splitlines()) == 40


def test_nothing_is_sent_to_a_worker_whose_connection_broke(tmp_path: Path) -> None:
    """uvloop raises where one writes to it before the loss is noticed."""
    tried: list[bool] = []

    async def broken(pool: WorkerPool) -> None:
        reader, _ = await hello(pool)
        await read_frame(reader)
        link = next(link for link in pool._links if link.machine == "elsewhere")
        link._writer.transport.abort()
        while link in pool._links:
            link.send(Orders())
            await asyncio.sleep(0)
        link.send(Orders())
        tried.append(True)

    with Vendor(models=["faithful"]) as vendor:
        run_on_uvloop(on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", workers=(broken, worker)))
    assert tried
    assert [one.row.index for one in records(tmp_path / "run") if one.row] == list(range(1, 41))


async def test_a_case_that_takes_three_workers_along_is_given_up(tmp_path: Path) -> None:
    async def mortal(pool: WorkerPool) -> None:
        for _ in range(ray_engine.MOST_LOSSES):
            reader, writer = await hello(pool)
            while not any(link.leases for link in pool._links):
                await read_frame(reader)
            writer.close()
            await asyncio.sleep(0.02)

    with Vendor(models=["faithful"]) as vendor:
        result = await on_workers(dataset_of(tmp_path, 1), vendor.url, tmp_path / "run", workers=(mortal,))
        given_up = records(tmp_path / "run")
        again = await on_workers(dataset_of(tmp_path, 1), vendor.url, tmp_path / "run")
    assert [one.outcome for one in given_up] == [Outcome.NOT_MEASURED]
    assert [one.codes for one in given_up] == [(LOST_WITH_WORKER,)]
    assert result.summary.bugs == 0, "nobody knows that it was one"
    assert result.summary.not_measured_by == {"lost_with_worker": 1}
    assert result.notices[-1] == "1 case not measured: 3 workers died over it."
    assert again.summary.rows.passed == 1, "the next run asks it again"


async def test_a_run_whose_cases_all_take_their_workers_along_is_stopped(tmp_path: Path) -> None:
    async def mortal(pool: WorkerPool) -> None:
        while True:
            reader, writer = await hello(pool)
            while not any(link.leases for link in pool._links):
                await read_frame(reader)
            writer.close()
            await asyncio.sleep(0)

    with pytest.raises(ClusterError) as stopped:
        await on_workers(dataset_of(tmp_path, 60), "http://127.0.0.1:9", tmp_path / "run", workers=(mortal,))
    assert "20 of the 20 cases that were asked are given up, because 3 workers died over each" in stopped.value.message
    assert "the same command goes on" in stopped.value.remedy
    assert [one.codes for one in records(tmp_path / "run")] == [(LOST_WITH_WORKER,)] * 20


def test_variables_for_a_ray_of_our_own_are_gone_once_it_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_LOG_MONITOR_MANY_FILES_THRESHOLD", "7")
    monkeypatch.delenv("LOG_NAME_UPDATE_INTERVAL_S", raising=False)
    before = dict(os.environ)
    with ray_cluster._variables(ray_cluster._OWN_RAY):
        assert os.environ["LOG_NAME_UPDATE_INTERVAL_S"] == "3600"
        assert os.environ["RAY_LOG_MONITOR_MANY_FILES_THRESHOLD"] == "7", "the user's own stays"
    assert dict(os.environ) == before


async def test_a_pause_of_the_machine_does_not_starve_a_worker(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:

        async def look(pool: WorkerPool) -> None:
            await until(lambda: bool(pool._links))
            link = pool._links[0]
            link.rate, link._counted, link._counted_since = 2000.0, 0, time.monotonic() - 60.0
            link.count(1)
            assert link.rate == 1000.0
            link._counted_since = time.monotonic() - 1.0
            link.count(5000)
            assert link.rate == pytest.approx(5000.0, rel=0.1)
            looked.append(True)

        looked: list[bool] = []
        await on_workers(dataset_of(tmp_path, 4), vendor.url, tmp_path / "run", workers=(worker, look))
    assert looked


async def test_a_case_that_kills_its_workers_takes_no_other_along(tmp_path: Path) -> None:
    class Mortal(RayWorker):
        def _next_case(self) -> Case:
            case = super()._next_case()
            if case.index == 7:
                self._writer.transport.abort()
            return case

    async def mortal(pool: WorkerPool) -> None:
        while True:
            await Mortal(pool.assignment(), pool.work).serve()

    with Vendor(models=["faithful"]) as vendor:
        result = await on_workers(dataset_of(tmp_path), vendor.url, tmp_path / "run", workers=(mortal, mortal))
    lost = [one.row.index for one in records(tmp_path / "run") if one.row and one.outcome is not Outcome.PASSED]
    assert lost == [7]
    assert result.summary.rows.passed == 59


async def test_a_worker_that_has_no_place_any_more_gets_no_case_that_others_died_over(tmp_path: Path) -> None:
    async def lasting(pool: WorkerPool) -> None:
        while True:
            await worker(pool)

    async def misfortune(pool: WorkerPool) -> None:
        await until(lambda: len(pool._links) == 3 and all(link.leases for link in pool._links))
        pool._losses.update(dict.fromkeys(pool._links[2].leases, ray_engine.MOST_LOSSES - 2))
        pool._links[2].close()
        await until(lambda: any(link.alone and len(link.leases) == 1 for link in pool._links))
        for _ in range(2):
            refusal = Refusal(retry_after=None, news=True, cut=pool._cuts)
            pool._take(pool._links[0], Report(refusals=(refusal,)), [])
        assert pool._limit.limit == 1

    workers = (lasting, lasting, lasting, misfortune)
    with Vendor(models=["faithful"], latency=0.2) as vendor:
        asked = on_workers(
            dataset_of(tmp_path, 7), vendor.url, tmp_path / "run", workers=workers, endpoint={"concurrency": 3}
        )
        done = await asyncio.wait_for(asked, 20)
    assert done.summary.rows.passed == 7
    assert any("lost twice" in notice for notice in done.notices)


@pytest.mark.parametrize("rows", [400, 150], ids=["in the middle", "at the end"])
async def test_cases_that_were_lent_are_handed_back_in_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr("toolcert.verification.run.job.OutageWatch", lambda: OutageWatch(cases=5, seconds=0.0))
    monkeypatch.setattr(ray_engine, "LEAST_AHEAD", 100)
    with Vendor(models=["faithful"], latency=0.01) as vendor:
        vendor.outage("402", after=50)
        endpoint = {"concurrency": 4, "retries": 0}
        done = await on_workers(dataset_of(tmp_path, rows), vendor.url, tmp_path / "run", endpoint=endpoint)
        assert len(vendor.requests) < 100
    found = done.summary.rows
    assert (found.lines, found.answered, found.answered + found.not_measured + found.skipped) == (rows, 50, rows)
    assert 5 <= found.not_measured < 50


RUBBISH = {
    "no JSON": b"{rubbish\n",
    "no UTF-8": b'{"case":"\xff"}\n',
    "no end": b'{"case":"KEY","endpoint":"e","model":"m","outcome":"passed"}',
    "two lines": b'{"case":"KEY","endpoint":"e",\n"model":"m","outcome":"passed"}\n',
    "another case": b'{"case":"k","endpoint":"e","model":"m","outcome":"passed"}\n',
    "a carriage return": b'{"case":"KEY","endpoint":"e","model":"m",\r"outcome":"passed"}\n',
    "deep": b'{"case":"KEY","z":' + b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("rubbish", RUBBISH.values(), ids=RUBBISH)
async def test_a_worker_that_sends_rubbish_loses_its_cases_and_no_row_is_lost(tmp_path: Path, rubbish: bytes) -> None:
    async def confused(pool: WorkerPool) -> None:
        reader, writer = await hello(pool)
        while not (leased := [key for link in pool._links for key in link.leases]):
            await read_frame(reader)
        fine = {"case": leased[0], "endpoint": "e", "model": "m", "outcome": "passed"}
        lines = json.dumps(fine).encode() + b"\n", rubbish.replace(b"KEY", leased[-1].encode())
        sent = tuple(FinishedCase(key, line) for key, line in zip((leased[0], leased[-1]), lines, strict=True))
        writer.write(frame(Report(finished=sent)))
        await reader.read()

    with Vendor(models=["faithful"]) as vendor:
        result = await on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", workers=(confused, worker))
    assert [one.row.index for one in records(tmp_path / "run") if one.row] == list(range(1, 41))
    assert result.summary.rows.passed == 40
    assert "1 worker died" in result.notices[-1]


async def test_a_handler_that_fails_ends_the_run_with_its_error(tmp_path: Path) -> None:
    def full(event: Event) -> None:
        if isinstance(event, CaseFinished):
            raise OSError(28, "No space left on device")

    with Vendor(models=["faithful"]) as vendor, pytest.raises(OSError, match="No space left"):
        await on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", handlers=[full])


@pytest.mark.parametrize("kind", [CaseStarted, AttemptMade])
@pytest.mark.parametrize("error", [ZeroDivisionError, BrokenPipeError])
async def test_a_handler_that_fails_on_any_event_ends_the_run_with_its_error(
    tmp_path: Path, kind: type, error: type[Exception]
) -> None:
    def broken(event: Event) -> None:
        if isinstance(event, kind):
            raise error("the handler's own")

    with Vendor(models=["faithful"]) as vendor, pytest.raises(error, match="the handler's own"):
        await on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", handlers=[broken])


def run_on_workers(dataset: str, url: str, output: Path) -> VerifyRun:
    return asyncio.run(on_workers(dataset, url, output))


@pytest.mark.parametrize("asking", [run_on_workers, run])
def test_all_that_was_asked_before_the_damage_of_a_dataset_is_kept(tmp_path: Path, asking: Callable[..., Any]) -> None:
    rows = [row(n, messages=[{"role": "user", "content": f"Weather in Paris? {n} {'-' * 4000}"}]) for n in range(300)]
    whole = gzip.compress(Path(write_rows(tmp_path / "whole.jsonl", rows)).read_bytes(), 0)
    damaged = tmp_path / "d.jsonl.gz"
    damaged.write_bytes(whole[: len(whole) // 4])
    with Vendor(models=["faithful"], latency=0.05) as vendor:
        with pytest.raises(InputError, match="stops being readable after line"):
            asking(str(damaged), vendor.url, tmp_path / "run")
        asked = len(vendor.requests)
    assert 0 < asked < 300
    assert [one.row.index for one in records(tmp_path / "run") if one.row] == list(range(1, asked + 1))


@pytest.mark.heavy
async def test_a_second_interrupt_ends_the_run_at_once(tmp_path: Path) -> None:
    def press(event: Event) -> None:
        if isinstance(event, CaseFinished | RunStopping):
            os.kill(os.getpid(), signal.SIGINT)

    with Vendor(models=["faithful"], latency=0.01) as vendor:
        vendor.outage("timeout", after=1)
        began = time.monotonic()
        result = await on_workers(dataset_of(tmp_path, 40), vendor.url, tmp_path / "run", handlers=[press])
    assert result.interrupted
    assert time.monotonic() - began < 4.0


async def test_another_version_of_toolcert_is_refused(tmp_path: Path) -> None:
    async def older(pool: WorkerPool) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await hello(pool, "0.0.1")

    with pytest.raises(ClusterError, match=r"elsewhere has toolcert 0\.0\.1"):
        await on_workers(dataset_of(tmp_path, 1), "http://127.0.0.1:9", tmp_path / "run", workers=(older,))


async def test_without_any_worker_the_run_ends_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "JOIN_SECONDS", 0.1)
    monkeypatch.setattr(ray_engine, "BEAT_SECONDS", 0.1)
    with pytest.raises(ClusterError, match="no worker of the Ray cluster"):
        await on_workers(dataset_of(tmp_path, 1), "http://127.0.0.1:9", tmp_path / "run", workers=())


async def test_an_adapter_of_ones_own_is_loaded_by_each_worker(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from toolcert.verification.adapters import ModelAdapter\n\n\n"
        "class Mine(ModelAdapter):\n"
        "    def transform_messages(self, messages):\n"
        "        return [{'role': 'system', 'content': 'Mine.'}, *messages]\n"
    )
    with Vendor(models=["faithful"]) as vendor:
        await on_workers(dataset_of(tmp_path, 4), vendor.url, tmp_path / "run", adapter=f"{file}:Mine")
        assert {entry.body["messages"][0]["content"] for entry in vendor.requests} == {"Mine."}


async def test_a_worker_that_cannot_open_the_endpoint_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no dialect"):
        await on_workers(
            dataset_of(tmp_path, 2), "http://127.0.0.1:9", tmp_path / "run", endpoint={"dialect": "openay"}
        )


async def test_evidence_that_came_as_a_line_is_there_when_it_is_asked_for(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        await asyncio.to_thread(run, dataset_of(tmp_path, 1), vendor.url, tmp_path / "run")
    line = (tmp_path / "run/records.jsonl").read_bytes()
    late, whole = record_of(line), decode_record(line)
    assert encode_record(late) == line
    assert late.detail.exchanges == whole.detail.exchanges
    changed = msgspec.structs.replace(late, reason="another")
    assert encode_record(changed) == encode_record(msgspec.structs.replace(whole, reason="another"))


@pytest.mark.heavy
def test_without_ray_the_engine_says_how_to_install_it(tmp_path: Path) -> None:
    code = "import sys; sys.modules['ray'] = None; from toolcert.__main__ import main; main()"
    words = ["verify", dataset_of(tmp_path, 1), "--base-url", "http://127.0.0.1:9", "-m", "m", "--engine", "ray"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: --engine ray needs Ray.")
    assert "pip install '.[ray]'" in done.stderr
    assert "Traceback" not in done.stderr
