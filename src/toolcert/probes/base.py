"""What a probe is: a short conversation with an oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.exchanges import Exchange, Fault
from toolcert.core.findings import Finding
from toolcert.core.replies import Reply
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject, Value

if TYPE_CHECKING:
    from toolcert.probes.refusal_pairs import ModelRefusals

GROUPS = ("calling", "control", "format", "streamed", "conversation", "server", "scenario")
"""Display order of the groups."""


class Turn(Value):
    """One exchange of a probe's conversation with what was read from it and found in it."""

    exchange: Exchange
    reply: Reply | None
    """None when there was nothing to read (`fault` says why)."""
    findings: tuple[Finding, ...] = ()
    index: int = 0
    """Which exchange of the case this is (0-based)."""

    @property
    def fault(self) -> Fault | None:
        return self.exchange.fault

    @property
    def answer(self) -> Reply:
        """The reply of a turn that is known to have one."""
        if self.reply is None:
            raise ValueError("this turn brought nothing to read")
        return self.reply

    @property
    def text(self) -> str:
        return self.answer.content or ""


class ProbeResult(Value):
    """What a probe concludes; the findings of its turns are collected for it."""

    outcome: Outcome
    reason: str = ""
    skip: SkipKind | None = None
    called: bool | None = None
    handled: bool | None = None
    findings: tuple[Finding, ...] = ()
    """What only the probe could see (an ignored `tool_choice`, a result not used)."""
    detail: JsonObject = {}


class Concluded(Exception):  # noqa: N818 - a probe's early conclusion, not an error of anyone
    """Ends a probe early with its result."""

    def __init__(self, result: ProbeResult) -> None:
        super().__init__(result.reason)
        self.result = result


class Conversation(Protocol):
    """What a probe talks through: one model, one iteration."""

    model: str
    iteration: int

    refusals: ModelRefusals
    """What the run has seen of refusals of this model, in all its conversations."""

    def nonce(self, label: str = "") -> str:
        """A word no model can guess, the same whenever this case is repeated."""

    def number(self, label: str = "", *, low: int = 1000, high: int = 9999) -> int:
        """A number no model can guess, the same whenever this case is repeated."""

    async def ask(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send one request (tools, tool_choice, stream, ... as parameters) and examine the answer."""

    async def control(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send a request for comparison only: it is kept as evidence and never counts against the model."""

    def report(self, finding: Finding) -> None:
        """Keep a finding that does not end the conversation."""

    async def models(self) -> list[ModelInfo]:
        """The models the endpoint lists."""


class Probe(Protocol):
    """One question put to a model."""

    @property
    def name(self) -> str: ...

    @property
    def group(self) -> str:
        """One of GROUPS."""

    @property
    def title(self) -> str: ...

    @property
    def meaning(self) -> str:
        """What passing tells the builder of an agent."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Probes that must have passed at least once; otherwise this one is skipped with the reason."""

    @property
    def requests(self) -> int:
        """Requests one iteration sends at most, not counting the requests that follow a refusal."""

    @property
    def order(self) -> int:
        """Place within its group."""

    @property
    def may_be_cut(self) -> bool:
        """Whether an answer cut at max_tokens is what the probe is about; elsewhere it measures nothing."""

    async def run(self, talk: Conversation) -> ProbeResult: ...


class ScriptedProbe:
    """The defaults of a probe written as a class; subclasses say name, group, title and meaning."""

    name: ClassVar[str]
    group: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    requests: ClassVar[int] = 1
    order: ClassVar[int] = 100
    may_be_cut: ClassVar[bool] = False


def passed(*findings: Finding, called: bool | None = None, handled: bool | None = None, **detail: Any) -> ProbeResult:
    """The oracle is satisfied; findings may still be worth knowing."""
    return ProbeResult(outcome=Outcome.PASSED, called=called, handled=handled, findings=findings, detail=detail)


def failed(
    reason: str, *findings: Finding, called: bool | None = None, handled: bool | None = None, **detail: Any
) -> ProbeResult:
    """The model or server behaved wrongly."""
    return ProbeResult(
        outcome=Outcome.FAILED, reason=reason, called=called, handled=handled, findings=findings, detail=detail
    )


def unsupported(reason: str, *findings: Finding, **detail: Any) -> ProbeResult:
    """The server says that it cannot."""
    return ProbeResult(outcome=Outcome.UNSUPPORTED, reason=reason, findings=findings, detail=detail)


def not_measured(reason: str, *, called: bool | None = None) -> ProbeResult:
    """Nothing was measured, except what an earlier turn showed."""
    return ProbeResult(outcome=Outcome.NOT_MEASURED, reason=reason, called=called)


def not_applicable(reason: str, *, called: bool | None = None) -> ProbeResult:
    """The model does not have what the probe is about."""
    return ProbeResult(outcome=Outcome.SKIPPED, reason=reason, skip=SkipKind.NOT_APPLICABLE, called=called)
