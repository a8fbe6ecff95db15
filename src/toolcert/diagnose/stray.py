"""Findings about calls that are in the text where they should be in `tool_calls`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.markup import call_in
from toolcert.diagnose.registry import Evidence, View, When, check

IN_TEXT = FindingKind(
    code="call.in_text",
    severity=Severity.ERROR,
    title="The call was left in the text instead of in `tool_calls`.",
    meaning="The agent sees no call. The user sees raw markup or JSON, and nothing is done.",
    cause="No tool parser is switched on, it is the wrong one for this model, or it gave up on a call that the "
    "model wrote slightly differently.",
    remedy="On a server of your own, choose the tool parser and chat template made for this model. Elsewhere, "
    "report it: the evidence shows the markup.",
    seen_in=("sglang PR #21377", "vllm #36654"),
)
IN_REASONING = FindingKind(
    code="call.in_reasoning",
    severity=Severity.ERROR,
    title="The call was left in the reasoning instead of in `tool_calls`.",
    meaning="The agent sees no call and often no text either: the turn is lost.",
    cause="The reasoning parser takes everything up to a closing tag that the model did not write, so that the tool "
    "parser never sees the call.",
    remedy="Use a server version in which both parsers work together, or switch thinking off for tool use.",
    seen_in=("vllm #39885",),
)
TWICE = FindingKind(
    code="call.twice",
    severity=Severity.WARNING,
    title="The same call is in `tool_calls` and as markup in the text.",
    meaning="Users see raw markup beside the answer; clients with a text fallback run the tool twice; the markup "
    "goes back into the history and teaches the model to write calls as text.",
    cause="The tool parser finds the call and does not remove it from the text.",
    remedy="Drop the text of such turns from what is shown and from the history; report it to the operator.",
    seen_in=("mistral.rs #2427",),
)


@check(IN_TEXT, When.TEXT, chat_only=True)
def in_text(view: View) -> Iterator[Evidence]:
    for excerpt in _found(view, view.reply.content):
        if not _repeats_a_call(view, excerpt):
            yield Evidence(text=excerpt)


@check(IN_REASONING, When.NOT_CALLED, chat_only=True)
def in_reasoning(view: View) -> Iterator[Evidence]:
    for excerpt in _found(view, view.reply.reasoning):
        yield Evidence(text=excerpt)


@check(TWICE, When.CALLED, chat_only=True)
def twice(view: View) -> Iterator[Evidence]:
    for excerpt in _found(view, view.reply.content):
        if _repeats_a_call(view, excerpt):
            yield Evidence(text=excerpt)


def _found(view: View, text: str | None) -> Iterator[str]:
    place = call_in(text, view.request)
    if text and place:
        yield text[place.start : place.end]


def _repeats_a_call(view: View, excerpt: str) -> bool:
    return any(isinstance(call.name, str) and call.name and call.name in excerpt for call in view.reply.tool_calls)
