"""The same tool several times in one answer."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import carries, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, WEATHER

CITIES = ("first", "second", "third")


def three_cities(talk: Conversation) -> tuple[list[str], str]:
    """Three cities nobody can guess, and the question about them."""
    cities = [talk.nonce(place) for place in CITIES]
    prompt = f"Get the weather in {cities[0]}, {cities[1]} and {cities[2]}. Call get_weather once for each city."
    return cities, prompt


@probe
class Parallel(ScriptedProbe):
    """Asks for the weather in three cities."""

    name = "parallel"
    group = "calling"
    title = "Calls the same tool several times in one answer"
    meaning = "Work on a list of things takes one turn and not one turn per thing."
    needs = ("basic",)
    order = 50

    async def run(self, talk: Conversation) -> ProbeResult:
        cities, prompt = three_cities(talk)
        turn = await answered(talk, [user(prompt)], tools=[WEATHER, CALCULATE])
        calls = valid_calls(turn, "get_weather")
        found = [city for city in cities if any(carries(call, city=city) for call in calls)]
        if len(found) == len(cities) == len(calls):
            return passed(called=True)
        if not calls:
            return failed(why_not_called(turn, "get_weather"), called=False)
        if len(found) == len(cities):
            return failed("calls more often than asked for", called=True, calls=len(calls))
        return failed(f"calls for {len(found)} of {len(cities)} cities", called=True, calls=len(calls))
