"""Requests that must be refused in the protocol's form: an illegal one, and one for an unknown model."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from toolcert.core.findings import Severity
from toolcert.core.requests import user
from toolcert.core.text.json_text import BYTE_ORDER_MARK, NotJson, parse_json
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Concluded, Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed
from toolcert.probes.oracle import unless_broken, unmeasured
from toolcert.probes.registry import probe
from toolcert.protocol.irregularity import error_in


@probe
class ErrorShapes(ScriptedProbe):
    """Sends a request without any messages; the same request with one is the control."""

    name = "error_shapes"
    group = "server"
    title = "Says what is wrong with a request"
    meaning = "Clients can tell their own mistakes from outages, and show the server's words."
    requests = 2
    order = 30
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        turn = await talk.control([], max_tokens=16)
        turn = await _refused_alone(talk, turn, "a request without messages")
        status = turn.exchange.status
        if turn.fault is None:
            return failed("answers a request without messages", status=status)
        body = _error_body(turn.exchange.payload)
        if _has_message(body):
            return passed(status=status)
        shown = turn.exchange.payload[:200].decode(errors="replace")
        if _says_why(body):
            # The words are there for people and for lenient clients; a strict one looks for them in another place.
            found = finding("envelope.not_openai", shown, turn=turn.index, severity=Severity.WARNING)
            return passed(found, status=status)
        found = finding("envelope.not_openai", shown, turn=turn.index)
        return failed("an error without a readable message", found, status=status)


def _error_body(payload: bytes) -> JsonObject:
    try:
        body = parse_json(payload.removeprefix(BYTE_ORDER_MARK).decode(errors="replace"))
    except NotJson:
        return {}
    return body if isinstance(body, dict) else {}


def _has_message(body: JsonObject) -> bool:
    """Whether the body is an error object with a message, in any of the dialects' forms."""
    errors: list[Any] = [body.get("error"), *(body["errors"] if isinstance(body.get("errors"), list) else [])]
    return any(isinstance(error, dict) and isinstance(error.get("message"), str) for error in errors)


def _says_why(body: JsonObject) -> bool:
    """Whether the body gives the error in another form: FastAPI's `detail`, older vLLM's `message`, a bare `error`."""
    told = error_in(body)
    parts = [one.get("msg") for one in told if isinstance(one, dict)] if isinstance(told, list) else [told]
    return any(isinstance(part, str) and part.strip() for part in parts)


@probe
class UnknownModel(ScriptedProbe):
    """The right answer is a refusal; the same request with the real id is the control."""

    name = "unknown_model"
    group = "server"
    title = "Refuses a made-up model id"
    meaning = "A misspelt id is noticed and not answered by some other model."
    requests = 2
    order = 20
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        made_up, messages = f"{talk.model}-{talk.nonce('model').lower()}", [user("Say hello.")]
        turn = await talk.control(messages, model=made_up, max_tokens=16)
        if turn.reply is not None and turn.reply.readable:
            answered_as = turn.reply.model if isinstance(turn.reply.model, str) else "no name"
            found = finding("model.unknown_accepted", f"asked {made_up}, answered as {answered_as}", turn=turn.index)
            return failed("answers a made-up model id with 200", found)
        turn = await _refused_alone(talk, turn, "a made-up model id")
        if turn.fault is not None:
            return passed(status=turn.exchange.status)
        return failed("does not refuse a made-up model id properly: an answer outside the protocol")


async def _refused_alone(talk: Conversation, turn: Turn, what: str) -> Turn:
    """The turn as it is to be judged, once a legal request has shown that key and model are good."""

    def legal() -> Awaitable[Turn]:
        return talk.control([user("Say hello.")], max_tokens=16)

    control = await legal()
    if control.fault is not None:
        raise Concluded(unmeasured(control.fault))
    return await unless_broken(talk, turn, what, legal)
