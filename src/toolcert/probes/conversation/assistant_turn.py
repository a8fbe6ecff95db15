"""Assistant turns as agents send them back: with null content, malformed arguments, or reasoning."""

from __future__ import annotations

from toolcert.core.exchanges import FaultKind
from toolcert.core.requests import tool_result, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, not_applicable, passed
from toolcert.probes.follow_up import always, answered_on, ask_on, call_message, with_reasoning, with_results
from toolcert.probes.oracle import (
    REFUSALS,
    Feature,
    answered,
    judgeable,
    mentions,
    refused,
    refuses,
    said,
    valid_calls,
    why_not_called,
)
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import WEATHER

NULL = Feature(what="null content beside calls", code="history.null_content", capability=False)


@probe
class NullContent(ScriptedProbe):
    """Where null content is refused or the result gets lost, the same history with text is tried as a control."""

    name = "null_content"
    group = "conversation"
    title = "Takes a history with null content"
    meaning = "The second turn of an agent is not refused for its own first one."
    order = 40

    async def run(self, talk: Conversation) -> ProbeResult:
        station = talk.nonce("station")
        history, control = (_null_content_history(talk, station, content) for content in (None, "I will look that up."))
        turn = await answered_on(talk, history, feature=NULL.over(control), tools=[WEATHER])
        if mentions(turn, station):
            return passed(handled=True)
        with_text = await talk.control(control, tools=[WEATHER])
        if with_text.reply is not None and mentions(with_text, station):
            found = finding("history.null_content", turn.text or "no text", turn=turn.index)
            return failed("loses the result when content is null", found, handled=False)
        found = finding("result.ignored", turn.text or "no text", turn=turn.index)
        return failed("does not use the tool's result", found, handled=False)


def _null_content_history(talk: Conversation, station: str, content: str | None) -> list[JsonObject]:
    city = talk.nonce("city")
    return [
        user(f"Which weather station reports for {city}? Use get_weather."),
        call_message(content, ("call_c3", "get_weather", f'{{"city": "{city}"}}')),
        tool_result("call_c3", f'{{"station": "{station}"}}'),
    ]


MALFORMED = Feature(what="malformed arguments in the history", code="history.malformed_500", capability=False)


@probe
class MalformedHistory(ScriptedProbe):
    """Answering and refusing with a 4xx are both right; an error of the server's own is not."""

    name = "malformed_history"
    group = "conversation"
    title = "Survives malformed arguments in the history"
    meaning = "One broken call does not end the conversation with server errors."
    order = 60
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        city = talk.nonce("city")
        _, turn = await ask_on(talk, _malformed_history(city, f'{{"city": "{city}'), tools=[WEATHER])
        if turn.fault is not None and turn.fault.kind is not FaultKind.SERVER_ERROR and refuses(turn):
            return passed(answer="refused")
        control = _malformed_history(city, f'{{"city": "{city}"}}')
        await judgeable(talk, turn, feature=MALFORMED.over(control))
        return passed(answer="taken")


def _malformed_history(city: str, arguments: str) -> list[JsonObject]:
    return [
        user(f"Get the weather in {city}."),
        call_message(None, ("call_e5", "get_weather", arguments)),
        tool_result("call_e5", '{"error": "the arguments are not valid JSON"}'),
        user("Never mind. Just say hello."),
    ]


KEPT = Feature(what="reasoning sent back", capability=False)
RESULT = always({"temperature": 21, "conditions": "clear"})


@probe
class ReasoningBack(ScriptedProbe):
    """Only models that show their reasoning are asked on; the others have nothing to send back."""

    name = "reasoning_back"
    group = "conversation"
    title = "Takes a history with and without its reasoning"
    meaning = "Agents need not know whether a vendor wants its reasoning back."
    needs = ("basic",)
    requests = 3
    order = 70

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}.")]
        turn = await answered(talk, messages, tools=[WEATHER])
        if not turn.answer.reasoning:
            return not_applicable("the model shows no reasoning")
        if not valid_calls(turn, "get_weather"):
            return failed(why_not_called(turn, "get_weather"), called=False)
        history = with_results(messages, turn, RESULT)
        without = await talk.ask(history, tools=[WEATHER])
        with_it = await talk.ask(with_reasoning(history, turn.answer.reasoning), tools=[WEATHER])
        return await _judge(talk, without, with_it)


async def _judge(talk: Conversation, without: Turn, with_it: Turn) -> ProbeResult:
    if with_it.fault is not None:
        feature = KEPT.over(without.exchange.request.body["messages"])
        return await refused(talk, with_it, with_it.fault, feature, called=True)
    if without.fault is None:
        return passed(called=True)
    if without.fault.kind not in REFUSALS:
        return await refused(talk, without, without.fault, None, called=True)
    found = finding("reasoning.required_back", said(without.fault), turn=without.index)
    return failed("refuses the second turn unless the reasoning is sent back", found, called=True, handled=False)
