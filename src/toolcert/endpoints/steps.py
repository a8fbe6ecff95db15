"""What an examination of an endpoint is made of."""

from __future__ import annotations

from enum import StrEnum

from toolcert.core.values import Value


class Health(StrEnum):
    """How a step ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class Step(Value):
    """One step: what was seen, how long it took, and what to do where it did not go well."""

    name: str
    health: Health
    detail: str
    seconds: float = 0.0
    remedy: str = ""


def good(name: str, detail: str) -> Step:
    return Step(name=name, health=Health.OK, detail=detail)


def doubtful(name: str, detail: str, remedy: str = "") -> Step:
    return Step(name=name, health=Health.WARNING, detail=detail, remedy=remedy)


def failed(name: str, detail: str, remedy: str = "") -> Step:
    return Step(name=name, health=Health.FAILED, detail=detail, remedy=remedy)


def skipped(name: str, detail: str) -> Step:
    return Step(name=name, health=Health.SKIPPED, detail=detail)
