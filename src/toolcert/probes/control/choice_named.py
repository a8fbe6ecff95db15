"""A `tool_choice` that names one function, against what the prompt suggests."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import calls_of
from toolcert.probes.registry import probe
from toolcert.probes.tools import SEARCH, WEATHER

NAMED = Feature(what="a named tool_choice", without=("tool_choice",), code="choice.rejected")
CHOICE = {"type": "function", "function": {"name": "search_web"}}


@probe
class ChoiceNamed(ScriptedProbe):
    """The prompt suggests the weather tool, the field names the search: following the field is no accident."""

    name = "choice_named"
    group = "control"
    title = "Calls the function that tool_choice names"
    meaning = "Routing and extraction by a forced function work."
    order = 40

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}.")]
        turn = await answered(talk, messages, feature=NAMED, tools=[WEATHER, SEARCH], tool_choice=CHOICE)
        calls = calls_of(turn)
        if not calls:
            return failed("answers in words although tool_choice names a function", called=False)
        if any(call.call.name != "search_web" for call in calls):
            return failed("calls another function than tool_choice names", called=False)
        if not all(call.valid for call in calls):
            return failed("calls the named function with invalid arguments", called=False)
        return passed(called=True)
