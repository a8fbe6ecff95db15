"""`tool_choice: required` on a prompt that calls for nothing."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import calls_of
from toolcert.probes.registry import probe
from toolcert.probes.tools import SEARCH, WEATHER

REQUIRED = Feature(what="tool_choice required", without=("tool_choice",), code="choice.rejected")


@probe
class ChoiceRequired(ScriptedProbe):
    """A greeting asks for no tool, so a call shows that the field was obeyed."""

    name = "choice_required"
    group = "control"
    title = "Calls under tool_choice required"
    meaning = "A step of a plan that must be a call can be forced."
    order = 30

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user("Good morning!")]
        turn = await answered(talk, messages, feature=REQUIRED, tools=[WEATHER, SEARCH], tool_choice="required")
        calls = calls_of(turn)
        if not calls:
            return failed("answers in words under tool_choice required", called=False)
        if not all(call.valid for call in calls):
            return failed("calls with invalid arguments under tool_choice required", called=False)
        return passed(called=True)
