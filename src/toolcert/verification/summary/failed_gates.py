"""The gates that a verify run fails: figures it does not reach, findings it must not have, a lesser verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.gates import Gate, Gates
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.number_text import plural
from toolcert.core.verdict import COVERAGE_FLOOR, Verdict, Word
from toolcert.verification.dataset.lines import OWN_KEY, Dataset
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.run_verdict import run_verdict, stopped_words

GATE_NAMES = ("schema", "trigger", "correct")
_NEED_EXPECTATIONS = frozenset({"trigger", "correct"})
_INVALID_CALLS = (
    "args.invalid_json",
    "args.empty",
    "args.not_string",
    "args.double_encoded",
    "args.doubled",
    "args.schema",
    "args.too_large",
    "call.unknown_tool",
    "call.mangled_name",
)
"""Errors that make a call invalid, so that the figure `schema` counts them."""
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


def too_little_measured(summary: VerifySummary) -> str:
    """Why no gate can be judged; empty where enough was measured."""
    coverage = summary.verdict.coverage
    return "" if coverage.enough else f"{stopped_words(coverage)}; a gate needs {100 * COVERAGE_FLOOR:g} %"


def failed_gates(gates: Gates, summary: VerifySummary) -> list[str]:
    """One line for each gate that closed."""
    verdict = run_verdict(summary, summary.verdict.threshold, gates.allow) if gates.allow else summary.verdict
    return [
        *_missed_figures(gates, summary),
        *filter(None, (limit.missed_by(summary.timings) for limit in gates.limits)),
        *_lesser_verdict(gates, verdict),
        *_ruled_out(gates, summary),
    ]


def _missed_figures(gates: Gates, summary: VerifySummary) -> Iterator[str]:
    figures = {"schema": summary.valid, "trigger": summary.trigger, "correct": summary.correct}
    for gate in gates.figures:
        if reason := gate.missed_by(figures[gate.name]):
            yield reason
    if gates.figures and (rest := _uncounted(gates, summary)).word in (Word.PARTIAL, Word.FAILS, Word.UNSUPPORTED):
        yield f"{rest.sentence}.{f' --allow {rest.caps[0]} would allow it.' if rest.caps else ''}"


def _uncounted(gates: Gates, summary: VerifySummary) -> Verdict:
    """The verdict of what the gates' rates do not count: a gate of 0.98 lets 1 % of invalid calls pass."""
    names = {gate.name for gate in gates.figures}
    if names & _NEED_EXPECTATIONS:
        summary = msgspec.structs.replace(summary, correct=Rate())
    counted = _INVALID_CALLS if "schema" in names else ()
    return run_verdict(summary, summary.verdict.threshold, (*gates.allow, *counted))


def _lesser_verdict(gates: Gates, verdict: Verdict) -> Iterator[str]:
    if gates.require is not None and not verdict.meets(gates.require):
        yield f"{verdict.sentence}; {gates.require} is required."


def _ruled_out(gates: Gates, summary: VerifySummary) -> Iterator[str]:
    for line in summary.vendor:
        if gates.rule_out(line.code, line.severity, line.rows, line.known):
            yield f"{line.code} ({line.severity}) in {plural(line.rows, 'row')}: {line.title}"
