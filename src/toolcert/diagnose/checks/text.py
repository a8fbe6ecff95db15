"""Findings about degenerate text: repetition and mixed scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.excerpt import around, excerpt
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.finish import is_filtered
from toolcert.diagnose.checks.reasoning import leak_in
from toolcert.diagnose.checks.registry import Evidence, View, When, check
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
