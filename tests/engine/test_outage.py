"""An endpoint that is gone is not asked for ever, and one that hiccups is."""

from __future__ import annotations

import time

import pytest

from support.probing import probe_models
from toolcert.core.cases import Outcome, Skip, SkipKind
from toolcert.core.exchanges import Exchange, Fault, FaultKind
from toolcert.core.records import Detail, Record
from toolcert.core.requests import Request
from toolcert.engine.outage import OutageWatch
from toolcert.simulate import Vendor


class Clock:
    """Seconds that a test moves on by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(clock: Clock) -> OutageWatch:
    return OutageWatch(cases=3, seconds=10.0, clock=clock)


def met(kind: FaultKind | None, endpoint: str = "e") -> Record:
    """A case that ended with this fault, or with an answer."""
    fault = None if kind is None else Fault(kind=kind, message="nobody there")
    exchange = Exchange(request=Request(body={}), fault=fault)
    outcome = Outcome.PASSED if kind is None else Outcome.NOT_MEASURED
    return Record(case="c", endpoint=endpoint, model="m", outcome=outcome, detail=Detail(exchanges=(exchange,)))


def test_it_takes_enough_cases_and_enough_time(watch: OutageWatch, clock: Clock) -> None:
    for _ in range(10):
        watch.saw(met(FaultKind.CONNECT))
    assert watch.gone("e") is None
    clock.now = 10.0
    watch.saw(met(FaultKind.CONNECT))
    assert watch.gone("e") == Skip(kind=SkipKind.OUTAGE, reason="e does not answer any more (nobody there)")
    assert watch.gone("f") is None


@pytest.mark.parametrize("between", [None, FaultKind.TIMEOUT, FaultKind.RATE_LIMITED])
def test_any_sign_of_life_begins_the_count_anew(watch: OutageWatch, clock: Clock, between: FaultKind | None) -> None:
    """Slow and overloaded servers are there."""
    for kind in (FaultKind.CONNECT, FaultKind.AUTH, between, FaultKind.CONNECT, FaultKind.TLS):
        clock.now += 6.0
        watch.saw(met(kind))
    assert watch.gone("e") is None


@pytest.mark.parametrize("kind", [FaultKind.TIMEOUT, FaultKind.RESET, FaultKind.SERVER_ERROR, FaultKind.RATE_LIMITED])
def test_a_server_that_only_errs_is_borne_ten_times_longer(watch: OutageWatch, clock: Clock, kind: FaultKind) -> None:
    """A gateway says 502 for a dead server; a restart takes minutes."""
    for clock.now in (0.0, 50.0, 99.0):
        watch.saw(met(kind))
    assert watch.gone("e") is None
    clock.now = 100.0
    watch.saw(met(FaultKind.CONNECT))
    assert watch.gone("e") == Skip(kind=SkipKind.OUTAGE, reason="e does not answer any more (nobody there)")


def test_a_server_that_refuses_our_settings_is_not_asked_again_and_again(watch: OutageWatch) -> None:
    """A wrong project stays wrong: no time has to pass."""
    for _ in range(2):
        watch.saw(met(FaultKind.CONFIGURATION))
    assert watch.gone("e") is None
    watch.saw(met(FaultKind.CONFIGURATION))
    assert watch.gone("e") == Skip(kind=SkipKind.OUTAGE, reason="e refuses every request (nobody there)")


def test_one_answer_forgives_all_errors(watch: OutageWatch, clock: Clock) -> None:
    for clock.now, kind in ((0.0, FaultKind.SERVER_ERROR), (60.0, None), (120.0, FaultKind.SERVER_ERROR)):
        watch.saw(met(kind))
    for clock.now in (150.0, 180.0, 210.0):
        watch.saw(met(FaultKind.SERVER_ERROR))
    assert watch.gone("e") is None


def test_by_default_five_cases_and_ten_seconds_without_an_answer_are_enough(clock: Clock) -> None:
    """A server that died in the middle of a dataset holds up nobody for half a minute."""
    watch = OutageWatch(clock=clock)
    for clock.now in (0.0, 3.0, 6.0, 9.0):
        watch.saw(met(FaultKind.CONNECT))
    assert watch.gone("e") is None
    clock.now = 10.0
    watch.saw(met(FaultKind.CONNECT))
    assert watch.gone("e") is not None


def test_a_fault_of_the_request_is_an_answer(watch: OutageWatch, clock: Clock) -> None:
    for clock.now in (0.0, 60.0, 120.0, 180.0):
        watch.saw(met(FaultKind.REJECTED))
    assert watch.gone("e") is None


async def test_a_model_whose_server_asks_for_an_hour_is_asked_once_and_others_go_on() -> None:
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        vendor.outage("429", retry_after=3600, model="text-caller")
        began = time.monotonic()
        probed = await probe_models(
            vendor.url,
            ["text-caller", "faithful"],
            suite="agent",
            iterations=3,
            concurrency=1,
            retries=2,
            watch=OutageWatch(),
        )
        asked = [request.model for request in vendor.requests]
    assert time.monotonic() - began < 20
    assert asked.count("text-caller") == 1
    busy = [record for record in probed.records if record.model == "text-caller"]
    assert {record.skip for record in busy if record.outcome is Outcome.SKIPPED} == {SkipKind.OUTAGE}
    assert any("the server asks for a wait of 3\u202f600 s" in record.reason for record in busy)
    assert all(record.outcome is Outcome.PASSED for record in probed.records if record.model == "faithful")


async def test_a_run_ends_soon_after_its_endpoint_and_says_so() -> None:
    with Vendor(models=["faithful"]) as vendor:
        url = vendor.url
    watch = OutageWatch(cases=5, seconds=0.0)
    probed = await probe_models(url, ["faithful"], suite="agent", iterations=20, concurrency=2, watch=watch)
    skipped = [record for record in probed.records if record.outcome is Outcome.SKIPPED]
    assert len(probed.records) == 100
    assert 5 <= 100 - len(skipped) <= 7
    assert {record.skip for record in skipped} == {SkipKind.OUTAGE}
    assert all("here does not answer any more" in record.reason for record in skipped)
    assert any(f"{len(skipped)} cases were not asked" in line for line in probed.summary.lines)
