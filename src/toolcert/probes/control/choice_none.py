"""`tool_choice: none`: no call, and none in the text either."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, WEATHER

NONE = Feature(what="tool_choice none", without=("tool_choice",), code="choice.rejected")


@probe
class ChoiceNone(ScriptedProbe):
    """Asks what would be called for, and forbids it; a model that never calls is not asked."""

    name = "choice_none"
    group = "control"
    title = "Does not call under tool_choice none"
    meaning = "A turn that must be words is words, without taking the tools away."
    needs = ("basic",)
    order = 20
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}.")]
        turn = await answered(talk, messages, feature=NONE, tools=[WEATHER, CALCULATE], tool_choice="none")
        if turn.answer.called:
            return failed("calls a tool under tool_choice none")
        if any(found.code in ("call.in_text", "call.in_reasoning") for found in turn.findings):
            return failed("leaks the call as text under tool_choice none")
        if not turn.text.strip() and turn.answer.finish_reason != "length":
            return failed("answers with nothing under tool_choice none")
        return passed()
