"""What a probe is: a short conversation with an oracle."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from toolcert.core.exchanges import Exchange, Fault
from toolcert.core.findings import Finding
from toolcert.core.outcomes import Outcome
from toolcert.core.replies import Reply
from toolcert.core.values import JsonObject, Value


class Turn(Value):
    """One exchange of a probe's conversation with what was read from it and found in it."""

    exchange: Exchange
    reply: Reply | None
    """None when there was nothing to read (`fault` says why)."""
    findings: tuple[Finding, ...] = ()

    @property
    def fault(self) -> Fault | None:
        return self.exchange.fault


class ProbeResult(Value):
    """What a probe concludes; the findings of its turns are collected for it."""

    outcome: Outcome
    reason: str = ""
    called: bool | None = None
    handled: bool | None = None
    findings: tuple[Finding, ...] = ()
    """What only the probe could see (an ignored `tool_choice`, a result not used)."""
    detail: JsonObject = {}


class Conversation(Protocol):
    """What a probe is given to talk with: one target, one iteration."""

    model: str
    iteration: int

    def nonce(self, label: str = "") -> str:
        """A word no model can guess, the same whenever this case is repeated."""

    async def ask(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send one request (tools, tool_choice, stream, ... as parameters) and examine the answer."""


class Probe(Protocol):
    """One question put to a model."""

    name: ClassVar[str]
    group: ClassVar[str]
    """calling, control, format, conversation or server."""
    title: ClassVar[str]
    meaning: ClassVar[str]
    """What passing tells the builder of an agent."""
    needs: ClassVar[tuple[str, ...]]
    """Probes that must have passed at least once; otherwise this one is skipped with the reason."""
    requests: ClassVar[int]
    """The most requests one iteration sends."""

    async def run(self, talk: Conversation) -> ProbeResult: ...
