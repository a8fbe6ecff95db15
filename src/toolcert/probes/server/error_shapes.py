"""An illegal request must be refused in the protocol's form of an error."""

from __future__ import annotations

from typing import Any

from toolcert.core.jsontext import NotJson, parse_json
from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.asking import said, unmeasured
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.refusing import refuses
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
