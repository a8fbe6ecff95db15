"""Findings about characters that come out of a call other than they should."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.asked import conversation_text
from toolcert.diagnose.excerpts import around
from toolcert.diagnose.registry import Evidence, View, When, check

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*(\\u([0-9a-fA-F]{4}))")
"""An escape that the JSON parser will undo."""
_TWICE_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*(\\\\u([0-9a-fA-F]{4}))")
"""An escape that will still be there after parsing."""

_SHY = "\"\\/<>&'=+"
"""Characters that careful encoders escape for the sake of HTML or of JSON itself."""

ESCAPED = FindingKind(
    code="args.escaped",
    severity=Severity.WARNING,
    title="Characters in the arguments are escaped without need, or corrupted.",
    meaning="Three grades. Printable text written as `\\uXXXX` is correct JSON and only a note: it costs tokens "
    "when it goes back into the history and confuses small models. Text escaped twice reaches the tool as "
    "backslashes and digits, and replacement characters (U+FFFD) mean that text was destroyed: both are warnings.",
    cause="A JSON encoder left at its ASCII default, an encoder applied twice, or a stream that was decoded piece by "
    "piece in the middle of multi-byte characters.",
    remedy="For escapes, nothing needs to be done where a real JSON parser reads them. For lost characters, ask "
    "without streaming and report it.",
    seen_in=("vllm PR #46308",),
)


@check(ESCAPED, When.CALLED)
def escaped(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        text = call.call.arguments
        if isinstance(text, str) and ("\\u" in text or _REPLACEMENT in text):
            evidence = _corrupted(view, text) or _escaped_twice(view, text) or _escaped_once(text)
            if evidence is not None:
                yield Evidence(text=evidence.text, severity=evidence.severity, call=call.position)


def _corrupted(view: View, text: str) -> Evidence | None:
    place = text.find(_REPLACEMENT)
    if place < 0:
        match = re.search(r"\\ufffd", text, re.IGNORECASE)
        place = match.start() if match else -1
    if place < 0 or _REPLACEMENT in conversation_text(view.request):
        return None
    return Evidence(text=f"replacement character: {around(text, place, place + 1)}")


def _escaped_twice(view: View, text: str) -> Evidence | None:
    """Only where the conversation shows the character itself: code may well spell an escape."""
    said: str | None = None
    for match in _TWICE_ESCAPED.finditer(text):
        character = chr(int(match[2], 16))
        if ord(character) > 0x7F and character.isprintable():
            said = conversation_text(view.request) if said is None else said
            if character in said:
                return Evidence(text=f"escaped twice: {around(text, match.start(1), match.end(1))}")
    return None


def _escaped_once(text: str) -> Evidence | None:
    for match in _ESCAPED.finditer(text):
        code = int(match[2], 16)
        if code >= 0x20 and (0xD800 <= code <= 0xDFFF or chr(code).isprintable()) and chr(code) not in _SHY:
            where = around(text, match.start(1), match.end(1))
            return Evidence(text=f"printable text escaped: {where}", severity=Severity.NOTE)
    return None
