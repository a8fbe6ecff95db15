"""`tool_choice`: auto, required, none, or the name of one function."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import Feature, answered, calls_of, carries, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER
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
