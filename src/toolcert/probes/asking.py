"""Asking so that there is something to judge: refusals are explained by a control request."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.findings import Finding
from toolcert.core.outcomes import Outcome
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import finding
from toolcert.probes.base import Concluded, Conversation, ProbeResult, Turn, failed, not_measured, unsupported

REFUSALS = (FaultKind.REJECTED, FaultKind.SERVER_ERROR, FaultKind.UNSUPPORTED)
"""Faults that may be the feature's doing; only a control request tells."""


class Feature(Value):
    """What a request has that its control request has not."""

    what: str
    """In words, for the reason: `tools`, `tool_choice required`, ..."""
    without: tuple[str, ...] = ()
    """Fields of the request to leave out in the control request."""
    code: str | None = None
    """The finding a refusal is, where the catalogue has one."""
    instead: JsonObject = {}
    """Fields the control request carries instead."""
    capability: bool = True
    """A server may honestly lack it (`unsupported`); otherwise refusing it is a fault (`failed`)."""

    def over(self, messages: list[JsonObject]) -> Feature:
        """The same feature, with these messages in its control request."""
        return msgspec.structs.replace(self, instead={**self.instead, "messages": messages})


TOOLS = Feature(what="tools", without=("tools", "tool_choice", "parallel_tool_calls"))


async def answered(
    talk: Conversation,
    messages: list[JsonObject],
    *,
    feature: Feature | None = TOOLS,
    called: bool | None = None,
    **parameters: Any,
) -> Turn:
    """Ask and return a turn that can be judged; otherwise conclude, keeping the credit for an earlier call."""
    return await judgeable(talk, await talk.ask(messages, **parameters), feature=feature, called=called)


async def judgeable(
    talk: Conversation, turn: Turn, *, feature: Feature | None = None, called: bool | None = None
) -> Turn:
    """The turn itself, where it brought an answer of the protocol; otherwise conclude."""
    if turn.fault is not None:
        raise Concluded(await refused(talk, turn, turn.fault, feature, called))
    if not turn.answer.readable:
        raise Concluded(failed(unreadable(turn), called=bool(called), handled=False if called else None))
    return turn


async def refused(
    talk: Conversation, turn: Turn, fault: Fault, feature: Feature | None = None, called: bool | None = None
) -> ProbeResult:
    """What a request without an answer means."""
    if fault.kind not in REFUSALS or feature is None:
        return unmeasured(fault, called)
    body = turn.exchange.request.body
    kept = {key: value for key, value in body.items() if key not in (*feature.without, "messages")}
    control = await talk.control(**({"messages": body["messages"]} | kept | feature.instead))
    if control.reply is None or not control.reply.readable:
        return unmeasured(fault, called)
    findings = _rejection(feature, said(fault), turn)
    if fault.kind is FaultKind.SERVER_ERROR or not feature.capability:
        handled = False if called else None
        return failed(f"breaks on {feature.what} ({said(fault)})", *findings, called=bool(called), handled=handled)
    return unsupported(f"refuses {feature.what} ({said(fault)})", *findings)


def unreadable(turn: Turn) -> str:
    """Why an answer is not of the protocol's shape, in words that repeat from case to case."""
    seen = [one for one in turn.answer.irregularities if one.code == "envelope.not_openai"]
    what = f": {seen[0].evidence.partition(':')[0]}" if seen else ""
    return f"the answer is not a chat completion{what}"


def unmeasured(fault: Fault, called: bool | None = None) -> ProbeResult:
    """What a fault means that no control request explains."""
    if fault.kind is FaultKind.UNSUPPORTED:
        return ProbeResult(outcome=Outcome.UNSUPPORTED, reason=fault.message, called=called)
    return not_measured(said(fault), called=called)


def _rejection(feature: Feature | None, evidence: str, turn: Turn) -> tuple[Finding, ...]:
    return () if feature is None or feature.code is None else (finding(feature.code, evidence, turn=turn.index),)


def left_out(turn: Turn, parameter: str) -> bool:
    """Whether a parameter was not sent in the end, because the server refuses it."""
    return any(note.startswith(f"left out {parameter}") for note in turn.exchange.notes)


def said(fault: Fault) -> str:
    """The server's words, with the status."""
    if fault.status is None or str(fault.status) in fault.message:
        return fault.message
    return f"HTTP {fault.status}: {fault.message}"
