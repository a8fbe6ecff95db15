"""Error answers: the sentence that says why a server refuses, and the kind of fault it means."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolcert.core.exchanges import FaultCause, FaultKind
from toolcert.core.text.json_text import BYTE_ORDER_MARK, NotJson, leading_json
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject, Value
from toolcert.protocol.irregularity import ERROR_FIELDS
from toolcert.protocol.unicode import well_formed

LONGEST = 300
"""An error is shown on one line; more is in the raw answer."""
_MOST_READ = 20_000
"""Characters of an error's text that are looked through: the cause stands at its beginning, and some error pages
and tracebacks have no end."""
_TITLE = lazy_pattern(rb"<title[^<>]*>([^<]*)</title>", re.IGNORECASE)
_WORDS_OF_A_WRAPPER = lazy_pattern(r"^(?:litellm\.\w+|\w+(?:Error|Exception))\s*[:-]\s*", re.IGNORECASE)
_POSTSCRIPT = "\n\nLiteLLM: "
"""What the proxy adds about its own fallbacks."""
_DEEPEST = 12
"""Levels of objects, lists and texts with JSON in them; proxies wrap their upstream's error, but not endlessly."""


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
        body = msgspec.json.decode(payload.removeprefix(BYTE_ORDER_MARK))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ErrorText(message=_plain(payload[:_MOST_READ]))
    return _from_json(body, _DEEPEST) or ErrorText(message=one_line(payload[:_MOST_READ].decode("utf-8", "replace")))


def one_line(text: str) -> str:
    """`text` without line breaks and lone surrogates, cut to a length that can be shown."""
    line: str = " ".join(well_formed(text).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def is_html(payload: bytes) -> bool:
    """Whether the body is a web page instead of JSON."""
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
    for name in ERROR_FIELDS:
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
    """Servers may give the code and the parameter one level above the message."""
    code = found.code or _word(error.get("code")) or _word(error.get("errorCode")) or _word(error.get("type"))
    parameter = found.parameter or _parameter(error)
    return ErrorText(message=found.message, code=well_formed(code), parameter=well_formed(parameter))


def _word(value: Any) -> str:
    return value.lower() if isinstance(value, str) and not value.isdigit() else ""


def _parameter(error: JsonObject) -> str:
    if isinstance(error.get("param"), str):
        return str(error["param"])
    place = error.get("loc")  # FastAPI: ["body", "max_tokens"]
    return str(place[-1]) if isinstance(place, list) and place else ""


def _unwrapped(message: str, depth: int) -> ErrorText:
    """The cause inside a message: proxies put their upstream's JSON or exception names around it."""
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
    import warnings

    try:
        return leading_json(text)[0]
    except NotJson:
        pass
    try:
        with warnings.catch_warnings(action="ignore"):  # Python would tell the user of odd literals in it
            return ast.literal_eval(text[: text.rfind("}") + 1])
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):  # `{{}}` is a set of an unhashable
        return None


_TOOLS = r"(?:tools?|tool[ _-]?(?:use|calls?|calling|choice)|functions?|function[ _-]?(?:calls?|calling))"
_UNSUPPORTED = lazy_pattern(
    rf"(?:does not|doesn't|do not|don't|cannot|not) support\b.{{0,40}}\b{_TOOLS}\b"
    rf"|\b{_TOOLS}\b.{{0,60}}\b(?:not (?:yet |currently )?(?:supported|enabled|available|implemented))"
    rf"|\b{_TOOLS}\b.{{0,60}}\b(?:unsupported|disabled)"
    r"|no endpoints found that support"
    r"|requires --enable-auto-tool-choice|requires? --jinja|\bnot a chat model|does not support chat",
    re.IGNORECASE,
)
"""Sentences of Ollama, vLLM, llama.cpp, OpenRouter, OpenAI and watsonx.ai that mean: not supported."""
_UNSUPPORTED_CODES = frozenset({"model_no_support_for_function"})
_UNKNOWN_MODEL = lazy_pattern(
    r"\bmodel\b.{0,120}\b(?:not found|(?:does not|doesn't|do not) exist|is not available)"
    r"|\b(?:unknown|invalid|no such|unrecognized|unable to access)\b.{0,10}\bmodel\b"
    r"|requested model.{0,120}not supported|no healthy deployments|\bdeployment\b.{0,60}not exist",
    re.IGNORECASE,
)
_UNKNOWN_MODEL_CODES = frozenset({"model_not_found", "model_not_supported", "deploymentnotfound", "invalid_model"})
_NO_CREDIT = lazy_pattern(
    r"\b(?:insufficient|not enough|out of) (?:\w+ )?(?:credits?|balance|funds)\b"
    r"|\b(?:credits?|balance)\b.{0,30}\b(?:insufficient|not enough|too low|exhausted|used up)\b|payment required",
    re.IGNORECASE,
)
"""Sentences for an empty account; some vendors say them with a 400 or 403."""
_QUOTA_CODES = frozenset({"insufficient_quota", "consumption_limit_reached", "rate_limit_exceeded"})


_OF_ONE_KIND = {401: FaultKind.AUTH, 403: FaultKind.AUTH, 408: FaultKind.TIMEOUT}
PAYMENT_REMEDY = "Add credit to the account, or take the key of another one."


def kind_of_error(status: int, error: ErrorText) -> FaultKind:
    """The kind of an error answer of any OpenAI-compatible server; its text takes precedence over its status."""
    if status == 429 or error.code in _QUOTA_CODES:
        return FaultKind.RATE_LIMITED
    if status == 402 or (status in (400, 403) and _NO_CREDIT.search(error.message)):
        return FaultKind.PAYMENT
    if status in _OF_ONE_KIND:
        return _OF_ONE_KIND[status]
    if says_unsupported(error):
        return FaultKind.UNSUPPORTED
    if status >= 500:
        return FaultKind.SERVER_ERROR
    return _kind_of_refusal(status, error)


_MALFORMED_CALL = lazy_pattern(
    r"(?:fail\w*|error|unable|could not|cannot|invalid|malformed)\b.{0,40}\b(?:pars\w+|extract\w+|decod\w+|generat\w+)"
    r"\b.{0,40}\b(?:tool|function)[ _-]?calls?\b|failed to call a function|malformed (?:tool|function)[ _-]?call",
    re.IGNORECASE,
)
"""Sentences of vLLM, SGLang, llama.cpp, Groq and Gemini about a call of the model's that the server cannot read."""
_MALFORMED_CALL_CODES = frozenset({"tool_use_failed", "malformed_function_call"})


def cause_of_error(error: ErrorText) -> FaultCause | None:
    """What an error answer says beyond its kind."""
    said = error.code in _MALFORMED_CALL_CODES or _MALFORMED_CALL.search(error.message)
    return FaultCause.MALFORMED_CALL if said else None


def says_unsupported(error: ErrorText) -> bool:
    """Whether the server says that it cannot do what was asked."""
    return error.code in _UNSUPPORTED_CODES or _UNSUPPORTED.search(error.message) is not None


def _kind_of_refusal(status: int, error: ErrorText) -> FaultKind:
    if status < 400:
        return FaultKind.CONFIGURATION  # a redirect we do not follow with credentials: the address is another
    if error.code in _UNKNOWN_MODEL_CODES or (status in (400, 404) and _UNKNOWN_MODEL.search(error.message)):
        return FaultKind.UNKNOWN_MODEL
    if status in (404, 405):
        return FaultKind.CONFIGURATION  # nothing is served under this address
    return FaultKind.REJECTED
