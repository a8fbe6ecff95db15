"""What a probe is, a short conversation with an oracle, and the registry: all with `@probe` in `catalogue/`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.errors import UsageError
from toolcert.core.exchanges import Exchange, Fault, Reply
from toolcert.core.findings import Finding
from toolcert.core.targets import ModelInfo
from toolcert.core.text.spelling import did_you_mean
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


_probes: dict[str, Probe] = {}
P = TypeVar("P", bound=type[Probe])


def probe(cls: P) -> P:
    """Register a probe class."""
    register(cls())
    return cls


def register(instance: Probe) -> None:
    """Register a ready probe."""
    if instance.group not in GROUPS:
        raise ValueError(f"probe {instance.name}: no such group: {instance.group}")
    if instance.name in _probes:
        raise ValueError(f"probe {instance.name} is registered twice")
    _probes[instance.name] = instance


def all_probes() -> tuple[Probe, ...]:
    """Every probe, in display order."""
    _discover()
    return tuple(sorted(_probes.values(), key=_place))


def find_probe(name: str) -> Probe:
    """The probe of that name; a wrong name is a usage error."""
    _discover()
    if name not in _probes:
        remedy = f"{did_you_mean(name, _probes)} See toolcert probe --list-probes.".lstrip()
        raise UsageError(f"there is no probe {name!r}.", remedy=remedy)
    return _probes[name]


def with_needs(names: Iterable[str]) -> tuple[Probe, ...]:
    """The named probes and, before them, those they need: an unmet precondition could be luck."""
    chosen: dict[str, Probe] = {}
    for name in names:
        _choose(name, chosen)
    return tuple(sorted(chosen.values(), key=_place))


def _choose(name: str, chosen: dict[str, Probe]) -> None:
    instance = find_probe(name)
    if name not in chosen:
        chosen[name] = instance
        for needed in instance.needs:
            _choose(needed, chosen)


def _place(instance: Probe) -> tuple[int, int, str]:
    return GROUPS.index(instance.group), instance.order, instance.name


@cache
def _discover() -> None:
    load_modules("toolcert.probes.catalogue")


def load_modules(package: str) -> Sequence[str]:
    """Import every module of a package, so that its probes register themselves."""
    path = importlib.import_module(package).__path__
    names = [f"{package}.{module.name}" for module in pkgutil.iter_modules(path)]
    for name in names:
        importlib.import_module(name)
    return names
