"""Reasoning in the history: kept or left out, both must be taken."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.asking import REFUSALS, Feature, answered, refused, said
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, not_applicable, passed
from toolcert.probes.history import always, with_reasoning, with_results
from toolcert.probes.oracle import valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER

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
