"""Gates of a verify run: the figures it must reach and the findings it must not have for its exit code to be 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from toolcert.core.errors import UsageError
from toolcert.core.statistics import Rate
from toolcert.core.values import Value
from toolcert.probes.summary.gate import meets
from toolcert.verification.dataset.lines import OWN_KEY, Dataset
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.headline import incomplete_words

NAMES = ("schema", "trigger", "correct")
_NEED_EXPECTATIONS = frozenset({"trigger", "correct"})
_KEY = f'"{OWN_KEY}"'.encode()


class Gate(Value):
    """One figure and the least it may be."""

    name: str
    least: float


def parse_gates(text: str) -> tuple[Gate, ...]:
    """`schema=0.98,trigger=95%` as gates."""
    return tuple(_gate(part.strip()) for part in text.split(",") if part.strip())


def _gate(text: str) -> Gate:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in NAMES:
        raise UsageError(
            f"--fail-under knows no figure {name!r}.", remedy=f"Use {', '.join(NAMES)}, as in schema=0.98."
        )
    try:
        least = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise UsageError(f"--fail-under {text}: not a share.", remedy="Write it as 0.98 or 98%.")
    return Gate(name=name, least=least)


def require_expectations(gates: tuple[Gate, ...], name: str, any_expects: Callable[[], bool]) -> None:
    """A gate on what rows expect is a mistake where no row of `name` expects anything."""
    names = [gate.name for gate in gates if gate.name in _NEED_EXPECTATIONS]
    if names and not any_expects():
        raise UsageError(
            f"--fail-under {names[0]} needs rows that say what they expect, and {name} has none.",
            remedy='Add "toolcert": {"expected": {"call": true}} to rows, or gate on schema.',
        )


def any_expectation(dataset: Dataset) -> bool:
    """Whether a row says what it expects; only lines that name our key are read."""
    marked = (line for line in dataset.source.lines() if _KEY in line[1])
    return any(dataset.read(number, text).notes.expected is not None for number, text in marked)


def missed_gates(gates: tuple[Gate, ...], summary: VerifySummary) -> Iterator[str]:
    """Why each gate that is not met is not; a part of the rows can meet none."""
    if gates and summary.incomplete:
        yield incomplete_words(summary)
    figures = {"schema": summary.valid, "trigger": summary.trigger, "correct": summary.correct}
    for gate in gates:
        reason = _missed(figures[gate.name], gate)
        if reason:
            yield reason


def _missed(share: Rate, gate: Gate) -> str:
    if share.value is None:
        return f"{gate.name} could not be judged: no answer counts for it."
    if share.value < gate.least:
        return f"{gate.name} is {100 * share.value:.2f} % ({share.k}/{share.n}), below {100 * gate.least:g} %."
    return ""


def found_gates(fail_on: Sequence[str], summary: VerifySummary) -> Iterator[str]:
    """Why each finding of the vendor that the user will not accept closes a gate."""
    for line in summary.vendor:
        if any(meets(line.code, line.severity, gate) for gate in fail_on):
            rows = "1 row" if line.rows == 1 else f"{line.rows} rows"
            yield f"{line.code} ({line.severity}) in {rows}: {line.title}"
