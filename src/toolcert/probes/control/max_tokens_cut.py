"""A call that cannot fit into max_tokens: the server must say that it was cut."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, unsupported
from toolcert.probes.oracle import TOOLS, Feature, calls_of, judgeable, left_out, unless_refused
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import SAVE_NOTE

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
        # Where the same call goes through with room for it, the server breaks on the cut and not on tools.
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
