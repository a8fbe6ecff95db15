"""What works in one piece and fails in a stream is found by the streamed twin of its probe, and by nothing else."""

from __future__ import annotations

import itertools
import json

import pytest

from support.probing import probe_models
from support.scripted import Answer, Received, Scripted, refusal, relay
from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.verdict import Word
from toolcert.probes.suites import choose_probes, find_suite, weights_of
from toolcert.simulate import Vendor

ONLY_IN_STREAMS = {
    "streamed:args.altered:lost": ("unicode_args", "args.altered"),
    "streamed:args.empty": ("zero_params", "args.empty"),
    "streamed:choice.required_ignored": ("choice_required", "choice.required_ignored"),
    "streamed:choice.named_ignored": ("choice_named", "choice.named_ignored"),
    "streamed:choice.none_ignored": ("choice_none", "choice.none_ignored"),
    "streamed:parallel.merged": ("parallel", "parallel.merged"),
    "streamed:result.ignored": ("result_use", "result.ignored"),
    "streamed:json.ignored": ("json_object", "json.ignored"),
    "streamed:finish.truncation_hidden": ("max_tokens_cut", "finish.truncation_hidden"),
    "streamed:call.mangled_name": ("multi_tool", "call.mangled_name"),
    "streamed:args.schema.required": ("multi_step", "args.schema.required"),
    "streamed:parallel.flag_ignored": ("parallel_off", "parallel.flag_ignored"),
    "streamed:schema.strict_unenforced": ("strict", "schema.strict_unenforced"),
    "streamed:json.fenced": ("json_schema", "json.fenced"),
    "streamed:call.unknown_tool": ("many_tools", "call.unknown_tool"),
    "streamed:args.invalid_json": ("schema_ladder", "args.invalid_json"),
    "streamed:result.invented": ("empty_result", "result.invented"),
    "streamed:result.misassigned": ("swapped_results", "result.misassigned"),
    "streamed:result.injected": ("injected_result", "result.injected"),
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(("model", "probe", "code"), [(m, *pair) for m, pair in ONLY_IN_STREAMS.items()])
async def test_a_fault_in_streams_only_is_seen_by_the_twin_only(model: str, probe: str, code: str) -> None:
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=[f"streamed_{probe}"])
    plain, twin = probed.record(model, probe), probed.record(model, f"streamed_{probe}")
    assert (plain.outcome, plain.codes) == (Outcome.PASSED, ())
    assert code in twin.codes
    harmless = model == "streamed:args.empty"  # nothing is lost where the tool takes nothing: a warning, and no failure
    assert twin.outcome is (Outcome.PASSED if harmless else Outcome.FAILED), twin.reason


async def test_a_twin_is_not_asked_where_the_plain_probe_fails() -> None:
    model = "fault:choice.required_ignored"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["streamed_choice_required"])
    assert probed.record(model, "streamed_choice_required").skip is SkipKind.NEED_FAILED


async def test_a_model_that_fails_plainly_too_does_not_fail_because_of_the_stream() -> None:
    """The first plain answer is right, all later ones ignore the choice, streamed or not."""
    model = "flaky:1/9:fault:choice.required_ignored"
    with Vendor(models=[model], seed=_good_first(model)) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["streamed_choice_required"])
    assert probed.record(model, "choice_required").outcome is Outcome.PASSED
    twin = probed.record(model, "streamed_choice_required")
    assert (twin.outcome, twin.reason) == (Outcome.SKIPPED, "fails without a stream as well")


def _good_first(model: str) -> int:
    """A seed with which only the first answer of the flaky model is good."""
    from toolcert.simulate.persona import Flakiness

    flakiness = Flakiness(good=1, of=9)
    return next(seed for seed in itertools.count(1) if not flakiness.fails(0, f"{seed}/{model}"))


async def test_a_model_that_varies_by_itself_is_not_the_streams_fault() -> None:
    """The plain answers differ among themselves, and so do the streamed ones."""
    units = itertools.cycle(["celsius", "celsius", "fahrenheit", "fahrenheit"])
    with Scripted(lambda received: _call(received, {"city": _asked(received), "unit": next(units)})) as server:
        twin = (await probe_models(server.url, ["m"], probes=["stream_twin"])).record("m", "stream_twin")
    assert (twin.outcome, twin.codes) == (Outcome.PASSED, ()), twin.reason
    assert twin.detail.figures == {"varies": ["arguments"]}


def _asked(received: Received) -> str:
    return str(received.json["messages"][0]["content"].split(" in ")[1].split(" ")[0].rstrip("."))


def _call(received: Received, arguments: dict[str, str]) -> Answer:
    function = {"name": "get_weather", "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_123", "type": "function", "function": function}
    head = {"id": "c1", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    if not received.json.get("stream"):
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        return Answer({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    first, *rest = function["arguments"]
    begun = {**call, "function": {**function, "arguments": first}}
    deltas = [{"role": "assistant", "tool_calls": [begun]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": letter}}]} for letter in rest]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])
    events: list[dict[str, object]] = [{**head, "choices": one} for one in choices]
    events.append({**head, "choices": [], "usage": usage})
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.mark.heavy
async def test_calls_that_the_server_breaks_on_in_streams_are_measured_by_every_twin() -> None:
    """The control of a choice is streamed as well and breaks alike; the request in one piece does not."""

    def breaks(received: Received, answer: Answer) -> Answer:
        asked = received.json if received.body else {}
        calls = asked.get("stream") and asked.get("tools") and "hello" not in asked["messages"][-1]["content"]
        return refusal(500, "Internal server error") if calls else answer

    with Vendor(models=["faithful"]) as vendor, Scripted(relay(vendor.url, breaks)) as server:
        probed = await probe_models(server.url, ["faithful"], probes=["basic", "streamed_choice_named"])
    assert probed.record("faithful", "streamed_choice_named").outcome is Outcome.FAILED
    assert probed.model("faithful").verdict.word is Word.PARTIAL, probed.model("faithful").verdict.sentence


@pytest.mark.sampled
@pytest.mark.parametrize("spared", ["hello", "no question at all"])
async def test_what_streams_refuse_is_proven_once(spared: str) -> None:
    """Later iterations ask once, and once in one piece."""
    streamed = []

    def breaks(received: Received, answer: Answer) -> Answer:
        asked = received.json if received.body else {}
        if not asked.get("stream") or spared in str(asked["messages"][-1]["content"]):
            return answer
        streamed.append(asked)
        return refusal(500, "Internal server error")

    twins = ["streamed_choice_named", "streamed_parallel", "streamed_strict"]
    with Vendor(models=["faithful"]) as vendor, Scripted(relay(vendor.url, breaks)) as server:
        probed = await probe_models(server.url, ["faithful"], probes=["streaming", *twins], iterations=5)
    records = [record for twin in twins for record in probed.records if record.probe and record.probe.probe == twin]
    assert {record.outcome for record in records} == {Outcome.FAILED}
    assert len(streamed) < 80


async def test_arguments_that_only_streams_lose_are_one_finding() -> None:
    model = "fault:args.lost"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["streaming", "stream_twin", "streamed_multi_tool"])
    assert {found.code for found in probed.model(model).findings} == {"args.lost"}


def test_the_twins_take_no_points_from_other_probes() -> None:
    """They share those of the probe `streaming`."""
    suite = find_suite("full")
    every = [(probe.name, probe.group) for probe in choose_probes("full")]
    without = weights_of(suite, [pair for pair in every if pair[1] != "streamed"])
    with_twins = weights_of(suite, every)
    shared = {name for name, group in every if group == "streamed"} | {"streaming"}
    assert {name: with_twins[name] for name in without if name not in shared} == pytest.approx(
        {name: weight for name, weight in without.items() if name not in shared}
    )
    assert sum(with_twins[name] for name in shared) == pytest.approx(without["streaming"])
    assert all(with_twins[name] > 0 for name in shared)
