"""The difference of runs as JUnit and Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.difference.run_difference import AbilityDifference, Change, FindingChange, ModelDifference, RunDifference
from toolcert.reports.diff.phrases import (
    CHANGE_ROLES,
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
)
from toolcert.reports.display_text import visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.markdown import SIGNS, code, document, escape, prose, short, table


def diff_junit(differences: tuple[RunDifference, ...], extras: Extras = NOTHING) -> bytes:
    """The report of differences."""
    return junit(
        (visible(f"{one.before.run} to {one.after.run}"), one.after.started_at, list(_cases(one, extras)))
        for one in differences
    )


def _cases(difference: RunDifference, extras: Extras) -> Iterator[Case]:
    not_measured = Tag(extras.not_measured.value)
    for model in difference.models:
        name = visible(model.name)
        yield Case(
            classname=name, name="not worse", tag=_tag(model, not_measured), message=visible(difference.headline)
        )
        for one in model.abilities:
            counts = f"{of(one.before)} before, {of(one.after)} after"
            yield Case(
                classname=f"{name}.not_worse",
                name=visible(one.name),
                tag=_tag(one, not_measured),
                message=f"{one.change.text}: {counts}{f', {words}' if (words := ability_words(one)) else ''}",
            )


def _tag(one: ModelDifference | AbilityDifference, not_measured: Tag) -> Tag | None:
    if one.change is Change.WORSE:
        return Tag.FAILURE
    if one.change is Change.NOT_MEASURED:
        return not_measured
    return Tag.SKIPPED if one.change in (Change.ONLY_BEFORE, Change.ONLY_AFTER) else None


_MOST_PAIRS = 5


def diff_markdown(differences: tuple[RunDifference, ...], extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """All differences."""
    return document(*(block for one in differences for block in _difference(one)))


def _difference(difference: RunDifference) -> list[list[str]]:
    sign = SIGNS[CHANGE_ROLES[difference.change]]
    blocks = [
        [f"## {sign} {escape(difference.headline)}"],
        [prose(difference.advice)],
        [f"- before: {short(side_words(difference.before))}", f"- after: {short(side_words(difference.after))}"],
    ]
    if difference.settings:
        asked = "; ".join(setting(one) for one in difference.settings)
        blocks[-1].append(f"- asked differently: {short(asked, 400)}")
    heads = ("Model", "Change", ">Before", ">After", "Verdict")
    blocks.append(table(heads, [_line(model) for model in difference.models]))
    for model in difference.models:
        told = _model(model)
        blocks += [[f"### {short(model.name)}"], *told] if told and len(difference.models) > 1 else told
    blocks.append([escape(method(difference))])
    return blocks


def _line(model: ModelDifference) -> tuple[str, ...]:
    return (
        short(model.name),
        f"{SIGNS[CHANGE_ROLES[model.change]]} {model.change.text}",
        of(model.before),
        of(model.after),
        verdict_words(model),
    )


def _model(model: ModelDifference) -> list[list[str]]:
    quiet = (Change.NO_EVIDENCE, Change.NOT_MEASURED, Change.ONLY_BEFORE, Change.ONLY_AFTER)
    changed = [one for one in model.abilities if one.change not in quiet or one.known]
    findings = [one for one in model.findings if one.change is not FindingChange.SAME or one.known]
    slower = [one for one in model.times if one.change is not Change.NO_EVIDENCE]
    blocks: list[list[str]] = []
    if changed:
        rows = [
            (escape(one.name), of(one.before), of(one.after), one.change.text, ability_words(one)) for one in changed
        ]
        blocks.append(table((short(model.name), ">Before", ">After", "Change", ""), rows))
    if findings:
        found = [
            (one.change.text, one.severity, code(one.code), finding_words(one), short(notes(one) or one.title))
            for one in findings
        ]
        blocks.append(table(("Finding", "Severity", "Code", "Cases", ""), found))
    if slower:
        blocks.append([f"- {one.label}: {speed(one)}, median {times(one)}, p95 {slowest(one)}" for one in slower])
    if model.cases:
        blocks.append([f"<details><summary>{pairs_words(model)}</summary>", ""])
        for pair in model.cases[:_MOST_PAIRS]:
            answer = [visible(line).replace("```", "ˋˋˋ") for line in pair.answer]
            blocks[-1] += [f"{escape(pair.name)}: {pair.before} → {pair.after}", "", "```diff", *answer, "```", ""]
        blocks[-1].append("</details>")
    return blocks
