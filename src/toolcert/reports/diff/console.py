"""The difference of two runs on the console: what it means, then each model that changed."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.difference.run_difference import Change, FindingChange, ModelDifference, RunDifference
from toolcert.reports.console.style import SEVERITY_STYLES, STYLES, Line, Screen, table
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
    short_word,
    side_words,
    slowest,
    speed,
    times,
    verdict_words,
)
from toolcert.reports.display_text import plural, shorten, visible

_MOST_CASES = 3
_MOST_LINES = 12
_QUIET = (Change.NO_EVIDENCE, Change.NOT_MEASURED, Change.ONLY_BEFORE, Change.ONLY_AFTER)


def print_difference(difference: RunDifference, screen: Screen) -> None:
    """The whole difference."""
    style = STYLES[CHANGE_ROLES[difference.change]]
    blocks: list[list[Line]] = [
        [
            *screen.prose(difference.headline, f"bold {style}" if style != "dim" else "bold"),
            *screen.prose(difference.advice.replace("`", "")),
        ],
        list(_runs(difference, screen)),
    ]
    if len(difference.models) > 1:
        blocks.append(list(_models(difference, screen)))
    told = [model for model in difference.models if model.change not in _QUIET or _has_news(model)]
    for model in told or (difference.models if len(difference.models) == 1 else ()):
        blocks += _model(model, screen)
    blocks.append(screen.prose(method(difference), "dim"))
    screen.print(*blocks)


def _has_news(model: ModelDifference) -> bool:
    return any(
        one.change not in (FindingChange.SAME, FindingChange.RARE, FindingChange.KNOWN) for one in model.findings
    )


def _runs(difference: RunDifference, screen: Screen) -> Iterator[Line]:
    yield from screen.entry(Line("before", "dim"), side_words(difference.before))
    yield from screen.entry(Line("after ", "dim"), side_words(difference.after))
    if difference.settings:
        text = "; ".join(setting(one) for one in difference.settings)
        yield from screen.entry(Line("asked differently:", "yellow"), text)


def _models(difference: RunDifference, screen: Screen) -> Iterator[Line]:
    rows = [
        (shorten(visible(model.name), 34), of(model.before), of(model.after), verdict_words(model), short_word(model))
        for model in difference.models
    ]
    yield from table(("MODEL", "BEFORE", "AFTER", "VERDICT", "CHANGE"), rows, screen)


def _model(model: ModelDifference, screen: Screen) -> Iterator[list[Line]]:
    head = Line(model.name, "bold").append(f" {model.change.text}", STYLES[CHANGE_ROLES[model.change]])
    was = f", called {model.before_name} before" if model.before_name else ""
    lines = screen.entry(head.append(","), f"verdict {verdict_words(model)}{was}")
    rows = [
        (one.name, of(one.before), of(one.after), short_word(one), ability_words(one))
        for one in model.abilities
        if one.before.n or one.after.n or one.refused_before or one.refused_after
    ]
    lines += table(("", "BEFORE", "AFTER", "CHANGE", ""), rows, screen)
    yield lines
    yield list(_findings(model, screen))
    timed = [
        (one.label, times(one), f"p95 {slowest(one)}", speed(one)) for one in model.times if one.before_n or one.after_n
    ]
    yield list(table(("SECONDS", "MEDIAN", "", ""), timed, screen))
    yield list(_cases(model, screen))


def _findings(model: ModelDifference, screen: Screen) -> Iterator[Line]:
    for one in model.findings:
        head = Line(f"{one.change.text:<9}", STYLES[FINDING_ROLES[one.change]])
        head.append(f" {one.severity:<8}", SEVERITY_STYLES[one.severity]).append(f"{one.code}")
        text = f"{finding_words(one)}  {one.title}"
        yield from screen.entry(head, f"{text} Known: {notes(one)}" if one.notes else text)


def _cases(model: ModelDifference, screen: Screen) -> Iterator[Line]:
    if not model.lost and not model.gained and not model.other_calls:
        return
    yield from screen.prose(pairs_words(model), "dim")
    for pair in model.cases[:_MOST_CASES]:
        codes = ", ".join(pair.after_codes or pair.before_codes)
        yield from screen.entry(
            Line(pair.name, "bold"), f"{pair.before} → {pair.after}{f' ({codes})' if codes else ''}"
        )
        for line in pair.answer[:_MOST_LINES]:
            style = {"-": "red", "+": "green"}.get(line[:1], "")
            yield Line(f"  {shorten(visible(line), screen.width - 2)}", style)
        if len(pair.answer) > _MOST_LINES:
            yield Line(f"  … {plural(len(pair.answer) - _MOST_LINES, 'more line')}", "dim")
