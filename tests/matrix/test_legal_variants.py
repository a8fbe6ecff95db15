"""The faithful vendor in more than sixty legal forms: nothing above a note is said of any, by probe or by verify."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.legal_variants import VARIANTS, Variant, answer
from support.probing import Probed, probe_models
from support.rows import row, write_rows
from support.scripted import Answer, Received, Scripted
from support.verifying import records, run
from toolcert.core.cases import Outcome
from toolcert.core.findings import Severity
from toolcert.core.records import Record
from toolcert.core.values import JsonObject
from toolcert.simulate.chat_completion import Identity
from toolcert.simulate.faults.base import calls
from toolcert.simulate.situations import A_CALL, A_RESULT, TWO_CALLS

NAMES = {name.replace(" ", "-"): variant for name, variant in VARIANTS.items()}
PROBES = ("result_use", "streaming", "stream_twin", "unicode_args", "streamed_unicode_args", "streamed_parallel")


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    """Serves every variant under its name."""
    identity = Identity()

    def script(received: Received) -> Answer:
        model = received.json["model"] if received.method == "POST" else ""
        return answer(NAMES.get(model, VARIANTS["as it is"]), received, identity)

    with Scripted(script) as serving:
        yield serving


@pytest.fixture(scope="module")
def probed(server: Scripted) -> Probed:
    return asyncio.run(probe_models(server.url, list(NAMES), probes=PROBES, patience=30.0))


def loud(record: Record) -> list[str]:
    """What is said of a case that a reader would have to act upon."""
    found = [f"{one.code}: {one.evidence}" for one in record.detail.findings if one.severity is not Severity.NOTE]
    return found if record.outcome is Outcome.PASSED else [f"{record.outcome}: {record.reason}", *found]


def test_there_are_sixty() -> None:
    assert len(VARIANTS) >= 60


@pytest.mark.heavy
@pytest.mark.parametrize("model", NAMES)
def test_a_legal_form_passes_every_probe_in_silence(probed: Probed, model: str) -> None:
    said = {record.case: loud(record) for record in probed.records if record.model == model}
    assert len(said) >= len(PROBES)
    assert {case: words for case, words in said.items() if words} == {}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("model", NAMES)
def test_a_legal_form_is_valid_in_verify(server: Scripted, tmp_path: Path, model: str) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), A_CALL.body])
    run(dataset, server.url, tmp_path / "run", model=model)
    assert [loud(record) for record in records(tmp_path / "run")] == [[], []]


def on_the_wire(variant: Variant) -> list[bytes]:
    """The answers to a call, two calls and a result, plain and streamed, but for the time."""
    identity = Identity()
    requests = [one.request("m", stream=stream) for one in (A_CALL, TWO_CALLS, A_RESULT) for stream in (False, True)]
    received = [Received("POST", "/v1/chat/completions", {}, json.dumps(body).encode()) for body in requests]
    answers = [answer(variant, one, identity) for one in received]
    return [re.sub(rb'"created":1\d{9}', b"", one.body) + repr((one.headers, one.slices)).encode() for one in answers]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "as it is"])
def test_a_variant_really_writes_its_answers_in_another_way(name: str) -> None:
    assert on_the_wire(VARIANTS[name]) != on_the_wire(VARIANTS["as it is"])


async def test_an_illegal_form_is_not_passed_over_in_silence() -> None:
    """The same run over a variant without ids, so that the silence above says something."""

    def nameless(body: JsonObject) -> JsonObject:
        for call in calls(body):
            del call["id"]
        return body

    identity = Identity()
    with Scripted(lambda received: answer(Variant(nameless), received, identity)) as serving:
        probed = await probe_models(serving.url, ["m"], probes=["result_use"])
    assert any("call.id_missing" in line for line in loud(probed.record("m", "result_use")))
