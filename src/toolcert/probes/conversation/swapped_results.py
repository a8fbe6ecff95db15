"""Two results in the other order than their calls."""

from __future__ import annotations

from toolcert.core.requests import tool_result, user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed
from toolcert.probes.history import RESULTS, answered_on, call_message
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER


@probe
class SwappedResults(ScriptedProbe):
    """The results name no city: only their ids tell which is whose."""

    name = "swapped_results"
    group = "conversation"
    title = "Matches results to calls by id"
    meaning = "Calls can be run side by side and answered as they finish."
    order = 30

    async def run(self, talk: Conversation) -> ProbeResult:
        stations = {talk.nonce("city one"): talk.nonce("one"), talk.nonce("city two"): talk.nonce("two")}
        first, second = stations
        question = user(f"Which weather station reports for {first}, and which for {second}? Use get_weather for each.")
        calls = [(f"call_{city.lower()}", "get_weather", f'{{"city": "{city}"}}') for city in stations]
        results = [
            tool_result(f"call_{city.lower()}", f'{{"station": "{stations[city]}"}}') for city in (second, first)
        ]
        messages = [question, call_message(None, *calls), *results]
        turn = await answered_on(talk, messages, feature=RESULTS.over([question]), tools=[WEATHER])
        return _judge(turn, stations)


def _judge(turn: Turn, stations: dict[str, str]) -> ProbeResult:
    text = turn.text.casefold()
    used = [station for station in stations.values() if station.casefold() in text]
    if not used:
        found = finding("result.ignored", turn.text or "no text", turn=turn.index)
        return failed("does not use the tools' results", found, handled=False)
    if len(used) < len(stations):
        found = finding("result.partial", turn.text, turn=turn.index)
        return failed("uses only one of two results", found, handled=False)
    if all(_nearest(text, city, stations) == station for city, station in stations.items()):
        return passed(handled=True)
    return failed("gives the results to the wrong calls", handled=False)


def _nearest(text: str, city: str, stations: dict[str, str]) -> str:
    """The station named closest to a city; without the city in the text, none."""
    place = text.find(city.casefold())
    if place < 0:
        return ""
    return min(stations.values(), key=lambda station: abs(text.find(station.casefold()) - place))
