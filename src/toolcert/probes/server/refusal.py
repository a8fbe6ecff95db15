"""Requests that must be refused in the protocol's form: an illegal one, and one for an unknown model."""

from __future__ import annotations

from typing import Any

from toolcert.core.json_text import NotJson, parse_json
from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import refuses, said, unmeasured
from toolcert.probes.registry import probe


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
        control = await talk.control([user("Say hello.")], max_tokens=16)
        if control.fault is not None:
            return unmeasured(control.fault)
        status = turn.exchange.status
        if turn.fault is None:
            return failed("answers a request without messages", status=status)
        if not refuses(turn):
            return failed(f"answers an illegal request with an error of its own ({said(turn.fault)})", status=status)
        if not _has_message(turn.exchange.payload):
            found = finding(
                "envelope.not_openai", turn.exchange.payload[:200].decode(errors="replace"), turn=turn.index
            )
            return failed("an error without a readable message", found, status=status)
        return passed(status=status)


def _has_message(payload: bytes) -> bool:
    """Whether the body is an error object with a message, in any of the dialects' forms."""
    try:
        body = parse_json(payload.decode(errors="replace"))
    except NotJson:
        return False
    if not isinstance(body, dict):
        return False
    errors: list[Any] = [body.get("error"), *(body["errors"] if isinstance(body.get("errors"), list) else [])]
    return any(isinstance(error, dict) and isinstance(error.get("message"), str) for error in errors)


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
        control = await talk.control(messages, max_tokens=16)
        if control.fault is not None:
            return unmeasured(control.fault)
        if refuses(turn):
            return passed(status=turn.exchange.status)
        what = said(turn.fault) if turn.fault is not None else "an answer outside the protocol"
        return failed(f"does not refuse a made-up model id properly: {what}", status=turn.exchange.status)
