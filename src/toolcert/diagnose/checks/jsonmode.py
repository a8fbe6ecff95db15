"""Findings about JSON mode: `response_format` with `json_object` or `json_schema`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.requests import Request
from toolcert.core.schema.judge import SchemaJudge
from toolcert.core.text.excerpt import excerpt
from toolcert.core.text.json_text import NotJson, parse_json
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.request_facts import json_mode

_FENCE = "```"
_LANGUAGE = lazy_pattern(r"\w*[ \t]*\r?\n?")
_UNFINISHED = frozenset({"length", "content_filter"})
_BLANK = 40
"""Characters of white space at the end that no writer of JSON needs."""
_judge = SchemaJudge(max_schemas=64)

FENCED = FindingKind(
    code="json.fenced",
    severity=Severity.WARNING,
    title="JSON mode wraps its answer in a Markdown fence.",
    meaning="`json.loads` on the text fails although the JSON in it is right.",
    cause="The mode is only a hint in the prompt, and the model writes as it would in a chat.",
    remedy="Strip one surrounding fence before parsing, or switch on constrained decoding.",
    seen_in=("FastFlowLM #554",),
)
INVALID = FindingKind(
    code="json.invalid",
    severity=Severity.ERROR,
    title="JSON mode gives text that begins like JSON and does not parse.",
    meaning="Whatever reads the answer as data fails on it, often far from where it was asked.",
    cause="The output is not constrained while decoding, or is cut or changed afterwards.",
    remedy="Ask again on a parse error; on a server of your own, switch on guided decoding.",
    seen_in=("FastFlowLM #554",),
)
IGNORED = FindingKind(
    code="json.ignored",
    severity=Severity.ERROR,
    title="JSON mode was accepted and not honoured.",
    meaning="The answer is prose, or JSON of another shape than the one demanded. A program that relies on the mode "
    "fails or reads wrong fields.",
    cause="`response_format` is accepted and dropped, or its schema is not enforced.",
    remedy="Validate the answer, repeat the demand in the prompt, or use a tool with the same schema instead.",
    seen_in=("FastFlowLM #554",),
)
WHITESPACE = FindingKind(
    code="json.whitespace",
    severity=Severity.ERROR,
    title="JSON mode writes white space up to the token limit.",
    meaning="The answer takes as long and costs as much as the limit allows, and there is no JSON in it.",
    cause="Decoding is constrained to JSON while the prompt does not make the model write any, and white space is the "
    "only thing that the grammar always allows.",
    remedy="Say in the prompt that JSON is wanted and in which form; set a limit of tokens. On a server of your own, "
    "use a grammar that limits white space.",
)

declare(
    FindingKind(
        code="json.other_values",
        severity=Severity.WARNING,
        title="The JSON has the fields that were asked for, with other values.",
        meaning="The form can be relied on. What stands in it was made up or copied wrongly.",
        cause="The model is too weak to copy, or constrained decoding forces it into words that it did not mean.",
        remedy="Check values that matter against their source, or choose a stronger model.",
    )
)


@check(FENCED, When.TEXT, chat_only=True)
def fenced(view: View) -> Iterator[Evidence]:
    text = _answer(view)
    if text is not None and _inside_fence(text) is not None:
        yield Evidence(text=excerpt(text, 100))


@check(INVALID, When.TEXT, chat_only=True)
def invalid(view: View) -> Iterator[Evidence]:
    text = _answer(view)
    if text is None or not text.lstrip().startswith(("{", "[")):
        return
    try:
        parse_json(text)
    except NotJson as reason:
        yield Evidence(text=f"{reason}: {excerpt(text, 100)}")


@check(IGNORED, When.TEXT, chat_only=True)
def ignored(view: View) -> Iterator[Evidence]:
    text = _answer(view)
    if text is None:
        return
    inside = _inside_fence(text)
    try:
        value = parse_json(text if inside is None else inside)
    except NotJson:
        if not text.lstrip().startswith(("{", "[")):
            yield Evidence(text=f"no JSON: {excerpt(text, 100)}")
        return
    broken = _broken_promise(view.request, value, text if inside is None else inside)
    if broken:
        yield Evidence(text=f"{broken}: {excerpt(text, 80)}")


@check(WHITESPACE, When.TEXT, chat_only=True)
def whitespace(view: View) -> Iterator[Evidence]:
    text = view.reply.content or ""
    blank = len(text) - len(text.rstrip())
    if json_mode(view.request) and view.reply.finish_reason == "length" and blank >= max(_BLANK, len(text) // 2):
        yield Evidence(text=f"{blank} characters of white space after {excerpt(text.rstrip(), 60)!r}")


def _answer(view: View) -> str | None:
    """The text of an answer that should be JSON and was not cut short."""
    if json_mode(view.request) is None or view.reply.tool_calls or not view.reply.complete:
        return None
    return None if view.reply.finish_reason in _UNFINISHED else view.reply.content


def _inside_fence(text: str) -> str | None:
    text = text.strip()
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return None
    inside = _LANGUAGE.sub("", text[len(_FENCE) : -len(_FENCE)], count=1)
    try:
        parse_json(inside)
    except NotJson:
        return None
    return inside


def _broken_promise(request: Request, value: Any, text: str) -> str | None:
    """How a JSON value falls short of the mode that was asked for."""
    if json_mode(request) == "json_object":
        return None if isinstance(value, dict) else "not an object"
    wanted = request.body["response_format"].get("json_schema")
    judgement = _judge.judge(wanted.get("schema") if isinstance(wanted, dict) else None, text)
    if judgement.ok is not False or not judgement.violations:
        return None
    first = judgement.violations[0]
    return f"{first.path or '/'} {first.message}"
