"""No oracle is satisfied by luck: servers that do not understand the question pass nothing about calling."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.probing import probe_models
from support.scripted import Answer, Received, Scripted, completion
from toolcert.core.cases import Outcome
from toolcert.core.values import JsonObject

USAGE = {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}


def parrot(received: Received) -> Answer:
    """Says everything back that it was told, results of tools included."""
    return completion(" ".join(str(message.get("content") or "") for message in received.json["messages"]), **USAGE)


def prose(_: Received) -> Answer:
    return completion("I am sorry, which city do you mean? I do not know, no.", **USAGE)


def shotgun(received: Received) -> Answer:
    """Calls every tool it is offered, with arguments that fit the schema and nothing else."""
    tools = received.json.get("tools") or []
    calls = [_call(number, entry["function"]) for number, entry in enumerate(tools)]
    answer = completion("", **USAGE)
    if calls:
        choice = answer.body["choices"][0]
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": calls}
        choice["finish_reason"] = "tool_calls"
    return answer


def _call(number: int, function: JsonObject) -> JsonObject:
    arguments = json.dumps(_fitting(function.get("parameters") or {}))
    return {"id": f"c{number}", "type": "function", "function": {"name": function["name"], "arguments": arguments}}


def _fitting(schema: JsonObject) -> Any:
    """The first value that comes to mind."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: _fitting(inner) for name, inner in schema["properties"].items() if name in schema["required"]}
    return {"integer": 7, "array": []}.get(str(schema.get("type")), "Paris")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("server", "passing"),
    [
        # Who answers anything breaks on no history: what the servers of all three can do is no merit of a model.
        # Repeating the history means reporting what tools said, and nothing about calling.
        (
            parrot,
            {"tool_error", "null_content", "foreign_ids", "malformed_history", "wrong_id", "usage", "repeatability"},
        ),
        (prose, {"malformed_history", "wrong_id", "usage", "repeatability"}),
        # Obeying `required` and keeping to a schema is exactly what it does.
        (shotgun, {"choice_required", "strict", "malformed_history", "wrong_id", "usage", "repeatability"}),
    ],
    ids=["parrot", "prose", "shotgun"],
)
async def test_what_passes_without_understanding(server: Any, passing: set[str]) -> None:
    def script(received: Received) -> Answer:
        return Answer({}, 404) if received.method == "GET" else server(received)

    with Scripted(script) as running:
        probed = await probe_models(running.url, ["m"], suite="full", iterations=2)
    passed = {record.probe.probe for record in probed.records if record.probe and record.outcome is Outcome.PASSED}
    assert passed == passing
    assert probed.model("m").score.high < 50


async def test_silence_is_no_obedience() -> None:
    """A model that calls, and says nothing at all where calls are forbidden, has not answered in words."""

    def script(received: Received) -> Answer:
        answer = completion("", **USAGE)
        if received.json.get("tool_choice") != "none":
            city = received.json["messages"][-1]["content"].rpartition(" ")[2].rstrip(".")
            call = _call(0, {"name": "get_weather", "parameters": {"enum": [{"city": city}]}})
            choice = answer.body["choices"][0]
            choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice["finish_reason"] = "tool_calls"
        return answer

    with Scripted(script) as running:
        probed = await probe_models(running.url, ["m"], probes=["choice_none"])
    assert probed.record("m", "basic").outcome is Outcome.PASSED
    record = probed.record("m", "choice_none")
    assert (record.outcome, record.reason) == (Outcome.FAILED, "answers with nothing under tool_choice none")
