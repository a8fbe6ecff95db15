"""The right tool among several, with the right argument."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import answered, carries, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER

TOOLS = [WEATHER, CALCULATE, SEARCH]


@probe
class Basic(ScriptedProbe):
    """Asks for the weather in a made-up city, or in a given one."""

    name = "basic"
    group = "calling"
    title = "Calls the right tool among several"
    meaning = "Asked plainly, the model picks the fitting tool and fills in what it was told."
    order = 20

    def __init__(self, city: str | None = None) -> None:
        self._city = city

    async def run(self, talk: Conversation) -> ProbeResult:
        city = self._city or talk.nonce("city")
        turn = await answered(talk, [user(f"Get the weather in {city}.")], tools=TOOLS)
        if any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return passed(called=True)
        return failed(why_not_called(turn, "get_weather"), called=False)
