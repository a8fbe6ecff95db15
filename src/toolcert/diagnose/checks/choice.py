"""Findings about when tools are called: `tool_choice`, `parallel_tool_calls`, call rates."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.excerpt import shown
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.judgement import Damage
from toolcert.diagnose.markup import call_in
from toolcert.diagnose.request_facts import choice_of, named_tool

_UNFINISHED = frozenset({"length", "content_filter"})
"""Reasons that explain why no call came."""

REQUIRED_IGNORED = FindingKind(
    code="choice.required_ignored",
    severity=Severity.ERROR,
    title="`tool_choice: required` was accepted, and no tool was called.",
    meaning="An agent that forces a call (to route, to extract, to end with a structured answer) gets prose and "
    "has nothing to run.",
    cause="The server accepts the field and only hints at it in the prompt, or drops it: forcing a call takes "
    "constrained decoding that is not there or not switched on.",
    remedy="Do not rely on `required` here: check for a call and ask again. On a server of your own, enable guided "
    "decoding for tools.",
    seen_in=("vllm #44216",),
)
NONE_IGNORED = FindingKind(
    code="choice.none_ignored",
    severity=Severity.ERROR,
    title="`tool_choice: none` was accepted, and a tool was called.",
    meaning="An agent that wants words (a summary, the last turn before its budget ends) gets a call instead, and "
    "may loop or act where it was told not to.",
    cause="The field is ignored, and the tools are put into the prompt all the same.",
    remedy="Leave `tools` out of requests that must not call.",
    seen_in=("ollama #17921",),
)
NAMED_IGNORED = FindingKind(
    code="choice.named_ignored",
    severity=Severity.ERROR,
    title="`tool_choice` names a function, and the answer does not call it.",
    meaning="The agent asked for one function and gets another one, or none: a forced step of its plan is skipped.",
    cause="The server treats a named choice like `required` or like `auto`.",
    remedy="Offer only the wanted tool in such requests, and check the name of the call.",
    seen_in=("vllm #50477",),
)
FLAG_IGNORED = FindingKind(
    code="parallel.flag_ignored",
    severity=Severity.WARNING,
    title="`parallel_tool_calls: false` was accepted, and several calls came.",
    meaning="An agent that handles one call at a time runs the first and forgets the rest, or leaves calls "
    "unanswered in its history, which the next request may be refused for.",
    cause="The field is accepted and ignored.",
    remedy="Answer every call, or drop all but the first from the history before the next turn.",
    seen_in=("sglang #9696",),
)
MERGED = FindingKind(
    code="parallel.merged",
    severity=Severity.ERROR,
    title="Several calls are glued together into one.",
    meaning="The arguments are several JSON objects in a row, which no client can parse. All of the calls are lost.",
    cause="A streaming parser gives parallel calls the same index, or a client-side assembler in a gateway adds up "
    "the pieces of different calls.",
    remedy="Send `parallel_tool_calls: false`, or ask without streaming, until the server is mended.",
    seen_in=("vllm #48318", "sglang #34677"),
)
declare(
    FindingKind(
        code="choice.rejected",
        severity=Severity.NOTE,
        title="The server refuses a legal `tool_choice`.",
        meaning="This way of steering the model is not available here. That is a missing capability said openly, "
        "not a wrong answer: the same request without the field was answered.",
        cause="The server does not implement the value, or needs an option to be set for it.",
        remedy="Do without it, or switch the server's option on.",
    )
)


@check(REQUIRED_IGNORED, When.NOT_CALLED, When.STEERED, chat_only=True)
def required_ignored(view: View) -> Iterator[Evidence]:
    if choice_of(view.request) == "required" and _could_have_called(view):
        yield Evidence(text=f'tool_choice "required", no call, content {shown(view.reply.content, 80)}')


@check(NONE_IGNORED, When.CALLED, When.STEERED, chat_only=True)
def none_ignored(view: View) -> Iterator[Evidence]:
    if choice_of(view.request) == "none":
        yield Evidence(text=f'tool_choice "none", called {shown(view.reply.tool_calls[0].name, 80)}')


@check(NAMED_IGNORED, When.STEERED, chat_only=True)
def named_ignored(view: View) -> Iterator[Evidence]:
    wanted = named_tool(view.request)
    if wanted is None:
        return
    if not view.calls and _could_have_called(view):
        yield Evidence(text=f"tool_choice names {shown(wanted, 60)}, no call")
    other = next((call for call in view.calls if wanted not in (call.call.name, call.meant)), None)
    if other is not None:
        yield Evidence(text=f"tool_choice names {shown(wanted, 60)}, called {shown(other.call.name, 60)}")


@check(FLAG_IGNORED, When.SEVERAL, chat_only=True)
def flag_ignored(view: View) -> Iterator[Evidence]:
    if view.request.body.get("parallel_tool_calls") is False:
        yield Evidence(text=f"parallel_tool_calls false, {len(view.calls)} calls")


@check(MERGED, When.FLAWED)
def merged(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.damage is Damage.GLUED:
            yield Evidence(text=shown(call.call.arguments), call=call.position)


def _could_have_called(view: View) -> bool:
    """Whether no call came and no other finding explains why."""
    reply = view.reply
    return (
        reply.complete
        and reply.finish_reason not in _UNFINISHED
        and call_in(reply.content, view.request) is None
        and call_in(reply.reasoning, view.request, thought=True) is None
    )


declare(
    FindingKind(
        code="trigger.over",
        severity=Severity.WARNING,
        title="Tools are called where none fits, or more often than at the baseline.",
        meaning="A probe asks what no offered tool can help with, and gets a call; or, on the same requests, the "
        "vendor calls where the baseline answers in words, more often than the other way round. Agents act where they "
        "should talk: needless calls, costs and side effects.",
        cause="A small or quantised model, another chat template, other sampling settings, or weights that differ from "
        "the reference.",
        remedy="Compare with the model's own vendor, and ask about template and quantisation. Offer tools only in "
        "turns that may need them.",
    )
)
declare(
    FindingKind(
        code="trigger.under",
        severity=Severity.WARNING,
        title="Tools are called less often than at the baseline.",
        meaning="On the same requests the vendor answers in words where the baseline calls, more often than the other "
        "way round. Agents talk where they should act: tasks are left undone, or answers are made up.",
        cause="Tools that do not reach the prompt as the model learnt them, calls lost in a parser, or weights that "
        "differ from the reference.",
        remedy="Look for call.in_text and finish.calls_missing first: lost calls look like calls never made.",
    )
)
