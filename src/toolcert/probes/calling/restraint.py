"""No call where none is due: no tool fits, or a required argument is missing."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import answered
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import CALCULATE, WEATHER
from toolcert.probes.text_oracle import asks_for_place, claims_weather, in_words

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
