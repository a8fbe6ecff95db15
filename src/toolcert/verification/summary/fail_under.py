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
        reason = gate.missed_by(figures[gate.name])
        if reason:
            yield reason


def found_gates(fail_on: Sequence[str], summary: VerifySummary) -> Iterator[str]:
    """Why each finding of the vendor that the user will not accept closes a gate."""
    for line in summary.vendor:
        if rules_out(fail_on, line.code, line.severity):
            yield f"{line.code} ({line.severity}) in {plural(line.rows, 'row')}: {line.title}"
