"""The same request at temperature 0, three times."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, not_applicable, passed
from toolcert.probes.oracle import answered, calls_of, left_out
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import CALCULATE, WEATHER

TIMES = 3


@probe
class Repeatability(ScriptedProbe):
    """Compares text, tools and arguments; ids and times may differ."""

    name = "repeatability"
    group = "server"
    title = "Answers the same at temperature 0"
    meaning = "A test that passes once passes again."
    requests = TIMES
    order = 50
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}. Explain in one sentence what you do.")]
        answers: list[str] = []
        for _ in range(TIMES):
            turn = await answered(talk, messages, tools=[WEATHER, CALCULATE], temperature=0, max_tokens=128)
            answers.append(_said(turn))
        different = next((answer for answer in answers if answer != answers[0]), None)
        if different is None:
            return passed(called=turn.answer.called)
        if left_out(turn, "temperature"):
            return not_applicable("the server refuses a temperature of 0", called=turn.answer.called)
        found = finding("nondeterministic", f"{answers[0]} | {different}", turn=turn.index)
        return failed("answers differ at temperature 0", found, called=turn.answer.called)


def _said(turn: Turn) -> str:
    """All of the answer that must repeat, in one line."""
    calls = [f"{call.call.name}({call.judgement.arguments or call.call.arguments})" for call in calls_of(turn)]
    return " ".join([turn.text, *calls]).strip()
