"""Were both asked in the same way? Other sampling settings make another question."""

from __future__ import annotations

from array import array

from toolcert.compare.answers import read_answer
from toolcert.compare.matching import NOBODY
from toolcert.compare.rundata import RunData
from toolcert.core.errors import InputError
from toolcert.verify.hashing import SAMPLING_FIELDS, content_hash

_LOOKED_AT = 50
"""Rows matched by number whose content is looked at, to notice another dataset."""


def count_other_sampling(baseline: RunData, vendor: RunData, partners: array[int]) -> int:
    """Matched rows that were asked with other sampling settings."""
    own, theirs = baseline.columns.sampling, vendor.columns.sampling
    return sum(partner != NOBODY and own[place] != theirs[partner] for place, partner in enumerate(partners))


def refuse_other_sampling(baseline: RunData, vendor: RunData, partners: array[int]) -> None:
    """Refuse a comparison of answers to differently asked questions, and say how they differ."""
    own, theirs = baseline.columns.sampling, vendor.columns.sampling
    if own == theirs and partners == array("i", range(len(partners))):
        return
    differing = count_other_sampling(baseline, vendor, partners)
    if not differing:
        return
    place = next(at for at, partner in enumerate(partners) if partner != NOBODY and own[at] != theirs[partner])
    raise InputError(
        f"{baseline.label} and {vendor.label} were asked with other sampling settings on {differing} rows"
        f"{_how(baseline, vendor, place, partners[place])}.",
        remedy="Run one of them again with the other's settings, or compare anyway with --force.",
    )


def _how(baseline: RunData, vendor: RunData, own: int, theirs: int) -> str:
    first, second = read_answer(baseline, own).request, read_answer(vendor, theirs).request
    differing = [name for name in SAMPLING_FIELDS if first.get(name) != second.get(name)]
    if not first or not second or not differing:
        return ""
    index = baseline.columns.index[own]
    shown = ", ".join(f"{name} {first.get(name)!r} against {second.get(name)!r}" for name in differing)
    return f" (row {index}: {shown})"


def refuse_other_content(baseline: RunData, vendor: RunData, partners: array[int]) -> None:
    """Rows matched by number must ask the same; a few are looked at."""
    places = [place for place, partner in enumerate(partners) if partner != NOBODY]
    for place in places[:: max(1, len(places) // _LOOKED_AT)]:
        own, theirs = read_answer(baseline, place).request, read_answer(vendor, partners[place]).request
        if own and theirs and content_hash(own) != content_hash(theirs):
            raise InputError(
                f"row {baseline.columns.index[place]} asks something else in {vendor.label} than in {baseline.label}: "
                "these are runs of different datasets.",
                remedy="Leave out --match index, so that rows are matched by what they ask, or insist with --force.",
            )
