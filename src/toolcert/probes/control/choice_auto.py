"""`tool_choice: auto`, said aloud."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import carries, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, WEATHER

AUTO = Feature(what="tool_choice auto", without=("tool_choice",), code="choice.rejected")


@probe
class ChoiceAuto(ScriptedProbe):
    """The default, sent explicitly, as many frameworks do."""

    name = "choice_auto"
    group = "control"
    title = "Takes tool_choice auto"
    meaning = "Frameworks that always send tool_choice work here."
    order = 10

    async def run(self, talk: Conversation) -> ProbeResult:
        city = talk.nonce("city")
        messages = [user(f"Get the weather in {city}.")]
        turn = await answered(talk, messages, feature=AUTO, tools=[WEATHER, CALCULATE], tool_choice="auto")
        if any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return passed(called=True)
        return failed(why_not_called(turn, "get_weather"), called=False)
