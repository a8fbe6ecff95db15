"""A tool without parameters."""

from __future__ import annotations

from toolcert.core.requests import tool, user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import calls_of, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, WEATHER, parameters

REFRESH = tool("refresh_cache", "Refresh the cache.", parameters())
NO_PARAMETERS = Feature(
    what="a tool without parameters", code="schema.valid_rejected", instead={"tools": [WEATHER, CALCULATE]}
)


@probe
class ZeroParameters(ScriptedProbe):
    """Wants a call that has nothing to say but its name."""

    name = "zero_params"
    group = "format"
    title = "Calls a tool without parameters"
    meaning = "Tools that only do something need no dummy argument."
    needs = ("basic",)
    order = 80

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user("Call refresh_cache.")]
        turn = await answered(talk, messages, feature=NO_PARAMETERS, tools=[WEATHER, CALCULATE, REFRESH])
        if len(calls_of(turn)) == len(valid_calls(turn, "refresh_cache")) == 1:
            return passed(called=True)
        return failed(why_not_called(turn, "refresh_cache"), called=False)
