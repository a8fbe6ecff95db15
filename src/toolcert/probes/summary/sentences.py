"""The sentences of a probe summary: what was seen and counted, without praise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolcert.core.cases import SkipKind
from toolcert.core.findings import Severity
from toolcert.core.gates import rules_out
from toolcert.core.number_text import plural
from toolcert.core.sequential import ERROR_BOUND
from toolcert.diagnose import kind_of
from toolcert.probes.suites import Suite
from toolcert.probes.summary.scorecard import Category, Cause, Cell, CellState, ModelSummary, ProbeSummary, Totals

ALL_WELL = "Everything asked for works"
_MOST_REASONS = 3
_MOST_NAMES = 3


def headline(totals: Totals, suite: Suite) -> str:
    """The main conclusion, as one sentence."""
    if not totals.models:
        return "There was no model to ask."
    if not totals.counts.measured + totals.counts.unsupported:
        return f"Nothing could be measured: no answer to judge from {plural(totals.models, 'model')}."
    silent = totals.none + totals.unsupported
    others = [
        _part(totals.partial, ("works in part", "work in part")),
        _part(silent, suite.bad),
        _part(totals.undecided, ("is undecided", "are undecided")),
        _part(totals.not_measured, ("could not be measured", "could not be measured")),
    ]
    best = f"{totals.full} of {plural(totals.models, 'model')} {suite.good[totals.full != 1 and totals.models != 1]}"
    rest = ", ".join(part for part in others if part)
    return f"{best}; {rest}." if rest else f"{best}."


def incomplete_words(models: Sequence[ModelSummary]) -> str:
    """What the headline of an interrupted or still running run begins with."""
    cells = [cell for model in models for cell in model.cells if cell.cut_off]
    unasked = sum(cell.unasked for cell in cells)
    return f"Incomplete: {_cases(unasked)} not asked yet. So far: " if unasked else ""


def further_lines(models: Sequence[ModelSummary], causes: Sequence[Cause], *, several: bool = False) -> Iterator[str]:
    """What to know next: the fault, the best choice, the fastest, and what was left out or declared otherwise."""
    yield from _fault_to_know(causes)
    yield from _best_choices(models, several=several)
    yield from _declared_otherwise(models, several=several)
    yield from _left_out(models)


def unreachable_lines(unreachable: Mapping[str, str]) -> Iterator[str]:
    """The endpoints that could not be measured, and why."""
    return (f"Not measured: {name}. {reason}" for name, reason in unreachable.items())


def _fault_to_know(causes: Sequence[Cause]) -> Iterator[str]:
    if causes and causes[0].severity != "note":
        worst = causes[0]
        meaning = kind_of(worst.code).meaning.partition(". ")[0].rstrip(".")
        yield f"The fault to know about: {worst.code} in {plural(len(worst.models), 'model')}. {meaning}."


def _best_choices(models: Sequence[ModelSummary], *, several: bool) -> Iterator[str]:
    full = [model for model in models if model.category is Category.FULL]
    choice = [model for model in full if not _breaks_agents(model)] or full
    if not choice:
        return
    best, rate = choice[0], choice[0].reliability.rate
    yield f"Best choice: {_name(best, several=several)}, {rate.k} of {plural(rate.n, 'run')}{_to_a_call(best)}."
    prompt = [model for model in choice if model is best or _answers_at_once(model)]
    fastest = min(prompt, key=lambda model: model.seconds("call") or float("inf"))
    if fastest is not best and fastest.seconds("call") is not None:
        yield f"Fastest of those: {_name(fastest, several=several)}{_to_a_call(fastest)}."


def _breaks_agents(model: ModelSummary) -> bool:
    """Whether something is wrong that the points do not count."""
    return any(found.severity is Severity.ERROR for found in model.findings)


def _answers_at_once(model: ModelSummary) -> bool:
    """Whether no request was repeated: the time to a call does not include the wait for a retry."""
    return not model.counts.not_measured and all(cell.first_try.n == cell.rate.n for cell in model.cells)


def _declared_otherwise(models: Sequence[ModelSummary], *, several: bool) -> Iterator[str]:
    """What the listing says, beside what was measured."""
    asked = [model for model in models if model.counts.measured or model.counts.unsupported]
    silent = [m for m in asked if m.declares_tools and m.category in (Category.NONE, Category.UNSUPPORTED)]
    if silent:
        yield f"Declared to call tools, and does not: {_names(silent, several=several)}."
    able = [m for m in asked if m.declares_tools is False and m.category in (Category.FULL, Category.PARTIAL)]
    if able:
        yield f"Declared not to call tools, and does: {_names(able, several=several)}."


def _left_out(models: Sequence[ModelSummary]) -> Iterator[str]:
    """How many planned cases were not asked, and why."""
    cells = [cell for model in models if model.category is not Category.UNSUPPORTED for cell in model.cells]
    decided = sum(cell.counts.skipped for cell in cells if cell.stopped_by is SkipKind.DECIDED)
    if decided:
        risk = f"the risk of a wrong decision is at most {100 * ERROR_BOUND:.0f} %"
        yield f"Decided early: {_cases(decided)} not asked; {risk}."
    unasked_cells = [cell for cell in cells if cell.unasked and not cell.cut_off]  # a cut is said before all else
    for reason in dict.fromkeys(cell.unasked_because for cell in unasked_cells):
        unasked = sum(cell.unasked for cell in unasked_cells if cell.unasked_because == reason)
        yield f"{_cases(unasked)} not asked: {reason.rstrip('.')}."


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
    unasked = sum(cell.unasked for cell in cells)
    if unasked and not any(cell.counts.measured for cell in cells):
        return f"Not asked: {next(cell.unasked_because for cell in cells if cell.unasked)}"
    left = [f"{missing} not measured"] * bool(missing) + [f"{unasked} not asked"] * bool(unasked)
    return f"Everything measured works; {', '.join(left)}" if left else ALL_WELL


def _told(cell: Cell) -> bool:
    """Whether a cell has a reason of its own: a skip follows from another cell or from the model."""
    return cell.state is not CellState.SKIPPED


def _lost(cell: Cell, weights: Mapping[str, float]) -> float:
    return weights.get(cell.probe, 0.0) * (1 - (cell.rate.value or 0.0))


def _sentence(cell: Cell) -> str:
    reason = cell.reason or "fails"
    if cell.stopped and not cell.counts.passed and cell.stopped_by is not SkipKind.DECIDED:
        return _capital(f"{cell.stopped}; {reason}")
    if cell.state is CellState.NOT_MEASURED:
        return _capital(f"{'not measured' if cell.counts.total else 'not asked'}: {reason}")
    if cell.state is CellState.FLAKY:
        return _capital(f"{reason} in {cell.counts.failed} of {cell.counts.measured} runs")
    return _capital(reason)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _to_a_call(model: ModelSummary) -> str:
    seconds = model.seconds("call")
    return "" if seconds is None else f", {seconds:.{2 if seconds >= 0.01 else 3}f} s to a call"


def _name(model: ModelSummary, *, several: bool) -> str:
    return f"{model.endpoint}: {model.model}" if several else model.model


def _names(models: Sequence[ModelSummary], *, several: bool) -> str:
    named = ", ".join(_name(model, several=several) for model in models[:_MOST_NAMES])
    more = len(models) - _MOST_NAMES
    return f"{named} and {more} more" if more > 0 else named


def _cases(count: int) -> str:
    return "1 case was" if count == 1 else f"{count} cases were"


def _part(count: int, words: tuple[str, str]) -> str:
    return f"{count} {words[count != 1]}" if count else ""


def failed_gates(summary: ProbeSummary, fail_under: float | None, fail_on: Sequence[str]) -> list[str]:
    """One line for each gate that closed."""
    unmeasured = _unreachable_endpoints(summary) if fail_under is not None or fail_on else ()
    return [*unmeasured, *_low_scores(summary, fail_under), *_ruled_out(summary, fail_on)]


def _unreachable_endpoints(summary: ProbeSummary) -> Iterator[str]:
    """An endpoint that could not be measured fails every gate."""
    return (f"{name} could not be measured: {reason}" for name, reason in summary.unreachable.items())


def _low_scores(summary: ProbeSummary, fail_under: float | None) -> Iterator[str]:
    if fail_under is None:
        return
    for model in summary.models:
        name = _name(model, several=len(summary.endpoints) > 1)
        if model.category is Category.UNSUPPORTED:
            if model.counts.unsupported:  # others cannot chat: they were not asked and have no score
                yield f"{name} refuses tools, so it does not reach {fail_under:g}."
        elif model.score.low < fail_under:
            yield f"{name} scores {model.score}, under {fail_under:g}."


def _ruled_out(summary: ProbeSummary, fail_on: Sequence[str]) -> Iterator[str]:
    for cause in summary.causes:
        if rules_out(fail_on, cause.code, cause.severity):
            yield f"{cause.code} ({cause.severity}) in {', '.join(cause.models[:5])}: {cause.title}"
