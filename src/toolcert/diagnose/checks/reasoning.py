"""Findings about reasoning: where it is, and whether anything but reasoning came."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.excerpt import around, excerpt
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.markup import call_in, fence_at, is_quoted
from toolcert.diagnose.request_facts import conversation_text, json_mode

_OPENING = lazy_pattern(
    r"\s*(?:<(?:think|thinking|thought|reasoning|seed:think|think:opensource)>|\[THINK\]|◁think▷|<\|START_THINKING\|>"
    r"|<\|channel>\s*thought|<\|inner_prefix\|>|<\|open\|>think<\|sep\|>|<ifm\|think\w*>)"
)
_CLOSING = lazy_pattern(
    r"</(?:think|thinking|thought|reasoning|seed:think|think:opensource|ifm\|think\w*)>|\[/THINK\]|◁/think▷"
    r"|<\|END_THINKING\|>|<\|inner_suffix\|>|<\|close\|>think<\|sep\|>"
)
_CHANNEL = lazy_pattern(
    r"<\|channel\|>\s*(?:analysis|commentary|final)|\A\s*(?:analysis|commentary|final)(?=[A-Z])"
    r"|assistant(?:analysis|commentary|final)(?![a-z])"
)
"""The channels of gpt-oss, with their special tokens or without."""
_SIGNS = ("<", "[", "◁", "analysis", "commentary", "final")
"""One of these is in every markup of reasoning; to look for them costs less than to try the patterns."""

ONLY = FindingKind(
    code="reasoning.only",
    severity=Severity.ERROR,
    title="The answer consists of reasoning alone: no text, no call.",
    meaning="The agent has nothing to show and nothing to run, and the finish reason says that all is well.",
    cause="The model ends its turn inside its thoughts, or the server's reasoning parser swallows what came after "
    "them.",
    remedy="Treat it as an empty answer and ask again. On a server of your own, check that the reasoning parser fits "
    "the model.",
    seen_in=("Kimi-K2 #128", "ollama #10976"),
)
LEAKED = FindingKind(
    code="reasoning.leaked",
    severity=Severity.WARNING,
    title="The markup of reasoning is in the text.",
    meaning="Users see the model's thoughts. They also go back into the history as if they had been said, and "
    "programs that read the text stumble over the tags.",
    cause="No reasoning parser is switched on, or it does not know this model's tags.",
    remedy="Switch on the reasoning parser for this model, or cut the tagged part off in the client.",
    seen_in=("vllm-mlx #161",),
)
declare(
    FindingKind(
        code="reasoning.required_back",
        severity=Severity.WARNING,
        title="The second turn is refused unless the reasoning is sent back.",
        meaning="Agents that keep only text and calls in their history, as most do, fail on the turn after a tool was "
        "run.",
        cause="The vendor requires `reasoning_content` (or its own field) of earlier assistant turns.",
        remedy="Keep the reasoning field of assistant turns and send it back unchanged.",
        seen_in=("qwen-code #3724",),
    )
)
declare(
    FindingKind(
        code="reasoning.not_kept",
        severity=Severity.WARNING,
        title="Reasoning that is sent back between calls does not reach the model.",
        meaning="The model forgets its plan with every call, which costs it long tasks.",
        cause="The server drops `reasoning_content` from the history, or its template does not render it.",
        remedy="Use a template that keeps the reasoning between calls, if the model was trained with it; otherwise let "
        "the model say its plan in the text.",
    )
)


@check(ONLY, When.REASONING)
def only(view: View) -> Iterator[Evidence]:
    reply = view.reply
    if reply.tool_calls or reply.finish_reason != "stop" or (reply.content or "").strip():
        return
    if call_in(reply.reasoning, view.request, thought=True) is None:
        yield Evidence(text=f'finish_reason "stop", only reasoning: {excerpt(reply.reasoning or "", 90)}')


@check(LEAKED, When.TEXT, chat_only=True)
def leaked(view: View) -> Iterator[Evidence]:
    text = view.reply.content or ""
    match = leak_in(text)
    if match is None or match[0].strip() in conversation_text(view.request):
        return
    # A call in a channel is one fault, and `call.in_text` names it.
    if match.re.pattern != _CHANNEL.pattern or call_in(text, view.request) is None:
        # A program that reads the answer as JSON does not stumble over the markup, it breaks.
        severity = Severity.ERROR if json_mode(view.request) else None
        yield Evidence(text=around(text, match.start(), match.end()), severity=severity)


def leak_in(text: str) -> re.Match[str] | None:
    """The markup of reasoning in a text; quoted code does not count."""
    if not any(sign in text for sign in _SIGNS):
        return None
    match = _OPENING.match(text) or _CLOSING.search(text) or _CHANNEL.search(text)
    return None if match is None or is_quoted(text, match.start()) or fence_at(text, match.start()) else match
