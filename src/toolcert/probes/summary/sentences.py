"""The sentences of a probe summary: what was seen and counted, without praise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolcert.core.cases import SkipKind
from toolcert.core.findings import Severity
from toolcert.core.gates import Gates
from toolcert.core.statistics.sequential import ERROR_BOUND
from toolcert.core.text.excerpt import with_stop
from toolcert.core.text.number_text import plural
from toolcert.core.verdict import Verdict, Word
from toolcert.diagnose import kind_of
from toolcert.probes.summary.model_verdict import makes_calls, model_verdict
from toolcert.probes.summary.scorecard import Cause, Cell, CellState, ModelSummary, ProbeSummary, Totals

ALL_WELL = "Everything asked for works"
_REFUSED_KEY = "transport.auth"
_MOST_REASONS = 3
_MOST_NAMES = 3


_SAID = {
    Word.PARTIAL: ("works in part", "work in part"),
    Word.UNDECIDED: ("is undecided", "are undecided"),
    Word.FAILS: ("fails", "fail"),
    Word.UNSUPPORTED: ("cannot call tools", "cannot call tools"),
    Word.NOT_MEASURED: ("could not be measured", "could not be measured"),
}


def headline(models: Sequence[ModelSummary], totals: Totals, unreachable: Sequence[str] = ()) -> str:
    """The sentence that decides: the verdict of the only model, or how many have which; and who gave no answer."""
    if not models:
        return "There was no model to ask."
    if not totals.counts.measured + totals.counts.unsupported:
        return f"Nothing could be measured: no answer to judge from {plural(totals.models, 'model')}."
    silent = f"; {_some(unreachable)} could not be measured" if unreachable else ""
    return with_stop(f"{_said_of(models, totals)}{silent}")


def _said_of(models: Sequence[ModelSummary], totals: Totals) -> str:
    if len(models) == 1:
        return f"{models[0].model} {_said(models[0].verdict)}"
    good = totals.certified + totals.passes
    certified = f", {totals.certified} of them certified" if totals.certified else ""
    best = f"{good} of {plural(totals.models, 'model')} {'passes' if good == 1 else 'pass'}{certified}"
    counts = {word: sum(model.verdict.word is word for model in models) for word in _SAID}
    rest = ", ".join(_part(count, _SAID[word]) for word, count in counts.items() if count)
    return f"{best}; {rest}" if rest else best


def _said(verdict: Verdict) -> str:
    """The verdict as what follows the model's name."""
    return f"{'' if verdict.word in (Word.PASSES, Word.FAILS) else 'is '}{verdict.sentence}"


def incomplete_words(models: Sequence[ModelSummary]) -> str:
    """What the headline of an interrupted or still running run begins with."""
    cells = [cell for model in models for cell in model.cells if cell.cut_off]
    unasked = sum(cell.unasked for cell in cells)
    return f"Incomplete: {_cases(unasked)} not asked yet. So far: " if unasked else ""


def further_lines(models: Sequence[ModelSummary], causes: Sequence[Cause], *, several: bool = False) -> Iterator[str]:
    """What to know next: the fault, the best choice, the fastest, and what was left out or declared otherwise."""
    yield from _fault_to_know(causes)
    yield from _best_choices(models, several=several)
    yield from _under_load(models, several=several)
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
    good = [model for model in models if model.verdict.good]
    # An error that was seen once does not cap the verdict; a model without one is still the better choice.
    choice = [model for model in good if all(found.severity is not Severity.ERROR for found in model.findings)] or good
    # One that was busy, or broke off, costs every agent a wait: another that passes as well comes before it.
    choice = sorted(choice, key=lambda model: not _answers_at_once(model))
    if not choice:
        return
    best, rate = choice[0], choice[0].reliability.rate
    yield f"Best choice: {_name(best, several=several)}, {rate.k} of {plural(rate.n, 'run')}{_to_a_call(best)}."
    prompt = [model for model in choice if model is best or _answers_at_once(model)]
    fastest = min(prompt, key=lambda model: model.seconds("call") or float("inf"))
    if fastest is not best and fastest.seconds("call") is not None:
        yield f"Fastest of those: {_name(fastest, several=several)}{_to_a_call(fastest)}."


def _under_load(models: Sequence[ModelSummary], *, several: bool) -> Iterator[str]:
    """How the models did that were asked many at a time as well."""
    for model in models:
        load = model.under_load
        if load is None:
            continue
        only = "" if load.busy is None else f" (the vendor let only {load.busy:.1f} be in flight on average)"
        name = f"{_name(model, several=several)} at {load.level} at a time{only}"
        if not load.pairs:
            yield f"{name}: no pair of answers to compare."
        elif not load.breaks:
            yield f"{name}: {load.both_right} of {plural(load.pairs, 'pair')} are right alone and under load."
        else:
            foreign = f", {load.crosstalk} with another's values" if load.crosstalk else ""
            yield f"{name}: {load.worse} of {plural(load.pairs, 'pair')} are right alone and wrong under load{foreign}."


def _answers_at_once(model: ModelSummary) -> bool:
    """Whether no request was repeated: the time to a call does not include the wait for a retry."""
    return not model.counts.not_measured and all(cell.first_try.n == cell.rate.n for cell in model.cells)


def _declared_otherwise(models: Sequence[ModelSummary], *, several: bool) -> Iterator[str]:
    """What the listing says, beside what was measured."""
    asked = [model for model in models if model.counts.measured or model.counts.unsupported]
    silent = [m for m in asked if m.declares_tools and (m.verdict.word is Word.UNSUPPORTED or not makes_calls(m.cells))]
    if silent:
        yield f"Declared to call tools, and does not: {_names(silent, several=several)}."
    able = [m for m in asked if m.declares_tools is False and any(cell.called.k for cell in m.cells)]
    if able:
        yield f"Declared not to call tools, and does: {_names(able, several=several)}."


def _left_out(models: Sequence[ModelSummary]) -> Iterator[str]:
    """How many planned cases were not asked, and why."""
    cells = [cell for model in models if model.verdict.word is not Word.UNSUPPORTED for cell in model.cells]
    decided = sum(cell.counts.skipped for cell in cells if cell.stopped_by is SkipKind.DECIDED)
    if decided:
        risk = f"the risk of a wrong decision is at most {100 * ERROR_BOUND:.0f} %"
        yield f"Decided early: {_cases(decided)} not asked; {risk}."
    unasked_cells = [cell for cell in cells if cell.unasked and not cell.cut_off]  # a cut is said before all else
    for reason in dict.fromkeys(cell.unasked_because for cell in unasked_cells):
        unasked = sum(cell.unasked for cell in unasked_cells if cell.unasked_because == reason)
        yield f"{_cases(unasked)} not asked: {with_stop(reason)}"


def reasons_for(cells: Sequence[Cell], weights: Mapping[str, float], codes: Sequence[str]) -> tuple[str, ...]:
    """Why a model is not better, the costliest reason first."""
    lacking = [cell for cell in cells if cell.state is not CellState.PASSED and _has_own_reason(cell)]
    lacking.sort(key=lambda cell: -_lost(cell, weights))
    reasons = list(dict.fromkeys(_sentence(cell) for cell in lacking))
    if not reasons:
        titles = [kind_of(code).said for code in codes]
        reasons = [f"Works; {title[:1].lower()}{title[1:]}" for title in titles] or [_all_well(cells)]
    return tuple(reasons[:_MOST_REASONS])


def _all_well(cells: Sequence[Cell]) -> str:
    missing = sum(cell.counts.not_measured for cell in cells)
    unasked = sum(cell.unasked for cell in cells)
    if unasked and not any(cell.counts.measured for cell in cells):
        return f"Not asked: {next(cell.unasked_because for cell in cells if cell.unasked)}"
    left = [f"{missing} not measured"] * bool(missing) + [f"{unasked} not asked"] * bool(unasked)
    return f"Everything measured works; {', '.join(left)}" if left else ALL_WELL


def _has_own_reason(cell: Cell) -> bool:
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


def as_sentence(reason: str) -> str:
    """With a capital, unless it begins with the name of a probe or a finding's code."""
    first = reason.partition(" ")[0]
    return reason if first.endswith(":") or "." in first else _capital(reason)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _to_a_call(model: ModelSummary) -> str:
    seconds = model.seconds("call")
    return "" if seconds is None else f", {seconds:.{2 if seconds >= 0.01 else 3}f} s to a call"


def _name(model: ModelSummary, *, several: bool) -> str:
    return f"{model.endpoint}: {model.model}" if several else model.model


def _names(models: Sequence[ModelSummary], *, several: bool) -> str:
    return _some([_name(model, several=several) for model in models])


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _cases(count: int) -> str:
    return "1 case was" if count == 1 else f"{count} cases were"


def _part(count: int, words: tuple[str, str]) -> str:
    return f"{count} {words[count != 1]}" if count else ""


def too_little_measured(summary: ProbeSummary) -> str:
    """The first model or endpoint of which less was measured than a gate needs; empty if there is none."""
    for name, reason in summary.unreachable.items():
        return f"{name} could not be measured: {reason}"
    gap = next((model for model in summary.models if _has_gap(model)), None)
    return "" if gap is None else f"{_gap_words(summary, gap)}; a gate needs 95 %."


def refused_key(summary: ProbeSummary) -> str:
    """The first model that a refused key kept from being measured; empty if the key was good.

    A single model that this key may not use does not count: it never answered, and most others did.
    """
    for endpoint in {model.endpoint for model in summary.models}:
        asked = [model for model in summary.models if model.endpoint == endpoint and model.asked]
        shut = [model for model in asked if _has_gap(model) and any(one.code == _REFUSED_KEY for one in model.findings)]
        if shut and (2 * len(shut) >= len(asked) or any(model.verdict.coverage.measured for model in shut)):
            return f"{_gap_words(summary, shut[0])}."
    return ""


def _has_gap(model: ModelSummary) -> bool:
    return model.verdict.coverage.planned > 0 and not model.verdict.coverage.enough


def _gap_words(summary: ProbeSummary, model: ModelSummary) -> str:
    coverage = model.verdict.coverage
    name = _name(model, several=len(summary.endpoints) > 1)
    return f"{name}: only {coverage.measured} of {coverage.planned} cases were measured"


def failed_gates(summary: ProbeSummary, gates: Gates) -> list[str]:
    """One line for each gate that closed."""
    return [
        *_low_scores(summary, gates),
        *_slow_models(summary, gates),
        *_lesser_verdicts(summary, gates),
        *_ruled_out(summary, gates),
    ]


def _lesser_verdicts(summary: ProbeSummary, gates: Gates) -> Iterator[str]:
    if gates.require is None:
        return
    for model in summary.models:
        if model.asked and not _allowing(summary, model, gates).meets(gates.require):
            name = _name(model, several=len(summary.endpoints) > 1)
            yield f"{name} {_said(model.verdict)}; {gates.require} is required."


def _allowing(summary: ProbeSummary, model: ModelSummary, gates: Gates) -> Verdict:
    """The verdict without what the user allows."""
    if not gates.allow:
        return model.verdict
    columns = {column.name: column for column in summary.probes}
    return model_verdict(model.cells, columns, summary.threshold, gates.allow, model.under_load)


def _low_scores(summary: ProbeSummary, gates: Gates) -> Iterator[str]:
    """Models below the score, and models without a good verdict: points never replace it."""
    if gates.fail_under is None:
        return
    for model in summary.models:
        name = _name(model, several=len(summary.endpoints) > 1)
        if model.verdict.word is Word.UNSUPPORTED:
            if model.counts.unsupported:  # others cannot chat: they were not asked and have no score
                yield f"{name} refuses tools, so it does not reach {gates.fail_under:g}."
        elif model.score.low < gates.fail_under:
            yield f"{name} scores {model.score}, under {gates.fail_under:g}."
        elif not (verdict := _allowing(summary, model, gates)).good:
            yield f"{name} scores {model.score}, but {_why_not_good(verdict)}"


def _why_not_good(verdict: Verdict) -> str:
    if verdict.word is not Word.PARTIAL:
        return with_stop(_said(verdict))
    told = f"has {', '.join(verdict.caps)}" if verdict.caps else _said(verdict)
    return f"{told}: --allow {verdict.exemptions[0].name} would allow it."


def _slow_models(summary: ProbeSummary, gates: Gates) -> Iterator[str]:
    for model in summary.models:
        if model.asked:
            missed = filter(None, (limit.missed_by(model.timings) for limit in gates.limits))
            yield from (f"{_name(model, several=len(summary.endpoints) > 1)}: {reason}" for reason in missed)


def _ruled_out(summary: ProbeSummary, gates: Gates) -> Iterator[str]:
    for cause in summary.causes:
        if gates.rule_out(cause.code, cause.severity, cause.count, cause.known):
            yield f"{cause.code} ({cause.severity}) in {', '.join(cause.models[:5])}: {cause.title}"
