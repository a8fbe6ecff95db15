"""The turn after a call: the history an agent would send back, and the request that carries it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolcert.core.exchanges import FaultKind, Reply
from toolcert.core.requests import tool_result, user
from toolcert.core.text.json_value import same_value
from toolcert.core.values import JsonObject
from toolcert.diagnose import CallJudgement, finding
from toolcert.probes.base import Concluded, Conversation, ProbeResult, Turn, failed
from toolcert.probes.oracle import Feature, arguments_of, calls_of, judgeable, rejected, unless_refused
from toolcert.probes.refusal_pairs import is_refusal, try_pairs, works_once

RESULTS = Feature(what="tool results in the history", capability=False, lasting=False)
NULL_CONTENT = Feature(what="null content beside calls", code="history.null_content", capability=False)
TOOL_ROLE = Feature(what="messages with the role tool", code="history.tool_role_rejected", capability=False)
WITHOUT_REASONING = "a history without its reasoning"


def call_id(label: str) -> str:
    """An id that every vendor takes: nine letters and digits, the narrowest form in use."""
    return f"call{label:0>5}"


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
    """Answer every call of `turn` and ask again; a call that was made stays credited whatever follows.

    A refusal of this turn is a fault when the first turn is still answered; without `blame` a 5xx never is.
    """
    history = with_results(messages, turn, result)
    history, following = await ask_on(talk, history, reasoning=turn.answer.reasoning, **parameters)
    if following.fault is not None and not blame and following.fault.kind is FaultKind.SERVER_ERROR:
        return history, await judgeable(talk, following, called=True)
    return history, await taken(talk, following, RESULTS.over(messages), called=True)


async def taken(talk: Conversation, turn: Turn, otherwise: Feature, *, called: bool | None = None) -> Turn:
    """The turn itself if its history was taken; otherwise conclude with what in the history is refused.

    The same history is sent again with one thing changed at a time; the first that is taken names the cause.
    `otherwise` is the cause if none of them is.
    """
    history: list[JsonObject] = turn.exchange.request.body["messages"]
    if is_refusal(turn) and any(message.get("tool_calls") and message.get("content") is None for message in history):
        turn = await unless_refused(talk, turn, NULL_CONTENT.over([_with_text(message) for message in history]), called)
    if is_refusal(turn):
        await _unless_role_refused(talk, turn, called)
    return await judgeable(talk, turn, feature=otherwise, called=called)


async def _unless_role_refused(talk: Conversation, turn: Turn, called: bool | None) -> None:
    """Conclude if even one call with one result in the plainest form is refused, and the same in words is taken."""
    body = turn.exchange.request.body
    history = _simplest(body["messages"])
    simplest = await talk.control(history, tools=body.get("tools"))
    if not is_refusal(simplest):
        return
    told = [_told_by_user(message) for message in history]
    back = with_reasoning(history, " ")
    trial = await try_pairs(
        talk,
        simplest,
        TOOL_ROLE.what,
        lambda: talk.control(told, tools=body.get("tools")),
        exonerates=lambda: works_once(talk, lambda: talk.control(back, tools=body.get("tools"))),
        judged=False,
    )
    if trial.refused and trial.about_feature:
        raise Concluded(rejected(TOOL_ROLE, trial.turn, called))


def _simplest(history: list[JsonObject]) -> list[JsonObject]:
    """The question, its first call and the result of that."""
    turn = next(message for message in history if message.get("tool_calls"))
    call = {**turn["tool_calls"][0], "id": call_id("1")}
    result = next((message["content"] for message in history if message["role"] == "tool"), "done")
    return [history[0], {**_with_text(turn), "tool_calls": [call]}, tool_result(call["id"], result)]


def _with_text(message: JsonObject) -> JsonObject:
    silent = message.get("tool_calls") and message.get("content") is None
    return {**message, "content": "I will look that up."} if silent else message


def _told_by_user(message: JsonObject) -> JsonObject:
    """The same turn without the protocol's fields for calls and results."""
    if message["role"] == "tool":
        return user(f"The tool returned: {message['content'] or 'nothing'}")
    if message.get("tool_calls"):
        names = ", ".join(call["function"]["name"] for call in message["tool_calls"])
        return {"role": "assistant", "content": f"I will use {names}."}
    return message


async def ask_on(
    talk: Conversation, history: list[JsonObject], *, reasoning: str | None = None, **parameters: Any
) -> tuple[list[JsonObject], Turn]:
    """Ask with a history; a server that wants the reasoning of earlier turns back gets it, and is reported."""
    turn = await talk.ask(history, **parameters)
    fault = turn.fault
    if fault is None or fault.kind is not FaultKind.REJECTED or not (reasoning or "reasoning" in fault.message):
        return history, turn
    back = with_reasoning(history, reasoning or " ")
    trial = await try_pairs(talk, turn, WITHOUT_REASONING, lambda: talk.control(back, **parameters))
    if not trial.refused:
        return history, trial.turn
    talk.report(finding("reasoning.required_back", fault.message, turn=turn.index))
    return back, await talk.ask(back, **parameters)


def with_reasoning(history: list[JsonObject], reasoning: str, field: str = "reasoning_content") -> list[JsonObject]:
    """The history with reasoning beside every call of the assistant, in the field that the vendor uses."""
    return [{**message, field: reasoning} if message.get("tool_calls") else message for message in history]


async def answered_on(talk: Conversation, history: list[JsonObject], *, feature: Feature, **parameters: Any) -> Turn:
    """Ask with a history that the probe wrote; return a turn that can be judged, or conclude."""
    _, turn = await ask_on(talk, history, **parameters)
    return await taken(talk, turn, feature)


def unused(turn: Turn, reason: str) -> ProbeResult:
    """The failure of an answer that does not use the results of its history, or makes a call of it again."""
    history = turn.exchange.request.body["messages"]
    past = [call["function"] for message in history for call in message.get("tool_calls") or ()]
    made = [(call["name"], msgspec.json.decode(call["arguments"])) for call in past]
    if any((call.call.name, arguments_of(call)) in made for call in calls_of(turn)):
        found = finding("result.repeat_call", "a call of the history again", turn=turn.index)
        return failed("makes the same call again instead of using its result", found, handled=False)
    return failed(reason, finding("result.ignored", turn.text or "no text", turn=turn.index), handled=False)


def same_call(first: CallJudgement, second: CallJudgement) -> bool:
    """Whether the same tool is called with the same arguments."""
    return first.call.name == second.call.name and same_value(first.judgement.arguments, second.judgement.arguments)


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()
