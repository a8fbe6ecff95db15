"""The hello suite: the older tool's question, counted honestly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.probing import probe_models
from support.scripted import Answer, Received, Scripted, completion, refusal
from toolcert.core.cases import Outcome
from toolcert.core.verdict import Word
from toolcert.probes.catalogue.hello_world import GREETINGS, greet
from toolcert.probes.summary.scorecard import CellState
from toolcert.simulate import Vendor


def call(arguments: str, *, name: str = "hello_world", finish: str = "tool_calls") -> Answer:
    function = {"name": name, "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return Answer({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


def right_call(received: Received, **more: Any) -> Answer:
    """The call a faithful model makes, read from the prompt."""
    words = received.json["messages"][0]["content"].split()
    name, language = words[words.index("named") + 1], words[words.index("in") + 1].rstrip(".")
    return call(json.dumps({"name": name, "language": language}), **more)


def second_turn(received: Received) -> bool:
    return any(message["role"] == "tool" for message in received.json["messages"])


def greeting_of(received: Received) -> str:
    return str(json.loads(received.json["messages"][-1]["content"])["greeting"])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("model", "called", "reliable", "word"),
    [
        ("flaky:45/50", 45, True, Word.PARTIAL),
        ("flaky:44/50", 44, False, Word.UNDECIDED),
        ("flaky:29/50", 29, False, Word.FAILS),
    ],
)
async def test_counts_are_printed_as_they_are_and_judged_by_the_09_rule(
    model: str, called: int, reliable: bool, word: Word
) -> None:
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], suite="hello", iterations=50)
    summary = probed.model(model)
    assert str(summary.reliability.called) == f"{called}/50"
    assert str(summary.reliability.handled) == f"{called}/{called}"
    assert summary.reliability.reliable is reliable
    assert summary.verdict.word is word


async def test_no_call_in_the_first_five_stops_at_five_requests() -> None:
    with Vendor(models=["null-calls"]) as vendor:
        probed = await probe_models(vendor.url, ["null-calls"], suite="hello", iterations=50)
        assert len(vendor.requests) == 5
    cell = probed.model("null-calls").cells[0]
    assert str(cell.called) == "0/5"
    assert cell.counts.skipped == 45
    assert cell.stopped == "no valid call in the first 5 iterations"
    model = probed.model("null-calls")
    assert model.reason.startswith("Does not call tools; hello_world: answers with nothing")
    assert model.reasons[1].startswith("No valid call in the first 5 iterations; ")


async def test_five_iterations_or_fewer_are_never_cut_short() -> None:
    with Vendor(models=["null-calls"]) as vendor:
        probed = await probe_models(vendor.url, ["null-calls"], suite="hello", iterations=5)
    assert probed.model("null-calls").cells[0].counts.skipped == 0


@pytest.mark.parametrize(
    "arguments",
    ['{"foo": 1}', "{}", "", "null", '"hello"', '{"name": 1}', '{"name": "Somebody Else", "language": "english"}'],
)
async def test_arguments_that_do_not_say_what_was_asked_are_no_call(arguments: str) -> None:
    with Scripted(lambda _: call(arguments)) as server:
        probed = await probe_models(server.url, ["m"], suite="hello")
    record = probed.record("m", "hello_world")
    assert record.outcome is Outcome.FAILED
    assert record.probe is not None
    assert record.probe.called is False
    assert record.probe.handled is None


async def test_the_finish_reason_must_be_tool_calls_exactly_here_and_nowhere_else() -> None:
    with Vendor(models=["fault:finish.stop_with_calls"]) as vendor:
        model = "fault:finish.stop_with_calls"
        probed = await probe_models(vendor.url, [model], probes=["hello_world", "basic", "result_use"])
    outcomes = {record.probe.probe: record.outcome for record in probed.records if record.probe}
    assert outcomes == {"hello_world": Outcome.FAILED, "basic": Outcome.PASSED, "result_use": Outcome.PASSED}
    assert "finish_reason is stop" in probed.record(model, "hello_world").reason
    assert all("finish.stop_with_calls" in record.codes for record in probed.records)


async def test_a_second_turn_timeout_leaves_the_call_credited() -> None:
    def script(received: Received) -> Answer:
        return completion("late")._replace(delay=1.0) if second_turn(received) else right_call(received)

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], suite="hello", patience=0.3)
    record = probed.record("m", "hello_world")
    assert record.outcome is Outcome.NOT_MEASURED
    assert record.probe is not None
    assert (record.probe.called, record.probe.handled) == (True, None)
    cell = probed.model("m").cells[0]
    assert str(cell.called) == "1/1"
    assert str(cell.handled) == "0/0"
    assert cell.state is CellState.NOT_MEASURED
    assert "transport.timeout" in record.codes


async def test_a_second_turn_5xx_is_not_the_models_failure() -> None:
    def script(received: Received) -> Answer:
        return refusal(500, "oops") if second_turn(received) else right_call(received)

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], suite="hello")
    record = probed.record("m", "hello_world")
    assert record.outcome is Outcome.NOT_MEASURED
    assert record.probe is not None
    assert record.probe.called is True


async def test_the_exact_greeting_is_wanted() -> None:
    def script(received: Received) -> Answer:
        if not second_turn(received):
            return right_call(received)
        return completion(f"It says: {greeting_of(received)}".replace("!", "."))

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], suite="hello")
    record = probed.record("m", "hello_world")
    assert record.outcome is Outcome.FAILED
    assert record.probe is not None
    assert (record.probe.called, record.probe.handled) == (True, False)
    assert "result.ignored" in record.codes


async def test_names_and_languages_vary_and_tools_stay_in_the_second_turn() -> None:
    with Vendor(models=["faithful"]) as vendor:
        await probe_models(vendor.url, ["faithful"], suite="hello", iterations=5)
        bodies = [request.body for request in vendor.requests]
    first = [body["messages"][0]["content"] for body in bodies if len(body["messages"]) == 1]
    assert len(set(first)) == 5
    assert all(any(language in prompt for prompt in first) for language in GREETINGS)
    assert all(body["tools"] for body in bodies)
    assert len(bodies) == 10


def test_the_tool_greets_in_five_languages() -> None:
    assert greet("Ada", "spanish") == {
        "greeting": "¡Hola, Ada!",
        "language": "spanish",
        "name": "Ada",
        "message": "¡Hola, Ada!",
    }
    assert greet("Ada", "japanese")["greeting"] == "こんにちは, Adaさん!"
    assert [greet("N", language)["message"] for language in ("english", "french", "german")] == [
        "Hello, N!",
        "Bonjour, N!",
        "Hallo, N!",
    ]
