"""Findings about text that has gone off the rails."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.excerpt import around, excerpt
from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.checks.registry import Evidence, View, check
from toolcert.diagnose.request_facts import conversation_text

_LEAST_LOOP = 240
"""Characters of nothing but repetition; shorter runs occur in honest text."""
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

DEGENERATE = FindingKind(
    code="text.degenerate",
    severity=Severity.WARNING,
    title="The text repeats itself without end, or mixes scripts inside a word.",
    meaning="The answer is of no use and often runs into the token limit. Calls written in such a state are "
    "seldom right.",
    cause="Weights quantised too far, a broken tokenizer or template, or sampling settings far from the model's own.",
    remedy="Compare with another vendor of the same model; look at quantisation, template and sampling parameters.",
)


@check(DEGENERATE)
def degenerate(view: View) -> Iterator[Evidence]:
    for text in (view.reply.content, view.reply.reasoning):
        if text:
            unit = _loop(text)
            if unit:
                yield Evidence(text=f"repeats without end: {excerpt(unit, 100)}")
                return
            yield from _slips(view, text)
    for call in view.calls:
        unit = _loop(call.call.arguments) if isinstance(call.call.arguments, str) else None
        if unit:
            yield Evidence(text=f"repeats without end: {excerpt(unit, 100)}", call=call.position)


def _loop(text: str) -> str | None:
    """The unit that the end of `text` repeats, if it does so long and often enough."""
    if len(text) < _LEAST_LOOP:
        return None
    tail = text.rstrip("\"'}] \n")
    probe = tail[-32:]
    before = tail.rfind(probe, 0, len(tail) - 1)
    period = len(tail) - len(probe) - before
    if before < 0 or period > _LONGEST_UNIT:
        return None
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
