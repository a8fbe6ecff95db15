"""Does the model call: the right tool, several in one answer, and none if none fits?"""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, probe
from toolcert.probes.oracle import answered, carries, valid_calls, why_not_called
from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER
from toolcert.probes.text_oracle import asks_for_place, claims_weather, in_words

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


CITIES = ("first", "second", "third")


def three_cities(talk: Conversation) -> tuple[list[str], str]:
    """Three cities that cannot be guessed, and the question about them."""
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


QUESTIONS = (
    "Translate the word house into French.",
    "Write one short sentence about the sea.",
    "Name the opposite of cold.",
    "Which letter comes after B in the alphabet?",
)


@probe
class Irrelevance(ScriptedProbe):
    """Asks what none of the offered tools can help with; a model that never calls is not asked."""

    name = "irrelevance"
    group = "calling"
    title = "Does not call when no tool fits"
    meaning = "Tools can be offered all the time without being called for nothing."
    needs = ("basic",)
    order = 70

    async def run(self, talk: Conversation) -> ProbeResult:
        question = QUESTIONS[(talk.iteration - 1) % len(QUESTIONS)]
        turn = await answered(talk, [user(question)], tools=[WEATHER, CALCULATE])
        if turn.answer.called:
            found = finding("trigger.over", f"{question} {turn.answer.tool_calls[0].name}", turn=turn.index)
            return failed("calls a tool where none fits", found)
        if not in_words(turn.text):
            return failed("answers with nothing where no tool fits")
        if any(found.code == "call.in_text" for found in turn.findings):
            return failed("writes a call as text where no tool fits")
        return passed()


@probe
class MissingInfo(ScriptedProbe):
    """Asks for the weather without saying where; a model that never calls is not asked."""

    name = "missing_info"
    group = "calling"
    title = "Asks for missing information"
    meaning = "A required argument is never made up."
    needs = ("basic",)
    order = 80

    async def run(self, talk: Conversation) -> ProbeResult:
        turn = await answered(talk, [user("Get the weather.")], tools=[WEATHER])
        if turn.answer.called:
            return failed("invents a required argument instead of asking for it")
        if asks_for_place(turn.text):
            return passed()
        if claims_weather(turn.text):
            return failed("makes up the weather instead of asking where")
        return failed("neither calls nor asks for what is missing")
