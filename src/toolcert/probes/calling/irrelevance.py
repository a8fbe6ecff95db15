"""No tool fits: no call."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, WEATHER

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
            return failed("calls a tool where none fits")
        if not turn.text.strip():
            return failed("answers with nothing where no tool fits")
        if any(found.code == "call.in_text" for found in turn.findings):
            return failed("writes a call as text where no tool fits")
        return passed()
