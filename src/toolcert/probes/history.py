"""Going on after a call: the turns an agent would send back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolcert.core.exchanges import FaultKind
from toolcert.core.replies import Reply
from toolcert.core.requests import tool_result
from toolcert.core.values import JsonObject
from toolcert.diagnose import CallJudgement, finding
from toolcert.probes.asking import Feature, judgeable
from toolcert.probes.base import Conversation, Turn
from toolcert.probes.oracle import calls_of

RESULTS = Feature(what="tool results in the history", capability=False)


def call_message(content: str | None, *calls: tuple[str, str, str]) -> JsonObject:
    """An assistant turn with calls, each given as id, name and arguments."""
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ],
    }


def as_sent_back(reply: Reply, *, reasoning: bool = False) -> JsonObject:
    """The assistant's turn as a client puts it into the history; without ids it has to make some up."""
    calls = [
        (id_of(reply, position), str(call.name), _arguments(call.arguments))
        for position, call in enumerate(reply.tool_calls)
    ]
    message = call_message(reply.content, *calls)
    if reasoning and reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    return message


def id_of(reply: Reply, position: int) -> str:
    """The id of a call, or the one made up for it (its absence is a finding of its own)."""
    given = reply.tool_calls[position].id
    return given if isinstance(given, str) and given else f"call_{position}"


def with_results(
    messages: list[JsonObject], turn: Turn, result: Callable[[CallJudgement], str], *, reasoning: bool = False
) -> list[JsonObject]:
    """The history after every call of `turn` was answered."""
    reply = turn.answer
    answers = [tool_result(id_of(reply, call.position), result(call)) for call in calls_of(turn)]
    return [*messages, as_sent_back(reply, reasoning=reasoning), *answers]


def always(result: JsonObject) -> Callable[[CallJudgement], str]:
    """A tool that answers every call alike."""
    text = as_json(result)
    return lambda _: text


def as_json(value: JsonObject) -> str:
    """A tool's result as text."""
    return msgspec.json.encode(value).decode()


async def next_turn(
    talk: Conversation,
    messages: list[JsonObject],
    turn: Turn,
    result: Callable[[CallJudgement], str],
    *,
    blame: bool = True,
    **parameters: Any,
) -> tuple[list[JsonObject], Turn]:
    """Answer every call of `turn` and ask on; a call that happened stays credited whatever comes of it.

    With `blame` a refusal of the second turn is a fault when the first is still answered; without, nothing is measured.
    """
    history = with_results(messages, turn, result)
    following = await talk.ask(history, **parameters)
    if following.fault and following.fault.kind is FaultKind.REJECTED and turn.answer.reasoning:
        history = with_results(messages, turn, result, reasoning=True)
        following = await _with_reasoning(talk, history, following, parameters)
    feature = RESULTS.over(messages) if blame else None
    return history, await judgeable(talk, following, feature=feature, called=True)


async def _with_reasoning(
    talk: Conversation, history: list[JsonObject], refusal: Turn, parameters: dict[str, Any]
) -> Turn:
    following = await talk.ask(history, **parameters)
    if following.fault is None and refusal.fault is not None:
        talk.report(finding("reasoning.required_back", refusal.fault.message, turn=refusal.index))
    return following


def same_call(first: CallJudgement, second: CallJudgement) -> bool:
    """Whether the same tool is called with the same arguments."""
    return (first.call.name, first.judgement.arguments) == (second.call.name, second.judgement.arguments)


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()
