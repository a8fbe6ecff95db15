"""The catalogue and the checks: a new finding is one function and one registration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding, FindingKind
from toolcert.core.replies import Reply
from toolcert.core.requests import Request
from toolcert.core.values import Value


class Evidence(Value):
    """The smallest excerpt that proves a finding, and the call it concerns."""

    text: str
    call: int | None = None


class View(Value):
    """All that a check may look at."""

    request: Request
    exchange: Exchange
    reply: Reply


Check: TypeAlias = Callable[[View], Iterable[Evidence]]

_kinds: dict[str, FindingKind] = {}
_checks: list[tuple[FindingKind, Check]] = []


def declare(kind: FindingKind) -> FindingKind:
    """Enter a kind of finding that a probe, a dataset or a comparison raises itself."""
    if kind.code in _kinds:
        raise ValueError(f"finding {kind.code} is declared twice")
    _kinds[kind.code] = kind
    return kind


def check(kind: FindingKind) -> Callable[[Check], Check]:
    """Register a function that sees this kind of finding in a single exchange."""
    declare(kind)

    def register(function: Check) -> Check:
        _checks.append((kind, function))
        return function

    return register


def kind_of(code: str) -> FindingKind:
    """The catalogue entry of a code; `args.schema.minLength` falls back to `args.schema`."""
    while code not in _kinds and "." in code:
        code = code.rpartition(".")[0]
    return _kinds[code]


def catalogue() -> Iterator[FindingKind]:
    """All kinds, by code."""
    return iter(sorted(_kinds.values(), key=lambda kind: kind.code))


def finding(code: str, evidence: str, *, turn: int = 0, call: int | None = None) -> Finding:
    """A finding of a catalogued kind."""
    return Finding(code=code, severity=kind_of(code).severity, evidence=evidence, turn=turn, call=call)
