"""The table of faults: complete, consistent, and harmless to a faithful model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.raw_http import chat
from toolcert.diagnose import catalogue, kind_of
from toolcert.simulate import Vendor
from toolcert.simulate.faults import Mode, all_faults, find_fault
from toolcert.simulate.faults.base import Stage, fault
from toolcert.simulate.situations import A_CALL

UNSEEN = {
    "call.id_format": "shows in the model's name",
    "call.id_duplicate": "shows in ids, which are not compared",
    "model.unknown_accepted": "shows with other model ids",
    "nondeterministic": "shows in repetition",
    "trigger.under": "spares two of three conversations",
}
FAULTS = [one for one in all_faults() if one.code not in UNSEEN and not one.code.startswith(("transport.", "load."))]


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful"]) as running:
        yield running


def test_every_fault_is_a_code_of_the_catalogue_and_says_what_it_does() -> None:
    known = {kind.code for kind in catalogue()}
    for one in all_faults():
        assert kind_of(one.code).code in known
        assert one.about.endswith("."), one.code
        assert all(reason for reason in one.companions.values())


def test_a_code_is_entered_once() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        fault("args.empty", Stage.BODY, A_CALL)(lambda thing, _ask: thing)
    assert find_fault("no.such.code") is None


def comparable(payload: bytes, model: str) -> bytes:
    """The answer without what differs between any two answers."""
    import re

    text = payload.decode(errors="replace").replace(model, "MODEL")
    text = re.sub(r'"(chatcmpl-|call_)[^"]*"', r'"\1"', text)
    return re.sub(r'"created":\d+', '"created":0', text).encode()


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("one", FAULTS, ids=[one.code for one in FAULTS])
def test_the_fault_changes_the_answer_in_its_modes_and_only_there(vendor: Vendor, one) -> None:
    for mode in Mode:
        stream = mode is Mode.STREAM
        spoiled = chat(vendor.url, one.situation.request(one.model, stream=stream))
        faithful = chat(vendor.url, one.situation.request("faithful", stream=stream))
        same = comparable(spoiled.payload, one.model) == comparable(faithful.payload, "faithful")
        assert same is (mode not in one.modes), mode


def test_options_change_how_a_fault_shows(vendor: Vendor) -> None:
    kimi = chat(vendor.url, A_CALL.request("fault:call.in_text:kimi")).message["content"]
    hermes = chat(vendor.url, A_CALL.request("fault:call.in_text")).message["content"]
    assert kimi.startswith("<|tool_calls_section_begin|>")
    assert hermes.startswith("<tool_call>")


def test_an_only_model_that_accepts_unknown_ids_accepts_them_all() -> None:
    with Vendor(models=["fault:model.unknown_accepted"]) as vendor:
        assert chat(vendor.url, A_CALL.request("made-up-7")).status == 200


def test_trigger_under_answers_some_conversations_in_words(vendor: Vendor) -> None:
    called = 0
    for number in range(30):
        body = A_CALL.request("fault:trigger.under")
        body["messages"] = [{"role": "user", "content": f"Call look_up_code for room K{number}."}]
        called += bool(chat(vendor.url, body).message.get("tool_calls"))
    assert 10 <= called <= 28
