"""Does the server obey what the request says about calling: `tool_choice`, `parallel_tool_calls`, `max_tokens`?"""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, probe, unsupported
from toolcert.probes.catalogue.calling import three_cities
from toolcert.probes.oracle import (
    TOOLS,
    Feature,
    answered,
    calls_of,
    carries,
    judgeable,
    left_out,
    unless_refused,
    valid_calls,
    why_not_called,
)
from toolcert.probes.sample_tools import CALCULATE, SAVE_NOTE, SEARCH, WEATHER
from toolcert.probes.text_oracle import in_words

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


NAMED = Feature(what="a named tool_choice", without=("tool_choice",), code="choice.rejected")
CHOICE = {"type": "function", "function": {"name": "search_web"}}


@probe
class ChoiceNamed(ScriptedProbe):
    """The prompt suggests the weather tool, the field names the search: following the field is not an accident."""

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


NONE = Feature(what="tool_choice none", without=("tool_choice",), code="choice.rejected")


@probe
class ChoiceNone(ScriptedProbe):
    """Asks what would be called for, and forbids it; a model that never calls is not asked."""

    name = "choice_none"
    group = "control"
    title = "Does not call under tool_choice none"
    meaning = "A turn that must be words is words, without taking the tools away."
    needs = ("basic",)
    order = 20
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}.")]
        turn = await answered(talk, messages, feature=NONE, tools=[WEATHER, CALCULATE], tool_choice="none")
        if turn.answer.called:
            return failed("calls a tool under tool_choice none")
        if any(found.code in ("call.in_text", "call.in_reasoning") for found in turn.findings):
            return failed("leaks the call as text under tool_choice none")
        if not in_words(turn.text) and turn.answer.finish_reason != "length":
            return failed("answers with nothing under tool_choice none")
        return passed()


REQUIRED = Feature(what="tool_choice required", without=("tool_choice",), code="choice.rejected")


@probe
class ChoiceRequired(ScriptedProbe):
    """A greeting asks for no tool, so a call shows that the field was obeyed."""

    name = "choice_required"
    group = "control"
    title = "Calls under tool_choice required"
    meaning = "A step of a plan that must be a call can be forced."
    order = 30

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user("Good morning!")]
        turn = await answered(talk, messages, feature=REQUIRED, tools=[WEATHER, SEARCH], tool_choice="required")
        calls = calls_of(turn)
        if not calls:
            return failed("answers in words under tool_choice required", called=False)
        if not all(call.valid for call in calls):
            return failed("calls with invalid arguments under tool_choice required", called=False)
        return passed(called=True)


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


LIMIT = 24
WORDS = 40
ENOUGH = 1024
CUT = Feature(what="a call that max_tokens cuts", instead={"max_tokens": ENOUGH}, capability=False)


@probe
class MaxTokensCut(ScriptedProbe):
    """Wants a note of forty unheard-of words saved within a limit of far fewer tokens."""

    name = "max_tokens_cut"
    group = "control"
    title = "Says so when max_tokens cuts an answer"
    meaning = "The finish reason shows whether a call is whole or cut off."
    order = 60
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        note = " ".join(talk.nonce(f"word {number}") for number in range(WORDS))
        messages = [user(f'Call save_note with text "{note}".')]
        turn = await talk.ask(messages, tools=[SAVE_NOTE], max_tokens=LIMIT)
        # If the same call goes through with room for it, the server breaks on the cut and not on tools.
        turn = await unless_refused(talk, turn, CUT.over(messages))
        turn = await judgeable(talk, turn, feature=TOOLS)
        if left_out(turn, "max_tokens"):
            return unsupported("refuses max_tokens")
        state = _state(turn)
        if turn.answer.finish_reason == "length":
            return passed(cut_call=state)
        if state == "whole":
            return failed("does not keep to max_tokens", cut_call=state)
        return failed(f"cuts the answer with finish_reason {turn.answer.finish_reason or 'absent'}", cut_call=state)


def _state(turn: Turn) -> str:
    """What is left of the call: `none`, `broken` or `whole`."""
    calls = calls_of(turn)
    if not calls:
        return "none"
    return "whole" if all(call.valid for call in calls) else "broken"
