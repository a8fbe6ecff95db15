"""Vendors with faults of their own, over real HTTP: what is said of them is true, and no better than what was found."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from support.probing import Probed, probe_models
from support.scripted import Scripted, faithful
from toolcert.core.findings import Severity
from toolcert.core.values import JsonObject
from toolcert.core.verdict import Word
from toolcert.simulate.faults.base import call_deltas, calls, each_arguments, message, say
from toolcert.simulate.traffic import Ask

MODEL = "nimbus-32b"


async def probed(
    change: Callable[[Ask, JsonObject], JsonObject],
    *probes: str,
    chunks: Callable[[list[JsonObject]], list[JsonObject]] | None = None,
    frames: Callable[[list[bytes]], list[bytes]] | None = None,
    iterations: int = 1,
) -> Probed:
    with Scripted(faithful(change, chunks=chunks, frames=frames)) as server:
        return await probe_models(server.url, [MODEL], probes=probes, iterations=iterations, concurrency=1)


def errors(run: Probed) -> dict[str, int]:
    return {one.code: one.count for one in run.model(MODEL).findings if one.severity is Severity.ERROR}


def twice(body: JsonObject) -> JsonObject:
    """Every call of the answer again, with an id of its own."""
    if made := calls(body):
        message(body)["tool_calls"] = [*made, *({**call, "id": f"{call['id']}b"} for call in made)]
    return body


async def test_an_error_seen_once_in_a_core_probe_and_once_elsewhere_is_reproduced() -> None:
    asked = count(1)
    answers = iter([twice, lambda body: body, lambda body: body, twice])

    def change(_ask: Ask, body: JsonObject) -> JsonObject:
        return next(answers, twice)(body) if next(asked) <= 4 else body

    run = await probed(change, "basic", "multi_tool", iterations=2)
    assert errors(run) == {"call.duplicate": 2}
    verdict = run.model(MODEL).verdict
    assert (verdict.word, verdict.caps) == (Word.PARTIAL, ("call.duplicate",))
    assert "call.duplicate in 2 of 4" in verdict.reason


CUT_CALLS: dict[str, Callable[[Ask, JsonObject], JsonObject]] = {
    "cut arguments": lambda _, body: each_arguments(body, lambda text: text[:-4]),
    "another tool": lambda _, body: _renamed(body, "search_web", '{"query": "weather"}'),
    "another value": lambda _, body: each_arguments(body, lambda _: '{"city": "Paris"}'),
}


def _renamed(body: JsonObject, name: str, arguments: str) -> JsonObject:
    for call in calls(body):
        call["function"] = {"name": name, "arguments": arguments}
    return body


@pytest.mark.parametrize("change", CUT_CALLS.values(), ids=CUT_CALLS)
async def test_a_model_whose_calls_are_wrong_is_not_said_to_make_none(
    change: Callable[[Ask, JsonObject], JsonObject],
) -> None:
    verdict = (await probed(change, "basic", iterations=5)).model(MODEL).verdict
    assert verdict.word is Word.FAILS
    assert "does not call tools" not in verdict.reason


async def test_a_model_that_only_talks_is_said_to_make_no_calls() -> None:
    run = await probed(lambda _, body: say(body, "I cannot look that up.") if calls(body) else body, "basic")
    assert run.model(MODEL).verdict.reason.startswith("does not call tools")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda text: f"<think>\nThree facts.\n</think>\n\n{text}", "reasoning.leaked"),
        (lambda text: f"{text}<|im_end|>", "text.special_tokens"),
    ],
)
async def test_markup_around_json_is_one_error_and_the_mode_is_not_called_ignored(
    spoil: Callable[[str], str], code: str
) -> None:
    def change(_ask: Ask, body: JsonObject) -> JsonObject:
        message(body)["content"] = spoil(message(body)["content"])
        return body

    run = await probed(change, "json_object", iterations=5)
    assert errors(run) == {code: 5}
    assert run.model(MODEL).verdict.word is Word.FAILS


async def test_cumulative_arguments_are_named_however_few_pieces_there_are() -> None:
    def change(events: list[JsonObject]) -> list[JsonObject]:
        whole = "".join(piece["function"]["arguments"] for _, piece in call_deltas(events))
        pieces = iter(["", whole[:9], whole])
        places = [place for place, _ in call_deltas(events)]
        for (_, piece), text in zip(call_deltas(events), pieces, strict=False):
            piece["function"]["arguments"] = text
        return [event for place, event in enumerate(events) if place not in places[3:]]

    run = await probed(lambda _, body: body, "streaming", chunks=change)
    assert errors(run) == {"stream.cumulative": 2}, "and once more when it was asked again"


@pytest.mark.heavy
async def test_a_stream_that_was_cut_is_not_held_against_the_history() -> None:
    """The question with null content is cut, the same with text is not: the cut explains what is missing."""
    asked = count()

    def cut(frames: list[bytes]) -> list[bytes]:
        return frames[:3] if next(asked) % 2 == 0 else frames

    run = await probed(lambda _, body: body, "streamed_null_content", frames=cut)
    assert "history.null_content" not in errors(run)
    assert "stream.cut" in errors(run)
