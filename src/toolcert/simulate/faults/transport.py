"""Answers that are no chat completion: outages, limits, broken connections, other forms."""

from __future__ import annotations

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import PLAIN, Stage, fault
from toolcert.simulate.situations import A_CALL
from toolcert.simulate.traffic import Ask, Raw, Reset, Silence, no_credits, rate_limited, server_error, wrong_key

_HUGE = 80 << 20


@fault("transport.timeout", Stage.REQUEST, A_CALL)
def timeout(_body: JsonObject, _ask: Ask) -> Silence:
    """Never answers."""
    return Silence()


@fault("transport.reset", Stage.REQUEST, A_CALL)
def reset(_body: JsonObject, ask: Ask) -> Reset:
    """Drops the connection, in a stream after the first pieces."""
    return Reset(after=3 if ask.stream else 0)


@fault("transport.rate_limited", Stage.REQUEST, A_CALL)
def limited(_body: JsonObject, _ask: Ask) -> Raw:
    """Answers every request with 429."""
    return rate_limited(0.05)


@fault("transport.server_error", Stage.REQUEST, A_CALL)
def broken(_body: JsonObject, ask: Ask) -> Raw:
    """Always fails with 500, or the status given as option."""
    return server_error(int(ask.option) if ask.option.isdecimal() else 500)


@fault("transport.auth", Stage.REQUEST, A_CALL)
def unauthorised(_body: JsonObject, _ask: Ask) -> Raw:
    """Refuses every key."""
    return wrong_key()


@fault("transport.payment", Stage.REQUEST, A_CALL)
def unpaid(_body: JsonObject, _ask: Ask) -> Raw:
    """Answers every request with 402: the account has no credit."""
    return no_credits()


@fault("transport.oversized", Stage.REQUEST, A_CALL)
def oversized(_body: JsonObject, ask: Ask) -> Raw:
    """Sends a huge answer; option: its size in megabytes."""
    size = int(ask.option) << 20 if ask.option.isdecimal() else _HUGE
    return Raw(content=b'{"choices": [{"message": {"content": "' + b"x" * size + b'"}}]}')


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
