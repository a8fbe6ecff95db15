"""Findings about text: empty, endless or of no sense, with reasoning in it, or not the JSON that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.requests import Request
from toolcert.core.schema.judge import SchemaJudge
from toolcert.core.text.excerpt import around, excerpt
from toolcert.core.text.json_text import NotJson, parse_json
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.finish import is_filtered
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.markup import call_in, fence_at, is_quoted
from toolcert.diagnose.request_facts import conversation_text, json_mode
from toolcert.protocol.reply import declines

_LEAST_LOOP = 240
"""Characters of pure repetition that count as a loop; shorter runs occur in ordinary text."""
_LEAST_REPEATS = 8
_LONGEST_UNIT = 200
_SCRIPTS = {
    "Chinese or Japanese": "\u3040-\u30ff\u3400-\u9fff",
    "Korean": "\uac00-\ud7af",
    "Cyrillic": "\u0400-\u04ff",
    "Arabic": "\u0600-\u06ff",
    "Thai": "\u0e00-\u0e7f",
    "Devanagari": "\u0900-\u097f",
}
# Compiled when first needed: most texts are ASCII, and these take long to compile.
_LATIN = "[A-Za-z]"
_FOREIGN = f"[{''.join(_SCRIPTS.values())}]"
_GLUED = f"{_LATIN}{_FOREIGN}|{_FOREIGN}{_LATIN}"

_NONSENSE = lazy_pattern(r"([!?\ufffd])\1{15,}|\A\s*([@$%&^;\"'])\2{15,}\s*\Z|(<unk>|<pad>|<0x\w\w>)(?:\s*\3){3,}")
"""What broken weights give: one mark over and over (not those that people draw lines with), or a token of no text."""
_SIGNS = ("<", *(4 * mark for mark in "!?\ufffd@$%&^;\"'"))
"""One of these is in every such text; to look for them costs less than to try the pattern."""
_TOKENS = lazy_pattern(
    r"<\|[\w▁:]{2,40}\|>|<｜[^<>｜\n]{2,40}｜>|</?s>|<(?:unk|pad|bos|eos|mask)>|<(?:start|end)_of_turn>|\[/?INST\]"
    r"|<</?SYS>>|\[gMASK\]|<0x[0-9A-F]{2}>|<(?:reserved|extra_id|unused)_?\d+>"
)
_TALK = lazy_pattern(r"[,:]|\s+(?:is|are|was|marks?|means?|denotes?|stands?|tells?|and|or|tokens?|tags?)\b|\s+[–—-]")

_TELLS_WHY = frozenset({"length", "tool_calls", "function_call"})
_TOLD_ELSEWHERE = ("envelope.not_openai", "stream.error_inside")

DEGENERATE = FindingKind(
    code="text.degenerate",
    severity=Severity.WARNING,
    title="The text repeats itself without end, is one mark, or mixes scripts in a word.",
    meaning="The answer is of no use and often runs into the token limit. Calls written in such a state are "
    "seldom right.",
    cause="Weights quantised too far, a broken tokenizer or template, or sampling settings far from the model's own.",
    remedy="Compare with another vendor of the same model; look at quantisation, template and sampling parameters.",
)


EMPTY = FindingKind(
    code="text.empty",
    severity=Severity.ERROR,
    title="The answer is empty: no text, no call, no reasoning.",
    meaning="The agent has nothing to show and nothing to run, and nothing says that something went wrong.",
    cause="A server that loses what the model wrote, an upstream error that is passed over, or a model that ends its "
    "turn at once.",
    remedy="Ask again. On a server of your own, look at its log and at its parsers for calls and reasoning.",
)
SPECIAL_TOKENS = FindingKind(
    code="text.special_tokens",
    severity=Severity.WARNING,
    title="Special tokens of the model are in the text.",
    meaning="Users see marks such as `<|im_end|>` or `[INST]`. Sent back in the history they end or open turns "
    "inside a message, and the model then writes both sides of the conversation.",
    cause="The server does not know all tokens that end a turn, keeps special tokens when it turns tokens into text, "
    "or uses another model's chat template.",
    remedy="On a server of your own, check the chat template, the end-of-turn tokens and `skip_special_tokens`. "
    "Elsewhere, report it and cut the text at the token.",
)


@check(DEGENERATE)
def degenerate(view: View) -> Iterator[Evidence]:
    for text in (view.reply.content, view.reply.reasoning):
        if text:
            unit = unit_of(text)
            if unit:
                yield Evidence(text=f"repeats without end: {excerpt(unit, 100)}")
                return
            yield from _slips(view, text)
    for call in view.calls:
        unit = _loop(call.call.arguments) if isinstance(call.call.arguments, str) else None
        if unit:
            yield Evidence(text=f"repeats without end: {excerpt(unit, 100)}", call=call.position)


def unit_of(text: str) -> str | None:
    """What a text repeats without end, if it does."""
    nonsense = _NONSENSE.search(text) if any(sign in text for sign in _SIGNS) else None
    return nonsense[nonsense.lastindex or 0] if nonsense else _loop(text)


@check(SPECIAL_TOKENS, When.TEXT, chat_only=True)
def special_tokens(view: View) -> Iterator[Evidence]:
    text = view.reply.content or ""
    token = _left_token(text)
    if token is None or token[0] in conversation_text(view.request):
        return
    # Tokens around a call, around thoughts or in a loop belong to that fault, which is named by its own code.
    if call_in(text, view.request) is None and leak_in(text) is None and unit_of(text) is None:
        severity = Severity.ERROR if json_mode(view.request) else None  # nothing reads it as JSON then
        yield Evidence(text=around(text, token.start(), token.end()), severity=severity)


def _left_token(text: str) -> re.Match[str] | None:
    """A special token where one stands by accident: first, or glued to the end of a line; not where a text names it."""
    if "<" not in text and "[" not in text:
        return None
    for token in _TOKENS.finditer(text):
        before, after = text[: token.start()], text[token.end() :]
        first = not before.strip() and not _TALK.match(after)
        ends_line = not after.strip(" ") or after.startswith("\n") or _TOKENS.match(after)
        last = ends_line and (not before.endswith(" ") or before.rstrip().endswith((".", "!", "?")))
        struck_out = token[0] in ("<s>", "</s>") and "<s>" in text and "</s>" in text
        if (
            (first or last)
            and not struck_out
            and not is_quoted(text, token.start())
            and not fence_at(text, token.start())
        ):
            return token
    return None


def _loop(text: str) -> str | None:
    """The unit that the end of `text` repeats, if it is long enough and repeated often enough."""
    if len(text) < _LEAST_LOOP:
        return None
    tail = text.rstrip("\"'}] \n")
    probe = tail[-32:]
    before = tail.rfind(probe, max(0, len(tail) - len(probe) - _LONGEST_UNIT), len(tail) - 1)
    if before < 0:
        return None
    period = len(tail) - len(probe) - before
    span = max(_LEAST_LOOP, period * _LEAST_REPEATS)
    loop = tail[-span:]
    unit = loop[-period:]
    if len(loop) < span or loop[period:] != loop[:-period] or not any(letter.isalpha() for letter in unit):
        return None
    return unit


def _slips(view: View, text: str) -> Iterator[Evidence]:
    """A foreign letter glued to a Latin one, in a Latin text of a conversation without that script."""
    if text.isascii():
        return
    match = re.search(_GLUED, text)
    if match is None or len(re.findall(_FOREIGN, text)) * 10 > len(re.findall(_LATIN, text)):
        return
    script = next(name for name, letters in _SCRIPTS.items() if re.search(f"[{letters}]", match[0]))
    if not re.search(f"[{_SCRIPTS[script]}]", conversation_text(view.request)):
        yield Evidence(text=f"{script} inside a word: {around(text, match.start(), match.end())}")


@check(EMPTY, When.NOT_CALLED, chat_only=True)
def empty(view: View) -> Iterator[Evidence]:
    reply = view.reply
    if (reply.content or "").strip() or reply.reasoning or not reply.complete:
        return
    # If the finish reason or the envelope says what went wrong, other findings report it.
    told = (
        reply.finish_reason in _TELLS_WHY
        or is_filtered(reply.finish_reason)
        or any(view.noticed(code) for code in _TOLD_ELSEWHERE)
    )
    if not told and not declines(view.exchange):
        yield Evidence(text=f"finish_reason {reply.finish_reason!r}, and nothing else")


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
_REASONING_SIGNS = ("<", "[", "◁", "analysis", "commentary", "final")
"""One of these is in every markup of reasoning; to look for them costs less than to try the patterns."""

REASONING_ONLY = FindingKind(
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
REASONING_LEAKED = FindingKind(
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


@check(REASONING_ONLY, When.REASONING)
def reasoning_only(view: View) -> Iterator[Evidence]:
    reply = view.reply
    if reply.tool_calls or reply.finish_reason != "stop" or (reply.content or "").strip():
        return
    if call_in(reply.reasoning, view.request, thought=True) is None:
        yield Evidence(text=f'finish_reason "stop", only reasoning: {excerpt(reply.reasoning or "", 90)}')


@check(REASONING_LEAKED, When.TEXT, chat_only=True)
def reasoning_leaked(view: View) -> Iterator[Evidence]:
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
    if not any(sign in text for sign in _REASONING_SIGNS):
        return None
    match = _OPENING.match(text) or _CLOSING.search(text) or _CHANNEL.search(text)
    return None if match is None or is_quoted(text, match.start()) or fence_at(text, match.start()) else match


_FENCE = "```"
_LANGUAGE = lazy_pattern(r"\w*[ \t]*\r?\n?")
_UNFINISHED = frozenset({"length", "content_filter"})
_BLANK = 40
"""Characters of white space at the end that no writer of JSON needs."""
_judge = SchemaJudge(max_schemas=64)

JSON_FENCED = FindingKind(
    code="json.fenced",
    severity=Severity.WARNING,
    title="JSON mode wraps its answer in a Markdown fence.",
    meaning="`json.loads` on the text fails although the JSON in it is right.",
    cause="The mode is only a hint in the prompt, and the model writes as it would in a chat.",
    remedy="Strip one surrounding fence before parsing, or switch on constrained decoding.",
    seen_in=("FastFlowLM #554",),
)
JSON_INVALID = FindingKind(
    code="json.invalid",
    severity=Severity.ERROR,
    title="JSON mode gives text that begins like JSON and does not parse.",
    meaning="Whatever reads the answer as data fails on it, often far from where it was asked.",
    cause="The output is not constrained while decoding, or is cut or changed afterwards.",
    remedy="Ask again on a parse error; on a server of your own, switch on guided decoding.",
    seen_in=("FastFlowLM #554",),
)
JSON_IGNORED = FindingKind(
    code="json.ignored",
    severity=Severity.ERROR,
    title="JSON mode was accepted and not honoured.",
    meaning="The answer is prose, or JSON of another shape than the one demanded. A program that relies on the mode "
    "fails or reads wrong fields.",
    cause="`response_format` is accepted and dropped, or its schema is not enforced.",
    remedy="Validate the answer, repeat the demand in the prompt, or use a tool with the same schema instead.",
    seen_in=("FastFlowLM #554",),
)
JSON_WHITESPACE = FindingKind(
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


@check(JSON_FENCED, When.TEXT, chat_only=True)
def json_fenced(view: View) -> Iterator[Evidence]:
    text = _json_answer(view)
    if text is not None and _inside_fence(text) is not None:
        yield Evidence(text=excerpt(text, 100))


@check(JSON_INVALID, When.TEXT, chat_only=True)
def json_invalid(view: View) -> Iterator[Evidence]:
    text = _json_answer(view)
    if text is None or not text.lstrip().startswith(("{", "[")):
        return
    try:
        parse_json(text)
    except NotJson as reason:
        yield Evidence(text=f"{reason}: {excerpt(text, 100)}")


@check(JSON_IGNORED, When.TEXT, chat_only=True)
def json_ignored(view: View) -> Iterator[Evidence]:
    text = _json_answer(view)
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


@check(JSON_WHITESPACE, When.TEXT, chat_only=True)
def json_whitespace(view: View) -> Iterator[Evidence]:
    text = view.reply.content or ""
    blank = len(text) - len(text.rstrip())
    if json_mode(view.request) and view.reply.finish_reason == "length" and blank >= max(_BLANK, len(text) // 2):
        yield Evidence(text=f"{blank} characters of white space after {excerpt(text.rstrip(), 60)!r}")


def _json_answer(view: View) -> str | None:
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
