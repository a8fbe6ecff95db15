"""The catalogue of findings with its areas, and the registration of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple, TypeAlias

from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.findings import Finding, FindingKind, Severity
from toolcert.core.requests import Request, RequestKind
from toolcert.core.text.excerpt import excerpt
from toolcert.core.values import Value
from toolcert.diagnose.judgement import CallJudgement


class Evidence(Value):
    """The smallest excerpt that proves a finding, and the call it concerns."""

    text: str
    call: int | None = None
    code: str | None = None
    """A narrower code than the check's own, such as `args.schema.enum`."""
    severity: Severity | None = None
    """Set where this case is more or less severe than its kind."""


class View(Value):
    """Everything that a check can look at."""

    request: Request
    exchange: Exchange
    reply: Reply
    calls: tuple[CallJudgement, ...] = ()
    """The judgement of every call, in the order of `reply.tool_calls`."""

    def noticed(self, code: str) -> bool:
        """Whether the reader of the answer has noted this code already."""
        return any(irregularity.code == code for irregularity in self.reply.irregularities)


class When(Enum):
    """Which answers a check is called for; one that names none is called for every readable answer."""

    CALLED = "an answer with calls"
    SEVERAL = "an answer with more than one call"
    FLAWED = "an answer with a call that is not simply valid"
    NOT_CALLED = "an answer without calls"
    TEXT = "an answer with text"
    REASONING = "an answer with reasoning"
    STREAMED = "a streamed answer"
    PLAIN = "an answer that was not streamed"
    STEERED = "an answer to a request whose tool_choice is not auto"
    ODD_FINISH = "an answer that ends with neither stop nor tool_calls"
    STOPPED = "an answer that ends with stop"
    ODD_CALL = "an answer with a call that lacks an id or a type, or has an index"
    NO_USAGE = "an answer without token counts"


Check: TypeAlias = Callable[[View], Iterable[Evidence]]


class _Registration(NamedTuple):
    kind: FindingKind
    when: frozenset[When]
    chat_only: bool
    function: Check


_kinds: dict[str, FindingKind] = {}
_checks: list[_Registration] = []


@cache
def _import_all() -> None:
    """Import every module of this package: one that registers a finding needs no entry anywhere else.

    Done when the catalogue is first asked for, so that judging calls alone costs none of it.
    """
    package = import_module(__name__.rpartition(".")[0])
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")


def declare(kind: FindingKind) -> FindingKind:
    """Enter a kind of finding that the wire, a probe, a dataset or a comparison raises itself."""
    if kind.code in _kinds:
        raise ValueError(f"finding {kind.code} is declared twice")
    _kinds[kind.code] = kind
    return kind


def check(kind: FindingKind, *when: When, chat_only: bool = False) -> Callable[[Check], Check]:
    """Register a function that sees this kind of finding in a single exchange, where all of `when` holds.

    `chat_only`: about what a chat server makes of the model's text; a raw completion leaves that to us.
    """
    declare(kind)

    def register(function: Check) -> Check:
        _checks.append(_Registration(kind, frozenset(when), chat_only, function))
        _checks_for.cache_clear()
        return function

    return register


def kind_of(code: str) -> FindingKind:
    """The catalogue entry of a code; `args.schema.minLength` falls back to `args.schema`.

    A code that only a later version knows, or that somebody wrote into a run, gets an entry that says so.
    """
    return _known(code) or FindingKind(
        code=code,
        severity=Severity.NOTE,
        title="A code that this version of toolcert does not know.",
        meaning="The run says so; what it means is not known here.",
        cause="The run was made by a later version, or its log was changed.",
        remedy="Read the run with the version that made it.",
    )


def _known(code: str) -> FindingKind | None:
    _import_all()
    while code not in _kinds and "." in code:
        code = code.rpartition(".")[0]
    return _kinds.get(code)


def catalogue() -> Iterator[FindingKind]:
    """All kinds, by code; their modules are imported when the first is asked for."""
    _import_all()
    yield from sorted(_kinds.values(), key=lambda kind: kind.code)


def finding(
    code: str,
    evidence: str,
    *,
    turn: int = 0,
    call: int | None = None,
    severity: Severity | None = None,
    because_of: str | None = None,
) -> Finding:
    """A finding of a catalogued kind; the middle of long evidence is left out."""
    kind = _known(code)
    assert kind is not None, f"finding {code} is not in the catalogue"
    weight = kind.severity if severity is None else severity
    return Finding(code=code, severity=weight, evidence=excerpt(evidence), turn=turn, call=call, because_of=because_of)


_FORMS = (
    When.CALLED,
    When.NOT_CALLED,
    When.SEVERAL,
    When.FLAWED,
    When.TEXT,
    When.REASONING,
    When.STREAMED,
    When.PLAIN,
    When.STEERED,
    When.ODD_FINISH,
    When.STOPPED,
    When.ODD_CALL,
    When.NO_USAGE,
)


def checks_for(view: View) -> tuple[tuple[FindingKind, Check], ...]:
    """The checks that look at an answer of this form."""
    _import_all()
    reply, request, calls = view.reply, view.request, view.calls
    called, streamed, finish = bool(reply.tool_calls), reply.streamed, reply.finish_reason
    flawed = odd = False
    for judged in calls:
        call = judged.call
        flawed = flawed or bool(judged.buckets)
        named = isinstance(call.id, str) and call.id and not call.id.isspace()
        odd = odd or not named or call.type != "function" or call.index is not None
    holds = (
        called,
        not called,
        len(calls) > 1,
        flawed,
        bool(reply.content),
        bool(reply.reasoning),
        streamed,
        not streamed,
        request.body.get("tool_choice", "auto") != "auto",
        finish not in ("stop", "tool_calls"),
        finish == "stop",
        odd,
        reply.usage is None,
    )
    return _checks_for(holds, request.kind)


@cache
def _checks_for(holds: tuple[bool, ...], kind: RequestKind) -> tuple[tuple[FindingKind, Check], ...]:
    """`holds` says of each of `_FORMS` whether the answer has it."""
    form = {when for when, does in zip(_FORMS, holds, strict=True) if does}
    chat = kind is RequestKind.CHAT
    return tuple((one.kind, one.function) for one in _checks if one.when <= form and (chat or not one.chat_only))


AREAS = {
    "finish": "Finish reason",
    "choice": "Steering by tool_choice",
    "parallel": "Parallel calls",
    "trigger": "When tools are called",
    "call": "Shape of a call",
    "args": "Arguments",
    "schema": "Tool schemas",
    "stream": "Streaming",
    "reasoning": "Reasoning",
    "history": "Earlier turns",
    "result": "Using results",
    "json": "JSON mode",
    "prompt": "What reaches the model",
    "usage": "Token counts",
    "identity": "Who answered",
    "model": "Model ids",
    "nondeterministic": "Repeatability",
    "text": "Text",
    "load": "Under load",
    "envelope": "The answer as a whole",
    "dataset": "The dataset itself",
    "internal": "Bugs of toolcert (never counted against a model)",
    "transport": "No answer to judge (never counted against a model)",
}


def area_of(code: str) -> str:
    """The first part of a code."""
    return code.partition(".")[0]


def by_area() -> Iterator[tuple[str, list[FindingKind]]]:
    """Every area with its kinds; one that has no title yet comes last, under its own name."""
    grouped: dict[str, list[FindingKind]] = {area: [] for area in AREAS}
    for kind in catalogue():
        grouped.setdefault(area_of(kind.code), []).append(kind)
    return ((area, kinds) for area, kinds in grouped.items() if kinds)
