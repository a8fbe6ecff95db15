"""What servers write when they refuse: finding the one sentence that says why."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolcert.core.jsontext import NotJson, leading_json
from toolcert.core.values import JsonObject, Value

LONGEST = 300
"""An error is shown on one line; more is in the raw answer."""
_MOST_READ = 20_000
"""Characters of an error's text that are looked through: the cause stands at its beginning, and some error pages
and tracebacks have no end."""
_TITLE = re.compile(rb"<title[^<>]*>([^<]*)</title>", re.IGNORECASE)
_WORDS_OF_A_WRAPPER = re.compile(r"^(?:litellm\.\w+|\w+(?:Error|Exception))\s*[:-]\s*", re.IGNORECASE)
_POSTSCRIPT = "\n\nLiteLLM: "
"""What the proxy adds about its own fallbacks."""
_DEEPEST = 12
"""Levels of objects, lists and texts with JSON in them; proxies wrap their upstream's error, but not for ever."""


class ErrorText(Value):
    """An error answer reduced to what can be judged."""

    message: str
    code: str = ""
    """The server's own code or type, in lower case."""
    parameter: str = ""
    """The request's parameter it complains of, where it names one."""


def read_error_text(payload: bytes) -> ErrorText:
    """The cause an error body names, unwrapped from the proxies around it."""
    try:
        body = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ErrorText(message=_plain(payload[:_MOST_READ]))
    return _from_json(body, _DEEPEST) or ErrorText(message=one_line(payload[:_MOST_READ].decode("utf-8", "replace")))


def one_line(text: str) -> str:
    """`text` without line breaks, cut to a length that can be shown."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def is_html(payload: bytes) -> bool:
    """Whether a page for people came instead of an answer for programs."""
    start = payload[:200].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))


def _plain(payload: bytes) -> str:
    if is_html(payload):
        title = _TITLE.search(payload)
        return one_line(f"a web page, not JSON: {title[1].decode('utf-8', 'replace') if title else 'without title'}")
    return _unwrapped(payload.decode("utf-8", "replace"), _DEEPEST).message


def _from_json(body: Any, depth: int) -> ErrorText | None:
    """The innermost error in the shapes that are in use."""
    if depth == 0:
        return None
    if isinstance(body, list):
        return next((found for item in body if (found := _from_json(item, depth - 1))), None)
    if isinstance(body, str):
        return _unwrapped(body, depth) if body.strip() else None
    if not isinstance(body, dict):
        return None
    for name in ("error", "errors", "detail", "errorMessage"):
        if found := _from_json(body.get(name), depth - 1):
            return _completed(found, body)
    return _from_object(body, depth)


def _from_object(error: JsonObject, depth: int) -> ErrorText | None:
    message = error.get("message") or error.get("msg") or error.get("error_description")
    if not isinstance(message, str):
        return _from_json(message, depth - 1)
    upstream = _from_json(_raw_of_provider(error), depth - 1)
    return upstream or _completed(_unwrapped(message, depth), error)


def _raw_of_provider(error: JsonObject) -> Any:
    """OpenRouter keeps the provider's own answer in the metadata."""
    metadata = error.get("metadata")
    return metadata.get("raw") if isinstance(metadata, dict) else None


def _completed(found: ErrorText, error: JsonObject) -> ErrorText:
    """The code and the parameter may stand a level above the message."""
    code = found.code or _word(error.get("code")) or _word(error.get("errorCode")) or _word(error.get("type"))
    return ErrorText(message=found.message, code=code, parameter=found.parameter or _parameter(error))


def _word(value: Any) -> str:
    return value.lower() if isinstance(value, str) and not value.isdigit() else ""


def _parameter(error: JsonObject) -> str:
    if isinstance(error.get("param"), str):
        return str(error["param"])
    place = error.get("loc")  # FastAPI: ["body", "max_tokens"]
    return str(place[-1]) if isinstance(place, list) and place else ""


def _unwrapped(message: str, depth: int) -> ErrorText:
    """A message that carries its upstream's JSON, or names the classes it passed through, without them."""
    message = message[:_MOST_READ].partition(_POSTSCRIPT)[0]
    start = message.find("{")
    if start >= 0 and depth > 1:
        inner = _leading_value(message[start:])
        if isinstance(inner, dict) and (found := _from_json(inner, depth - 1)):
            return found
    while (shorter := _WORDS_OF_A_WRAPPER.sub("", message, count=1)) != message:
        message = shorter
    return ErrorText(message=one_line(message))


def _leading_value(text: str) -> Any:
    """JSON at the start of `text`, whatever follows; Python's quoting of it counts as well."""
    import ast

    try:
        return leading_json(text)[0]
    except NotJson:
        pass
    try:
        return ast.literal_eval(text[: text.rfind("}") + 1])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
