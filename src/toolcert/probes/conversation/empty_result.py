"""The tool returned nothing at all."""

from __future__ import annotations

import re

from toolcert.core.requests import tool_result, user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.history import RESULTS, answered_on, call_message
from toolcert.probes.oracle import mentions
from toolcert.probes.registry import probe
from toolcert.probes.tools import SEARCH

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
