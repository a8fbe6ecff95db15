"""The difference of runs as JUnit: a suite per pair of runs, a case per model and ability."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.difference.run_difference import AbilityDifference, Change, ModelDifference, RunDifference
from toolcert.reports.diff.phrases import ability_words, of
from toolcert.reports.display_text import visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit


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
