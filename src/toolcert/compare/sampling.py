"""Were both asked in the same way? Other sampling settings make another question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from toolcert.compare.answers import read_answer
from toolcert.compare.matching import NOBODY, Partners, matched_places
from toolcert.compare.rundata import RunData
from toolcert.core.errors import InputError
from toolcert.core.values import JsonObject, Value
from toolcert.verify.hashing import SAMPLING_FIELDS, content_hash

_LOOKED_AT = 50
"""Rows matched by number whose questions are read, to notice another dataset or other settings."""


class BothAsked(Value):
    """What both runs were asked on a row."""

    index: int
    baseline: JsonObject
    vendor: JsonObject

    @property
    def other_settings(self) -> list[str]:
        """Sampling settings that differ."""
        return [name for name in SAMPLING_FIELDS if self.baseline.get(name) != self.vendor.get(name)]


def ask_again(baseline: RunData, vendor: RunData, partners: Partners) -> list[BothAsked]:
    """What some rows spread over the whole ask, as far as both runs kept it."""
    step = max(1, (len(partners) - partners.count(NOBODY)) // _LOOKED_AT)
    places = islice(matched_places(partners), 0, None, step)
    looked_at = [_asked(baseline, vendor, place, partners) for place in places]
    return [asked for asked in looked_at if asked.baseline and asked.vendor]


def _asked(baseline: RunData, vendor: RunData, place: int, partners: Partners) -> BothAsked:
    return BothAsked(
        index=baseline.columns.index[place],
        baseline=read_answer(baseline, place).request,
        vendor=read_answer(vendor, partners[place]).request,
    )


def other_sampling(
    baseline: RunData, vendor: RunData, partners: Partners, looked_at: Sequence[BothAsked] = ()
) -> InputError | None:
    """What speaks against a comparison of differently asked questions.

    Files read without their requests show their settings only on the rows looked at.
    """
    own, theirs = baseline.columns.sampling, vendor.columns.sampling
    if not own or not theirs:
        differing = next((asked for asked in looked_at if asked.other_settings), None)
        return None if differing is None else _refusal(baseline, vendor, "some rows", differing)
    if len({*own, *theirs}) == 1:  # as nearly always, all were asked alike
        return None
    places = [at for at, partner in enumerate(partners) if partner != NOBODY and own[at] != theirs[partner]]
    if not places:
        return None
    rows = "1 row" if len(places) == 1 else f"{len(places)} rows"
    return _refusal(baseline, vendor, rows, _asked(baseline, vendor, places[0], partners))


def _refusal(baseline: RunData, vendor: RunData, rows: str, example: BothAsked) -> InputError:
    return InputError(
        f"{baseline.label} and {vendor.label} were asked with other sampling settings on {rows}{_how(example)}.",
        remedy="Run one of them again with the other's settings, or compare anyway with --force.",
    )


def _how(asked: BothAsked) -> str:
    if not asked.baseline or not asked.vendor or not asked.other_settings:
        return ""
    shown = [f"{name} {asked.baseline.get(name)!r} against {asked.vendor.get(name)!r}" for name in asked.other_settings]
    return f" (row {asked.index}: {', '.join(shown)})"


class OtherContent(Value):
    """Rows with the same number that ask something else."""

    message: str
    other_datasets: bool
    """The manifests say so too: there is nothing to compare."""


def other_content(baseline: RunData, vendor: RunData, looked_at: Sequence[BothAsked]) -> OtherContent | None:
    """What is wrong with rows matched by their number, from a look at some of them."""
    differing = sum(content_hash(asked.baseline) != content_hash(asked.vendor) for asked in looked_at)
    if not differing:
        return None
    datasets = {_dataset(baseline), _dataset(vendor)}
    return OtherContent(
        message=f"{differing} of {len(looked_at)} rows looked at ask something else in {vendor.label} than in "
        f"{baseline.label}: these look like runs of different datasets, and matched by number they say nothing.",
        other_datasets=2 * differing > len(looked_at) and None not in datasets and len(datasets) > 1,
    )


def _dataset(run: RunData) -> str | None:
    """The digest of what a run was asked; results files have none."""
    return run.manifest.dataset.digest if run.manifest is not None and run.manifest.dataset is not None else None
