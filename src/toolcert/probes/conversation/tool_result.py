"""Tool results that are hard to use: empty, an error, in another order, or with an unknown id."""

from __future__ import annotations

import re

from toolcert.core.requests import tool_result, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed
from toolcert.probes.follow_up import RESULTS, always, answered_on, as_json, ask_on, call_message, next_turn
from toolcert.probes.oracle import REFUSALS, mentions, refuses, said, unmeasured
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import SEARCH, WEATHER

_NOTHING = re.compile(
    r"\b(no|not|nothing|none|empty|zero|without|unable|un\w+|\w+n't|could not|did not)\b", re.IGNORECASE
)


@probe
class EmptyResult(ScriptedProbe):
    """A search for a word nobody has heard of finds nothing, in the plainest form."""

    name = "empty_result"
    group = "conversation"
    title = "Takes an empty result for what it is"
    meaning = "Tools that return nothing neither break the conversation nor start a loop."
    order = 20

    async def run(self, talk: Conversation) -> ProbeResult:
        word = talk.nonce("query")
        question = user(f'Search the web for "{word}" and tell me what was found about "{word}".')
        call = call_message(None, ("call_b2", "search_web", f'{{"query": "{word}"}}'))
        messages = [question, call, tool_result("call_b2", "")]
        turn = await answered_on(talk, messages, feature=RESULTS.over([question]), tools=[SEARCH])
        if turn.answer.called:
            found = finding("result.repeat_call", "the search again", turn=turn.index)
            return failed("makes the same call again after an empty result", found, handled=False)
        if not _NOTHING.search(turn.text) or not mentions(turn, word):
            return failed("does not say that the search found nothing", handled=False)
        return passed(handled=True)


@probe
class ToolError(ScriptedProbe):
    """The result is an error with a code; trying once more is allowed."""

    name = "tool_error"
    group = "conversation"
    title = "Reports a tool's error"
    meaning = "Failures reach the user instead of being papered over."
    requests = 2
    order = 10

    async def run(self, talk: Conversation) -> ProbeResult:
        city, code = talk.nonce("city"), f"E{talk.number('code')}"
        error = {"error": f"weather service unavailable, error code {code}"}
        question = user(f"Get the weather in {city}. If the tool fails, tell me its error code.")
        call = call_message(None, ("call_a1", "get_weather", f'{{"city": "{city}"}}'))
        messages = [question, call, tool_result("call_a1", as_json(error))]
        turn = await answered_on(talk, messages, feature=RESULTS.over([question]), tools=[WEATHER])
        if turn.answer.called:
            _, turn = await next_turn(talk, messages, turn, always(error), tools=[WEATHER])
        if mentions(turn, code):
            return passed(handled=True)
        if turn.answer.called:
            found = finding("result.repeat_call", f"{len(turn.answer.tool_calls)} more calls", turn=turn.index)
            return failed("calls again and again after an error", found, handled=False)
        found = finding("result.ignored", turn.text or "no text", turn=turn.index)
        return failed("does not report the tool's error", found, handled=False)


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


RESULT = '{"temperature": 21}'


@probe
class WrongId(ScriptedProbe):
    """A refusal and an answer both pass, the answer with a note; the same history with the right id is the control."""

    name = "wrong_id"
    group = "conversation"
    title = "Survives a result that belongs to no call"
    meaning = "A mix-up of results in an agent does not break the server; one that answers over it is noted."
    requests = 2
    order = 50
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        sent, turn = await ask_on(talk, _history(talk, "call_other"), tools=[WEATHER])
        if turn.fault is None:
            found = finding("history.wrong_id_accepted", "tool_call_id call_other, no such call", turn=turn.index)
            return passed(found)
        right = [*sent[:-1], tool_result("call_d4", RESULT)]
        control = await talk.control(right, tools=[WEATHER])
        if control.fault is not None:
            return unmeasured(control.fault)
        if refuses(turn):
            return passed()
        if turn.fault.kind not in REFUSALS:
            return unmeasured(turn.fault)
        return failed(f"breaks on a wrong tool_call_id ({said(turn.fault)})")


def _history(talk: Conversation, answered_id: str) -> list[JsonObject]:
    city = talk.nonce("city")
    return [
        user(f"Get the weather in {city}."),
        call_message(None, ("call_d4", "get_weather", f'{{"city": "{city}"}}')),
        tool_result(answered_id, RESULT),
    ]
