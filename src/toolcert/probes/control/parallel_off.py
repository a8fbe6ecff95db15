"""`parallel_tool_calls: false` where several calls are wanted."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.calling.parallel import three_cities
from toolcert.probes.oracle import Feature, answered, calls_of, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import CALCULATE, WEATHER

OFF = Feature(what="parallel_tool_calls false", without=("parallel_tool_calls",), code="choice.rejected")


@probe
class ParallelOff(ScriptedProbe):
    """Three cities and only one call at a time; a model that never calls in parallel is not asked."""

    name = "parallel_off"
    group = "control"
    title = "Makes one call at a time when told to"
    meaning = "Agents that handle one call per turn are safe."
    needs = ("parallel",)
    order = 50

    async def run(self, talk: Conversation) -> ProbeResult:
        _, prompt = three_cities(talk)
        messages, tools = [user(prompt)], [WEATHER, CALCULATE]
        turn = await answered(talk, messages, feature=OFF, tools=tools, parallel_tool_calls=False)
        count = len(calls_of(turn))
        if count > 1:
            return failed("makes several calls under parallel_tool_calls false", called=True, calls=count)
        if not valid_calls(turn, "get_weather"):
            return failed(why_not_called(turn, "get_weather"), called=False)
        return passed(called=True)
