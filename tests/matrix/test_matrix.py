"""Every fault that can be simulated, over real HTTP: exactly its findings, streamed and not; a faithful vendor none."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator

import pytest

from toolcert.core.cases import Case, Outcome
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding, codes_of
from toolcert.core.records import Record
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec, Timeouts
from toolcert.diagnose import catalogue, examine, kind_of
from toolcert.endpoints.registry import open_endpoint
from toolcert.endpoints.session import EndpointSession
from toolcert.probes.base import all_probes
from toolcert.probes.run.live_conversation import ProbeWork
from toolcert.protocol.reply import read_reply
from toolcert.simulate import Vendor, situations
from toolcert.simulate.fault_matrix import SHOWN_ELSEWHERE, VARIANTS, matrix
from toolcert.simulate.faults import Fault, Mode, SeenBy, all_faults
from toolcert.simulate.situations import Situation

FAITHFUL = "faithful"
FAULTS = list(all_faults())
SHOWN_BY_ONE_ANSWER = [fault for fault in FAULTS if fault.seen_by is SeenBy.EXCHANGE]
SHOWN_BY_A_PROBE = [fault for fault in FAULTS if fault.seen_by is SeenBy.PROBE]
SHOWN_BY_COMPARING = [fault for fault in FAULTS if fault.seen_by is SeenBy.COMPARISON]
SITUATIONS = [value for value in vars(situations).values() if isinstance(value, Situation)]
OPENINGS = (
    "",
    "please, ",
    "now, ",
    "well, ",
    "so, ",
    "again, ",
    "today, ",
    "quickly, ",
    "then, ",
    "also, ",
    "kindly, ",
)
PATIENT = Timeouts(connect=10, read=30, between_chunks=30, total=60)
IMPATIENT = Timeouts(connect=10, read=0.4, between_chunks=0.4, total=5)
PROBES = [probe.name for probe in all_probes()]


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(latency=0.0, seed=1) as running:
        yield running


def opened(vendor: Vendor, timeouts: Timeouts = PATIENT) -> EndpointSession:
    return open_endpoint(EndpointSpec(name="simulated", base_url=vendor.url, retries=0, timeouts=timeouts))


async def answer(vendor: Vendor, model: str, situation: Situation, mode: Mode) -> Exchange:
    timeouts = IMPATIENT if model == "fault:transport.timeout" else PATIENT
    request = Request(body=situation.request(model, stream=mode is Mode.STREAM))
    async with opened(vendor, timeouts) as session:
        return await session.ask(request)


def asked_as(situation: Situation, opening: str) -> Situation:
    """The situation with other words before its question."""
    (question,) = situation.body["messages"]
    messages = [{**question, "content": opening + question["content"]}]
    return Situation(name=situation.name, body={**situation.body, "messages": messages})


def found(exchange: Exchange) -> tuple[Finding, ...]:
    return examine(exchange, None if exchange.fault is not None else read_reply(exchange))


def codes(exchange: Exchange) -> set[str]:
    return set(codes_of(found(exchange)))


def folded(findings: Iterable[Finding]) -> set[tuple[str, str | None]]:
    """What follows from another finding, with the code of that one."""
    return {(one.code, one.because_of) for one in findings if one.because_of is not None}


def companions(fault: Fault) -> set[tuple[str, str]]:
    return {(code, fault.code) for code in fault.companions}


async def probed(vendor: Vendor, model: str, probe: str) -> Record:
    case = Case(key=f"{model}/{probe}/1", endpoint="simulated", model=model, probe=probe, iteration=1)
    async with opened(vendor) as session:
        return await ProbeWork().perform(case, session, lambda _attempt: None)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("situation", SITUATIONS, ids=[one.name for one in SITUATIONS])
async def test_a_faithful_vendor_yields_nothing(vendor: Vendor, situation: Situation, mode: Mode) -> None:
    exchange = await answer(vendor, FAITHFUL, situation, mode)
    refused = situation is situations.WRONG_ID
    assert codes(exchange) == ({"transport.rejected"} if refused else set())


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("fault", SHOWN_BY_ONE_ANSWER, ids=[fault.code for fault in SHOWN_BY_ONE_ANSWER])
async def test_one_answer_shows_exactly_the_fault(vendor: Vendor, fault: Fault, mode: Mode) -> None:
    """Its finding is alone, or the others are folded under it; in modes it does not touch, the vendor is faithful."""
    findings = found(await answer(vendor, fault.model, fault.situation, mode))
    touched = mode in fault.modes
    assert set(codes_of(findings)) == ({fault.code} if touched else set())
    assert folded(findings) == (companions(fault) if touched else set())


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.model for variant in VARIANTS])
async def test_every_variant_of_a_fault_shows_the_same(vendor: Vendor, variant) -> None:
    for mode in variant.modes:
        assert codes(await answer(vendor, variant.model, variant.situation, mode)) == {variant.code}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("fault", SHOWN_BY_A_PROBE, ids=[fault.code for fault in SHOWN_BY_A_PROBE])
async def test_a_probe_shows_exactly_the_fault(fault: Fault) -> None:
    """The vendor serves nothing else: one that takes every model id must not be mistaken for another."""
    assert fault.probe is not None
    with Vendor(models=[fault.model]) as vendor:
        record = await probed(vendor, fault.model, fault.probe)
    assert set(record.codes) == {fault.code}, record.reason
    assert folded(record.detail.findings) == companions(fault)


@pytest.mark.sampled
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("fault", SHOWN_BY_COMPARING, ids=[fault.code for fault in SHOWN_BY_COMPARING])
async def test_what_only_a_comparison_shows_leaves_single_answers_clean(
    vendor: Vendor, fault: Fault, mode: Mode
) -> None:
    """Each answer is in order; beside a faithful vendor's answers to the same questions they differ."""
    facts: dict[str, list[tuple[bool, int]]] = {FAITHFUL: [], fault.model: []}
    for opening in OPENINGS:
        situation = asked_as(fault.situation, opening)
        for model, seen in facts.items():
            exchange = await answer(vendor, model, situation, mode)
            reply = read_reply(exchange)
            assert codes(exchange) == set()
            seen.append((reply.called, (reply.usage or {})["prompt_tokens"]))
    assert facts[FAITHFUL] != facts[fault.model]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("probe", PROBES)
async def test_a_faithful_vendor_passes_every_probe_without_a_finding(vendor: Vendor, probe: str) -> None:
    record = await probed(vendor, "reasoner" if probe.endswith("reasoning_back") else FAITHFUL, probe)
    assert (record.outcome, record.codes) == (Outcome.PASSED, ()), record.reason


async def test_nobody_listens(vendor: Vendor) -> None:
    with socket.socket() as held:  # it is nobody else's meanwhile
        held.bind(("127.0.0.1", 0))
        spec = EndpointSpec(name="nobody", base_url=f"http://127.0.0.1:{held.getsockname()[1]}/v1", retries=0)
        async with open_endpoint(spec) as session:
            exchange = await session.ask(Request(body=situations.A_CALL.request("any")))
    assert codes(exchange) == {"transport.connect"}


async def test_https_to_a_plain_server(vendor: Vendor) -> None:
    spec = EndpointSpec(name="plain", base_url=vendor.url.replace("http://", "https://"), retries=0)
    async with open_endpoint(spec) as session:
        exchange = await session.ask(Request(body=situations.A_CALL.request("any")))
    assert codes(exchange) == {"transport.tls"}


async def test_an_unknown_model_is_refused_by_a_faithful_vendor(vendor: Vendor) -> None:
    assert codes(await answer(vendor, "no-such-model", situations.A_CALL, Mode.PLAIN)) == {"transport.unknown_model"}


def test_every_finding_has_a_switch_or_a_reason_why_not() -> None:
    switched = {kind_of(fault.code).code for fault in FAULTS}
    catalogued = {kind.code for kind in catalogue()}
    assert switched | set(SHOWN_ELSEWHERE) == catalogued
    assert switched & set(SHOWN_ELSEWHERE) == set()


def test_the_matrix_in_the_docs_is_this_one() -> None:
    rows = {row.switch: row.findings for row in matrix()}
    assert rows == {fault.model: (fault.code, *sorted(fault.companions)) for fault in FAULTS}
    assert all(kind_of(code) for findings in rows.values() for code in findings)
