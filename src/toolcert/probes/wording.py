"""The sentences of a probe summary: what was seen, counted, without praise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolcert.diagnose import kind_of
from toolcert.probes.scorecard import Category, Cause, Cell, CellState, ModelSummary, Totals
from toolcert.probes.suites import Suite
from toolcert.probes.track import DECIDED

ALL_WELL = "Everything asked for works"
_MOST_REASONS = 3


def headline(totals: Totals, suite: Suite) -> str:
    """The sentence that decides."""
    if not totals.models:
        return "There was no model to ask."
    if not totals.counts.measured + totals.counts.unsupported:
        return f"Nothing could be measured: no answer to judge from {_models(totals.models)}."
    silent = totals.none + totals.unsupported
    others = [
        _part(totals.partial, ("works in part", "work in part")),
        _part(silent, suite.bad),
        _part(totals.not_measured, ("could not be measured", "could not be measured")),
    ]
    best = f"{totals.full} of {_models(totals.models)} {suite.good[totals.full != 1 and totals.models != 1]}"
    rest = ", ".join(part for part in others if part)
    return f"{best}; {rest}." if rest else f"{best}."


def further_lines(models: Sequence[ModelSummary], causes: Sequence[Cause]) -> Iterator[str]:
    """What to know next: the fault, the best choice, the fastest."""
    if causes and causes[0].severity != "note":
        worst = causes[0]
        meaning = kind_of(worst.code).meaning.partition(". ")[0].rstrip(".")
        yield f"The fault to know about: {worst.code} in {_models(len(worst.models))}. {meaning}."
    full = [model for model in models if model.category is Category.FULL]
    if not full:
        return
    best = full[0]
    yield f"Best choice: {best.model}, {best.reliability.rate.k} of {best.reliability.rate.n} runs{_to_a_call(best)}."
    fastest = min(full, key=lambda model: model.seconds("call") or float("inf"))
    if fastest is not best and fastest.seconds("call") is not None:
        yield f"Fastest of those: {fastest.model}{_to_a_call(fastest)}."


def reasons_for(cells: Sequence[Cell], weights: Mapping[str, float], codes: Sequence[str]) -> tuple[str, ...]:
    """Why a model is not better, the costliest reason first."""
    lacking = [cell for cell in cells if cell.state is not CellState.PASSED and _told(cell)]
    lacking.sort(key=lambda cell: -_lost(cell, weights))
    reasons = list(dict.fromkeys(_sentence(cell) for cell in lacking))
    if not reasons:
        titles = [kind_of(code).title.rstrip(".") for code in codes]
        reasons = [f"Works; {title[:1].lower()}{title[1:]}" for title in titles] or [_all_well(cells)]
    return tuple(reasons[:_MOST_REASONS])


def _all_well(cells: Sequence[Cell]) -> str:
    missing = sum(cell.counts.not_measured for cell in cells)
    return f"Everything measured works; {missing} not measured" if missing else ALL_WELL


def _told(cell: Cell) -> bool:
    """Skips follow from another cell or from the model itself; that one gives the reason."""
    return cell.state is not CellState.SKIPPED


def _lost(cell: Cell, weights: Mapping[str, float]) -> float:
    return weights.get(cell.probe, 0.0) * (1 - (cell.rate.value or 0.0))


def _sentence(cell: Cell) -> str:
    reason = cell.reason or "fails"
    if cell.stopped and not cell.counts.passed and not cell.stopped.startswith(DECIDED):
        return _capital(f"{cell.stopped}; {reason}")
    if cell.state is CellState.NOT_MEASURED:
        return _capital(f"not measured: {reason}")
    if cell.state is CellState.FLAKY:
        return _capital(f"{reason} in {cell.counts.failed} of {cell.counts.measured} runs")
    return _capital(reason)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _to_a_call(model: ModelSummary) -> str:
    seconds = model.seconds("call")
    return "" if seconds is None else f", {seconds:.2f} s to a call"


def _models(count: int) -> str:
    return "1 model" if count == 1 else f"{count} models"


def _part(count: int, words: tuple[str, str]) -> str:
    return f"{count} {words[count != 1]}" if count else ""
