"""Assistant turns as agents send them back: with null content, malformed arguments, or reasoning."""

from __future__ import annotations

from toolcert.core.exchanges import FaultKind
from toolcert.core.findings import Finding
from toolcert.core.requests import tool_result, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, not_applicable, passed, probe
from toolcert.probes.follow_up import (
    NULL_CONTENT,
    WITHOUT_REASONING,
    always,
    answered_on,
    ask_on,
    call_id,
    call_message,
    unused,
    with_reasoning,
    with_results,
)
from toolcert.probes.oracle import Feature, answered, judgeable, mentions, said, valid_calls, why_not_called
from toolcert.probes.refusal_pairs import PAIRS, is_refusal, try_pairs
from toolcert.probes.sample_tools import WEATHER
from toolcert.probes.text_oracle import says_number


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
        turn = await answered_on(talk, history, feature=NULL_CONTENT.over(control), tools=[WEATHER])
        if mentions(turn, station):
            return passed(handled=True)
        if await _lost_only_when_null(talk, history, control, station):
            found = finding("history.null_content", turn.text or "no text", turn=turn.index)
            return failed("loses the result when content is null", found, handled=False)
        return unused(turn, "does not use the tool's result")


async def _lost_only_when_null(
    talk: Conversation, history: list[JsonObject], control: list[JsonObject], station: str
) -> bool:
    """Whether the result is lost every time with null content and never with text: a model may also be careless."""
    for _ in range(PAIRS):
        for messages, told in ((control, True), (history, False)):
            turn = await talk.control(messages, tools=[WEATHER])
            if turn.reply is None or mentions(turn, station) is not told:
                return False
    return True


def _null_content_history(talk: Conversation, station: str, content: str | None) -> list[JsonObject]:
    city = talk.nonce("city")
    return [
        user(f"Which weather station reports for {city}? Use get_weather."),
        call_message(content, (call_id("c3"), "get_weather", f'{{"city": "{city}"}}')),
        tool_result(call_id("c3"), f'{{"station": "{station}"}}'),
    ]


MALFORMED = Feature(what="malformed arguments in the history", code="history.malformed_500", capability=False)


@probe
class MalformedHistory(ScriptedProbe):
    """Answering and refusing with a 4xx are both correct; a server error is not."""

    name = "malformed_history"
    group = "conversation"
    title = "Survives malformed arguments in the history"
    meaning = "One broken call does not end the conversation with server errors."
    order = 60
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        city = talk.nonce("city")
        _, turn = await ask_on(talk, _malformed_history(city, f'{{"city": "{city}'), tools=[WEATHER])
        if turn.fault is not None and turn.fault.kind is FaultKind.REJECTED:
            talk.refusals.set_aside(turn)  # as it may be, so it says nothing about bad luck
            return passed(answer="refused")
        control = _malformed_history(city, f'{{"city": "{city}"}}')
        await judgeable(talk, turn, feature=MALFORMED.over(control))
        return passed(answer="taken")


def _malformed_history(city: str, arguments: str) -> list[JsonObject]:
    return [
        user(f"Get the weather in {city}."),
        call_message("I will look that up.", (call_id("e5"), "get_weather", arguments)),
        tool_result(call_id("e5"), '{"error": "the arguments are not valid JSON"}'),
        user("Never mind. Just say hello."),
    ]


KEPT = Feature(what="reasoning sent back", capability=False)
RESULT = always({"temperature": 21, "conditions": "clear"})


@probe
class ReasoningBack(ScriptedProbe):
    """Only models that show their reasoning are asked a second turn; the others have nothing to send back.

    The reasoning that is sent back holds a number which is nowhere else: a model that cannot repeat it, from a prompt
    that did not grow, never saw it.
    """

    name = "reasoning_back"
    group = "conversation"
    title = "Takes a history with and without its reasoning"
    meaning = "Agents need not know whether a vendor wants its reasoning back; one that drops it is noted."
    needs = ("basic",)
    requests = 3
    order = 70

    async def run(self, talk: Conversation) -> ProbeResult:
        city, secret = talk.nonce("city"), talk.number("secret")
        messages = [
            user(
                f"Get the weather in {city}. Before you do, choose a four-digit number in your thoughts. "
                "After the tool has answered, tell me the temperature and the number you chose."
            )
        ]
        turn = await answered(talk, messages, tools=[WEATHER])
        if not turn.answer.reasoning:
            return not_applicable("the model shows no reasoning")
        if not valid_calls(turn, "get_weather"):
            return failed(why_not_called(turn, "get_weather"), called=False)
        history = with_results(messages, turn, RESULT)
        without = await talk.ask(history, tools=[WEATHER])
        thoughts = f"The number I choose is {secret}. Now I get the weather in {city}, then I tell the number {secret}."
        field = "reasoning_content" if b'"reasoning_content"' in turn.exchange.payload else "reasoning"
        with_it = await talk.ask(with_reasoning(history, thoughts, field), tools=[WEATHER])
        return await _judge(talk, without, with_it, secret)


async def _judge(talk: Conversation, without: Turn, with_it: Turn, secret: int) -> ProbeResult:
    messages = without.exchange.request.body["messages"]
    with_it = await judgeable(talk, with_it, feature=KEPT.over(messages), called=True)
    if is_refusal(without) and without.fault is not None:
        trial = await try_pairs(talk, without, WITHOUT_REASONING, lambda: talk.control(**with_it.exchange.request.body))
        if trial.refused:
            found = finding("reasoning.required_back", said(without.fault), turn=without.index)
            reason = "refuses the second turn unless the reasoning is sent back"
            return failed(reason, found, called=True, handled=False)
        without = trial.turn
    without = await judgeable(talk, without, called=True)
    return passed(*_not_kept(without, with_it, secret), called=True)


def _not_kept(without: Turn, with_it: Turn, secret: int) -> tuple[Finding, ...]:
    """A finding if the reasoning did not reach the model; not if the model read it and says nothing."""
    reply = with_it.answer
    if not reply.readable or reply.called or says_number(with_it.text, secret):
        return ()
    before, after = ((one.answer.usage or {}).get("prompt_tokens") for one in (without, with_it))
    if isinstance(before, int) and isinstance(after, int) and after - before > _FEW_TOKENS:
        return ()
    evidence = f"the number {secret} of the reasoning is not told; prompt tokens {before} without it, {after} with it"
    return (finding("reasoning.not_kept", evidence, turn=with_it.index),)


_FEW_TOKENS = 8
"""The reasoning that is sent back costs some thirty tokens; a template's own markers cost a few."""
