"""Answers that do not follow the protocol at all."""

from __future__ import annotations

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import Stage, fault
from toolcert.simulate.situations import A_CALL
from toolcert.simulate.traffic import Ask, Raw

_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>"
_TROUBLE = {"error": {"message": "The upstream provider is busy.", "type": "upstream_error", "code": 502}}


def html() -> Raw:
    """A web page where an answer should be."""
    return Raw(content=_PAGE, content_type="text/html; charset=utf-8")


def error_with_200() -> Raw:
    """An error that claims success."""
    return Raw(content=msgspec.json.encode(_TROUBLE))


def json_list(body: JsonObject) -> Raw:
    """The answer wrapped in a list."""
    return Raw(content=msgspec.json.encode([body]))


def no_choices(body: JsonObject) -> Raw:
    """An answer without any choice."""
    return Raw(content=msgspec.json.encode({**body, "choices": []}))


@fault("envelope.not_openai", Stage.BODY, A_CALL)
def not_openai(body: JsonObject, ask: Ask) -> Raw:
    """Answers 200 with an error inside; option: html, list or choices for other shapes."""
    if ask.option == "html":
        return html()
    if ask.option == "list":
        return json_list(body)
    return no_choices(body) if ask.option == "choices" else error_with_200()
