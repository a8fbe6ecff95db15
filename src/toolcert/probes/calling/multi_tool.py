"""Two different tools in one answer."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed
from toolcert.probes.oracle import carries, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, SEARCH, WEATHER


@probe
class MultiTool(ScriptedProbe):
    """Asks for the weather and a calculation at once."""

    name = "multi_tool"
    group = "calling"
    title = "Calls two different tools in one answer"
    meaning = "Independent steps of a task can be run side by side."
    order = 40

    def __init__(self, city: str | None = None) -> None:
        self._city = city

    async def run(self, talk: Conversation) -> ProbeResult:
        city = self._city or talk.nonce("city")
        left, right = str(talk.number("left", low=100, high=999)), str(talk.number("right", low=11, high=99))
        prompt = (
            f"Get the weather in {city}. Also calculate {left} * {right}. "
            "Call both tools in the same response, before answering."
        )
        turn = await answered(talk, [user(prompt)], tools=[WEATHER, CALCULATE, SEARCH])
        weather = any(carries(call, city=city) for call in valid_calls(turn, "get_weather"))
        sums = [call for call in valid_calls(turn, "calculate") if carries(call, expression=left)]
        calculation = any(carries(call, expression=right) for call in sums)
        if weather and calculation:
            return passed(called=True)
        return failed(_reason(turn, weather=weather, calculation=calculation), called=bool(weather or calculation))


def _reason(turn: Turn, *, weather: bool, calculation: bool) -> str:
    if weather:
        return "calls get_weather and not calculate"
    if calculation:
        return "calls calculate and not get_weather"
    return why_not_called(turn, "get_weather")
