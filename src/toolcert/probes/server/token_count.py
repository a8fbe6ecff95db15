"""Token counts that add up."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import answered
from toolcert.probes.registry import probe


@probe
class Usage(ScriptedProbe):
    """A short answer and the tokens it is said to have cost."""

    name = "usage"
    group = "server"
    title = "Counts tokens consistently"
    meaning = "Budgets and bills can be computed from what the server says."
    order = 40
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        turn = await answered(talk, [user(f"Say {talk.nonce('word')}.")], feature=None, max_tokens=64)
        usage = turn.answer.usage
        if not usage:
            return failed("says nothing about the tokens used")
        if any(found.code == "usage.arithmetic" for found in turn.findings):
            return failed("token counts do not add up", usage=usage)
        if not usage.get("prompt_tokens") or not usage.get("completion_tokens"):
            return failed("token counts are missing or zero", usage=usage)
        return passed()
