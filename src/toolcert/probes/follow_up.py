"""The turn after a call: the history an agent would send back, and the request that carries it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolcert.core.exchanges import FaultKind
from toolcert.core.json_value import same_value
from toolcert.core.replies import Reply
from toolcert.core.requests import tool_result
from toolcert.core.values import JsonObject
from toolcert.diagnose import CallJudgement, finding
from toolcert.probes.base import Conversation, Turn
from toolcert.probes.oracle import Feature, calls_of, judgeable

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


def as_sent_back(reply: Reply) -> JsonObject:
    """The assistant's turn as a client puts it into the history; without ids it has to make some up."""
    calls = [
        (id_of(reply, position), str(call.name), _arguments(call.arguments))
        for position, call in enumerate(reply.tool_calls)
    ]
    return call_message(reply.content, *calls)


def id_of(reply: Reply, position: int) -> str:
    """The id of a call, or the one made up for it (its absence is a finding of its own)."""
    given = reply.tool_calls[position].id
    return given if isinstance(given, str) and given else f"call_{position}"


def with_results(messages: list[JsonObject], turn: Turn, result: Callable[[CallJudgement], str]) -> list[JsonObject]:
    """The history after every call of `turn` was answered."""
    reply = turn.answer
    answers = [tool_result(id_of(reply, call.position), result(call)) for call in calls_of(turn)]
    return [*messages, as_sent_back(reply), *answers]


def always(result: JsonObject) -> Callable[[CallJudgement], str]:
    """A tool that gives every call the same answer."""
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

    A refusal of this turn is a fault when the first turn is still answered; without `blame` a 5xx never is.
    """
    history = with_results(messages, turn, result)
    history, following = await ask_on(talk, history, reasoning=turn.answer.reasoning, **parameters)
    ours = not blame and following.fault is not None and following.fault.kind is FaultKind.SERVER_ERROR
    feature = None if ours else RESULTS.over(messages)
    return history, await judgeable(talk, following, feature=feature, called=True)


async def ask_on(
    talk: Conversation, history: list[JsonObject], *, reasoning: str | None = None, **parameters: Any
) -> tuple[list[JsonObject], Turn]:
    """Ask with a history; a server that wants the reasoning of earlier turns back gets it, and is reported."""
    turn = await talk.ask(history, **parameters)
    fault = turn.fault
    if fault is None or fault.kind is not FaultKind.REJECTED or not (reasoning or "reasoning" in fault.message):
        return history, turn
    history = with_reasoning(history, reasoning or " ")
    second = await talk.ask(history, **parameters)
    if second.fault is None:
        talk.report(finding("reasoning.required_back", fault.message, turn=turn.index))
    return history, second


def with_reasoning(history: list[JsonObject], reasoning: str) -> list[JsonObject]:
    """The history with reasoning beside every call of the assistant."""
    return [
        {**message, "reasoning_content": reasoning} if message.get("tool_calls") else message for message in history
    ]


async def answered_on(talk: Conversation, history: list[JsonObject], *, feature: Feature, **parameters: Any) -> Turn:
    """Ask with a history that the probe wrote; return a turn that can be judged, or conclude."""
    _, turn = await ask_on(talk, history, **parameters)
    return await judgeable(talk, turn, feature=feature)


def same_call(first: CallJudgement, second: CallJudgement) -> bool:
    """Whether the same tool is called with the same arguments."""
    return first.call.name == second.call.name and same_value(first.judgement.arguments, second.judgement.arguments)


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()
