"""Answers that do not follow the protocol at all."""

from __future__ import annotations

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import PLAIN, Stage, fault
from toolcert.simulate.situations import A_CALL
from toolcert.simulate.traffic import Ask, Raw

_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>"
_TROUBLE = {"error": {"message": "The upstream provider is busy.", "type": "upstream_error", "code": 502}}


@fault("envelope.not_openai", Stage.BODY, A_CALL)
def not_openai(body: JsonObject, ask: Ask) -> Raw:
    """Answers 200 with an error inside; option: html, list or choices for other shapes."""
    if ask.option == "html":
        return Raw(content=_PAGE, content_type="text/html; charset=utf-8")
    shapes = {"list": [body], "choices": {**body, "choices": []}}
    return Raw(content=msgspec.json.encode(shapes.get(ask.option, _TROUBLE)))


@fault("envelope.byte_order_mark", Stage.BODY, A_CALL, modes=PLAIN)
def byte_order_mark(body: JsonObject, _ask: Ask) -> Raw:
    """Begins its answers with a byte order mark."""
    return Raw(content=b"\xef\xbb\xbf" + msgspec.json.encode(body))
