"""The page of a difference: what it means, then each model with its abilities, findings, times and answers."""

from __future__ import annotations

from toolcert.core.values import Value
from toolcert.difference.run_difference import CasePair, Change, FindingChange, ModelDifference, RunDifference
from toolcert.reports.diff.phrases import (
    CHANGE_ROLES,
    FINDING_ROLES,
    ability_words,
    finding_words,
    method,
    notes,
    of,
    pairs_words,
    setting,
    side_words,
    slowest,
    speed,
    times,
    verdict_words,
    when,
)
from toolcert.reports.display_text import count, shorten, visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.html.page import full_title, render

_QUIET = (Change.NO_EVIDENCE, Change.NOT_MEASURED, Change.ONLY_BEFORE, Change.ONLY_AFTER)


class Row(Value):
    """A line of a table: its role and word, and the cells beside them."""

    role: str
    word: str
    cells: tuple[str, ...]
    note: str = ""
    severity: str = ""


class PairView(Value):
    """A pair of cases with its answers."""

    name: str
    role: str
    word: str
    codes: str
    lines: tuple[tuple[str, str], ...]
    """Each line of the answers with its side: `-` before, `+` after, or both."""


class ModelView(Value):
    """One model."""

    anchor: str
    name: str
    was: str
    role: str
    word: str
    verdict: str
    before: str
    after: str
    open: bool
    abilities: tuple[Row, ...]
    findings: tuple[Row, ...]
    times: tuple[Row, ...]
    pairs: tuple[PairView, ...]
    counts: str


class DiffPage(Value):
    """One pair of runs."""

    headline: str
    advice: str
    role: str
    word: str
    facts: tuple[tuple[str, str], ...]
    settings: tuple[str, ...]
    method: str
    shows: str
    models: tuple[ModelView, ...]
    several: bool


def diff_html(differences: tuple[RunDifference, ...], extras: Extras = NOTHING) -> str:
    """The whole page."""
    pages = [_page(one, number) for number, one in enumerate(differences)]
    title = visible(" and ".join(one.after.run for one in differences[:3]))
    return render("diff.html.j2", pages=pages, title=title, history=extras.history)


def _page(difference: RunDifference, number: int) -> DiffPage:
    facts = (
        ("Before", f"{difference.before.run}, {when(difference.before)}"),
        ("After", f"{difference.after.run}, {when(difference.after)}"),
        ("Job", difference.job),
        ("Models", count(len(difference.models))),
        ("Pairs of cases", count(sum(model.pairs for model in difference.models))),
        ("Tests, alpha", f"{count(difference.tests)}, {difference.alpha:g}"),
        ("Known cases left out", count(difference.known) if difference.known else ""),
    )
    several = len(difference.models) > 1
    return DiffPage(
        headline=visible(difference.headline),
        advice=visible(difference.advice),
        role=CHANGE_ROLES[difference.change],
        word=difference.change.text,
        facts=tuple((name, value) for name, value in facts if value),
        settings=(
            f"Before: {side_words(difference.before)}",
            f"After: {side_words(difference.after)}",
            *(f"Asked differently: {setting(one)}" for one in difference.settings),
        ),
        method=method(difference),
        shows=difference.shows,
        models=tuple(
            _model(model, f"model-{number}-{place}", several=several) for place, model in enumerate(difference.models)
        ),
        several=several,
    )


def _model(model: ModelDifference, anchor: str, *, several: bool) -> ModelView:
    return ModelView(
        anchor=anchor,
        name=shorten(visible(model.name), 120),
        was=shorten(visible(model.before_name), 120),
        role=CHANGE_ROLES[model.change],
        word=model.change.text,
        verdict=verdict_words(model),
        before=of(model.before),
        after=of(model.after),
        open=not several
        or model.change not in _QUIET
        or any(one.change is FindingChange.NEW for one in model.findings),
        abilities=tuple(
            Row(
                role=CHANGE_ROLES[one.change],
                word=one.change.text,
                cells=(visible(one.name), of(one.before), of(one.after), f"{one.lost} / {one.gained}"),
                note=ability_words(one),
            )
            for one in model.abilities
        ),
        findings=tuple(
            Row(
                role=FINDING_ROLES[one.change],
                word=one.change.text,
                severity=one.severity.value,
                cells=(one.code, full_title(one.code, one.title), finding_words(one)),
                note=f"Known: {notes(one)}" if one.notes else "",
            )
            for one in model.findings
        ),
        times=tuple(
            Row(role=CHANGE_ROLES[one.change], word=speed(one), cells=(one.label, times(one), slowest(one)))
            for one in model.times
            if one.before_n or one.after_n
        ),
        pairs=tuple(_pair(pair) for pair in model.cases),
        counts=pairs_words(model),
    )


def _pair(pair: CasePair) -> PairView:
    lost = pair.before == "passed"
    return PairView(
        name=visible(pair.name),
        role="bad" if lost else "good",
        word="lost" if lost else "gained",
        codes=", ".join(pair.after_codes if lost else pair.before_codes),
        lines=tuple((line[:1], visible(line[1:])) for line in pair.answer),
    )
