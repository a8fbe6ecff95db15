"""Gates of a verify run: the figures it must reach and the findings it must not have for its exit code to be 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from toolcert.core.errors import UsageError
from toolcert.core.gates import Gate, rules_out
from toolcert.core.number_text import plural
from toolcert.verification.dataset.lines import OWN_KEY, Dataset
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.headline import incomplete_words

GATE_NAMES = ("schema", "trigger", "correct")
_NEED_EXPECTATIONS = frozenset({"trigger", "correct"})
_KEY = f'"{OWN_KEY}"'.encode()


def require_expectations(gates: tuple[Gate, ...], name: str, any_expects: Callable[[], bool]) -> None:
    """Refuse a gate on expectations if no row of `name` has one."""
    names = [gate.name for gate in gates if gate.name in _NEED_EXPECTATIONS]
    if names and not any_expects():
        raise UsageError(
            f"--fail-under {names[0]} needs rows that say what they expect, and {name} has none.",
            remedy='Add "toolcert": {"expected": {"call": true}} to rows, or gate on schema.',
        )


def any_expectation(dataset: Dataset) -> bool:
    """Whether any row has an expectation; only lines with the key `toolcert` are parsed."""
    marked = (line for line in dataset.source.lines() if _KEY in line[1])
    return any(dataset.read(number, text).notes.expected is not None for number, text in marked)


def missed_gates(gates: tuple[Gate, ...], summary: VerifySummary) -> Iterator[str]:
    """Say why each missed gate is missed; an incomplete run meets none."""
    if gates and summary.incomplete:
        yield incomplete_words(summary)
    figures = {"schema": summary.valid, "trigger": summary.trigger, "correct": summary.correct}
    for gate in gates:
        reason = gate.missed_by(figures[gate.name])
        if reason:
            yield reason


def found_gates(fail_on: Sequence[str], summary: VerifySummary) -> Iterator[str]:
    """Say which findings of --fail-on the vendor has."""
    for line in summary.vendor:
        if rules_out(fail_on, line.code, line.severity):
            yield f"{line.code} ({line.severity}) in {plural(line.rows, 'row')}: {line.title}"
