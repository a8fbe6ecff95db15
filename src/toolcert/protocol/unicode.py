"""Text from the wire as Unicode that can be kept: split characters are joined, what cannot be kept is replaced."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.text.excerpt import shown
from toolcert.protocol.irregularity import Notices

NOT_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What decoding raises for text that is not JSON, that no UTF-8 can carry, or that is nested without end."""
REPLACEMENT = "\ufffd"


def joined(parts: list[str], what: str, notices: Notices) -> str:
    """The pieces of a streamed text as one, with a note where a character was split between them."""
    text = "".join(parts)
    if text.isascii():
        return text
    whole: str = well_formed(text)
    if whole is not text:
        notices.note("stream.framing", f"{what}: a character is split between two chunks", rule="split")
    elif REPLACEMENT in text and what != "arguments":  # of which args.altered speaks, streamed or not
        where = text.index(REPLACEMENT)
        near = shown(text[max(0, where - 20) : where + 20])
        notices.note("stream.framing", f"{what}: a replacement character where one was split, {near}", rule="split")
    return whole


def well_formed(value: Any) -> Any:
    """`value` itself, or, for text with lone surrogates, the text that UTF-8 can carry."""
    if not isinstance(value, str) or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def well_formed_throughout(value: Any) -> Any:
    """The same for every text inside a JSON value."""
    if isinstance(value, dict):
        return {well_formed(key): well_formed_throughout(part) for key, part in value.items()}
    if isinstance(value, list):
        return [well_formed_throughout(part) for part in value]
    return well_formed(value)


def text_of_parts(value: Any) -> str | None:
    """The text in content given as a list of parts, the form of some other protocols."""
    if not isinstance(value, list):
        return None
    texts = [part.get("text") for part in value if isinstance(part, dict)]
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None
