"""Token counts that add up, and tools that count."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, not_applicable, passed
from toolcert.probes.oracle import answered
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER


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


@probe
class ToolsInPrompt(ScriptedProbe):
    """The same request with tools and without: tools that the model reads cost tokens."""

    name = "tools_in_prompt"
    group = "server"
    title = "Shows the model its tools"
    meaning = "What is offered reaches the model; a model that does not call is not to blame for a lost list of tools."
    requests = 2
    order = 45
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}.")]
        turn = await answered(talk, messages, tools=[WEATHER, CALCULATE, SEARCH], max_tokens=256)
        bare = await talk.control(messages, max_tokens=16)
        with_tools, without = (_prompt_tokens(one) for one in (turn, bare))
        if not with_tools or not without:
            return not_applicable("the server does not count prompt tokens", called=turn.answer.called)
        if with_tools > without:
            return passed(with_tools=with_tools, without=without)
        severity = Severity.WARNING if turn.answer.called else None
        evidence = f"{with_tools} prompt tokens with three tools, {without} without"
        found = finding("prompt.tools_dropped", evidence, turn=turn.index, severity=severity)
        reason = "does not count the tools" if turn.answer.called else "never shows the tools to the model"
        return failed(reason, found, called=turn.answer.called, with_tools=with_tools, without=without)


def _prompt_tokens(turn: Turn) -> int:
    count = ((turn.reply.usage if turn.reply is not None else None) or {}).get("prompt_tokens")
    return count if isinstance(count, int) else 0
