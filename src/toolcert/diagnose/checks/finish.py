"""Findings about the finish reason and about whether it agrees with the calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.excerpt import shown
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.text.number_text import plural
from toolcert.diagnose.checks.registry import Evidence, View, When, check
from toolcert.diagnose.judgement import Damage
from toolcert.diagnose.request_facts import names_a_tool, token_limit

KNOWN_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
_USUAL = ("stop", "tool_calls")
_FILTERS = lazy_pattern(
    r"content[_-]?filter\b|safety|prohibited|recitation|blocklist|sensitive|guardrail", re.IGNORECASE
)
"""How servers say that a filter ended the answer; some append the filter's name to the protocol's word."""
_CONTEXT = 2000
"""Tokens of prompt and answer that any model has room for: below, no context window can be full."""

STOP_WITH_CALLS = FindingKind(
    code="finish.stop_with_calls",
    severity=Severity.WARNING,
    title="The answer holds tool calls, but its finish reason is `stop`.",
    meaning="An agent loop that goes by the finish reason takes the turn for a final answer: it runs no tool, "
    "and the user gets an empty or half answer. Loops that look at the calls themselves are not hurt.",
    cause="The server or a gateway sets the reason from the model's end-of-turn token, or translates another "
    "provider's reasons one to one, without looking at what its own parser found. "
    "It is often right without streaming and wrong with it.",
    remedy="Decide by the presence of `tool_calls`, never by the reason alone; report it to whoever runs the "
    "server. When `tool_choice` names one function, `stop` is the protocol's own behaviour and not reported.",
    seen_in=("litellm #12862", "python-genai #2868", "vllm #25054"),
)
CALLS_MISSING = FindingKind(
    code="finish.calls_missing",
    severity=Severity.ERROR,
    title="The finish reason announces tool calls, but there are none.",
    meaning="An agent goes looking for calls to run, finds nothing, and stops, crashes or asks again for ever. "
    "What the model wanted to do is lost.",
    cause="The tool parser recognised that the model began a call and then failed to parse it, or a stream "
    "lost the pieces that carried it.",
    remedy="Treat the turn as failed and retry it. On a server of your own, check that the tool parser fits the "
    "model and its chat template.",
    seen_in=("vllm #53363",),
)
ABSENT = FindingKind(
    code="finish.absent",
    severity=Severity.WARNING,
    title="The answer ends without a finish reason.",
    meaning="A client cannot tell a finished answer from one that was cut off. Strict clients refuse it; "
    "others wait for a reason that never comes.",
    cause="A gateway or a hand-written server that leaves the field out or null, usually in the last chunk of a "
    "stream.",
    remedy="Ask the operator to send `finish_reason` with every choice. Until then treat such answers as possibly "
    "incomplete.",
    seen_in=("openclaw PR #98575",),
)
REPEATED = FindingKind(
    code="finish.repeated",
    severity=Severity.WARNING,
    title="A choice ends more than once.",
    meaning="A client that acts on the first reason drops what comes after it; one that acts on each runs the "
    "same calls twice.",
    cause="A gateway adds its own closing chunk to the one that it passes on.",
    remedy="Act when the stream itself has ended, and use the last reason. Report it to the operator of the gateway.",
    seen_in=("ChatMock PR #114",),
)
NONSTANDARD = FindingKind(
    code="finish.nonstandard",
    severity=Severity.WARNING,
    title="The finish reason is not one that the protocol knows.",
    meaning="Typed clients raise a validation error; others fall into a branch that was never tested, "
    "and may ignore the calls in the answer.",
    cause="The server passes on the vocabulary of its own engine (`eos`, `tool_use`, `end_turn`, `error`) instead "
    "of translating it.",
    remedy="Map the value in your client, or ask the operator to send one of `stop`, `length`, `tool_calls`, "
    "`content_filter`.",
    seen_in=("pydantic-ai #2844",),
)
TRUNCATION_HIDDEN = FindingKind(
    code="finish.truncation_hidden",
    severity=Severity.ERROR,
    title="Arguments are cut off, but the finish reason does not say `length`.",
    meaning="The agent believes that the call is complete. It fails on the broken JSON, or repairs it and runs "
    "the tool with half of its arguments.",
    cause="The token limit was reached in the middle of a call, and the server reports `tool_calls` or `stop` "
    "because a call had begun. Cut arguments under an honest `length` are not reported.",
    remedy="Raise `max_tokens`. Parse the arguments strictly, and never run a call whose JSON was repaired.",
    seen_in=("ai-dynamo PR #13791",),
)
LENGTH_FALSE = FindingKind(
    code="finish.length_false",
    severity=Severity.ERROR,
    title="The answer ends with `length` long before the limit that was asked for.",
    meaning="The answer is cut although there was room for it, or it is whole and said to be cut: an agent drops a "
    "good call, or asks again with a higher limit that changes nothing. A whole call under a false `length` is "
    "a warning.",
    cause="A limit of the server or gateway that is lower than the one in the request, which is not refused; or a "
    "reason that is set without looking.",
    remedy="Ask the operator for the real limit. On a server of your own, look for a default such as `max_new_tokens`.",
)
FILTERED = FindingKind(
    code="finish.filtered",
    severity=Severity.NOTE,
    title="A content filter ended the answer.",
    meaning="What the model would have done is not known: the case is not measured, and nothing counts against the "
    "model.",
    cause="The vendor's filter took the request or the answer for forbidden content, often wrongly.",
    remedy="Change the words of the request, or ask the vendor for another filter.",
)


@check(STOP_WITH_CALLS, When.CALLED, When.STOPPED, chat_only=True)
def stop_with_calls(view: View) -> Iterator[Evidence]:
    if not names_a_tool(view.request):
        yield Evidence(text=f'finish_reason "stop" with {_counted(view)}')


@check(CALLS_MISSING, When.NOT_CALLED)
def calls_missing(view: View) -> Iterator[Evidence]:
    if view.reply.finish_reason == "tool_calls":
        yield Evidence(text=f'finish_reason "tool_calls", tool_calls {view.reply.calls_field.value}')


@check(ABSENT, When.ODD_FINISH)
def absent(view: View) -> Iterator[Evidence]:
    if not view.reply.finish_reasons and view.reply.finish_reason is None and view.reply.complete:
        yield Evidence(text="finish_reason absent or null at the end of the choice")


@check(REPEATED, When.STREAMED)
def repeated(view: View) -> Iterator[Evidence]:
    if len(view.reply.finish_reasons) > 1:
        yield Evidence(text="finish reasons " + ", ".join(shown(reason, 40) for reason in view.reply.finish_reasons))


@check(NONSTANDARD, When.ODD_FINISH)
def nonstandard(view: View) -> Iterator[Evidence]:
    reason = view.reply.finish_reason
    if reason is not None and reason not in KNOWN_REASONS:
        yield Evidence(text=f"finish_reason {shown(reason, 60)}")


@check(TRUNCATION_HIDDEN, When.FLAWED)
def truncation_hidden(view: View) -> Iterator[Evidence]:
    if view.reply.finish_reason == "length" or not view.reply.complete:
        return
    for call in view.calls:
        if call.damage is Damage.TRUNCATED and (not view.reply.streamed or reached_limit(view)):
            reason = shown(view.reply.finish_reason, 40)
            yield Evidence(
                text=f"finish_reason {reason}, arguments {shown(call.call.arguments, 100)}", call=call.position
            )


@check(LENGTH_FALSE, When.ODD_FINISH, chat_only=True)
def length_false(view: View) -> Iterator[Evidence]:
    if view.reply.finish_reason != "length":
        return
    limit, usage = token_limit(view.request), view.reply.usage or {}
    spent, read = usage.get("completion_tokens"), usage.get("prompt_tokens")
    if limit is None or not isinstance(spent, int) or spent <= 0:
        return
    # A full context window ends an answer legitimately; reasoning that is not counted as such may have used the rest.
    full = not isinstance(read, int) or read + spent > _CONTEXT
    if not full and 2 * spent < limit and len(view.reply.reasoning or "") < limit:
        whole = bool(view.calls) and all(call.valid for call in view.calls)
        text = f'finish_reason "length" after {spent} tokens, {limit} were allowed'
        yield Evidence(text=text, severity=Severity.WARNING if whole else None)


@check(FILTERED, When.ODD_FINISH)
def filtered(view: View) -> Iterator[Evidence]:
    if is_filtered(view.reply.finish_reason):
        yield Evidence(text=f"finish_reason {shown(view.reply.finish_reason, 60)}")


def is_filtered(reason: str | None) -> bool:
    """Whether a finish reason says that a content filter ended the answer."""
    return reason not in _USUAL and reason is not None and _FILTERS.match(reason) is not None


def reached_limit(view: View) -> bool:
    """Whether the answer used up exactly the tokens it was allowed."""
    limit = token_limit(view.request)
    return limit is not None and (view.reply.usage or {}).get("completion_tokens") == limit


def _counted(view: View) -> str:
    return plural(len(view.reply.tool_calls), "tool call")
