"""A required argument nobody gave: ask for it, do not invent it."""

from __future__ import annotations

import re

from toolcert.core.requests import user
from toolcert.probes.asking import answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER

_ASKS = re.compile(r"\?|\b(which|what|where|city|location|place|provide|specify|tell me|let me know)\b", re.IGNORECASE)


@probe
class MissingInfo(ScriptedProbe):
    """Asks for the weather without saying where; a model that never calls is not asked."""

    name = "missing_info"
    group = "calling"
    title = "Asks for what it was not told"
    meaning = "A required argument is never made up."
    needs = ("basic",)
    order = 80

    async def run(self, talk: Conversation) -> ProbeResult:
        turn = await answered(talk, [user("Get the weather.")], tools=[WEATHER])
        if turn.answer.called:
            return failed("invents a required argument instead of asking for it")
        if not _ASKS.search(turn.text):
            return failed("neither calls nor asks for what is missing")
        return passed()
