"""Were both asked in the same way? Other sampling settings make another question."""

from __future__ import annotations

from array import array
from itertools import compress, islice
from typing import NoReturn

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
    if not own or not theirs or len({*own, *theirs}) == 1:  # not read, or as nearly always, all asked alike
        return
    differing = count_other_sampling(baseline, vendor, partners)
    if not differing:
        return
    place = next(at for at, partner in enumerate(partners) if partner != NOBODY and own[at] != theirs[partner])
    _refuse(baseline, vendor, str(differing), place, partners[place])


def _refuse(baseline: RunData, vendor: RunData, rows: str, own: int, theirs: int) -> NoReturn:
    raise InputError(
        f"{baseline.label} and {vendor.label} were asked with other sampling settings on {rows} rows"
        f"{_how(baseline, vendor, own, theirs)}.",
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


def other_content(baseline: RunData, vendor: RunData, partners: array[int]) -> str:
    """What is wrong with rows matched by their number, from a look at some of them; empty where nothing is.

    Other sampling settings are refused as usual: files read without their requests show them only here.
    """
    matched = compress(range(len(partners)), map(NOBODY.__ne__, partners))
    step = max(1, (len(partners) - partners.count(NOBODY)) // _LOOKED_AT)
    looked_at = list(islice(matched, 0, None, step))
    differing = 0
    for place in looked_at:
        own, theirs = read_answer(baseline, place).request, read_answer(vendor, partners[place]).request
        if not own or not theirs:
            continue
        differing += content_hash(own) != content_hash(theirs)
        if any(own.get(name) != theirs.get(name) for name in SAMPLING_FIELDS):
            _refuse(baseline, vendor, "some", place, partners[place])
    if not differing:
        return ""
    return (
        f"{differing} of {len(looked_at)} rows looked at ask something else in {vendor.label} than in "
        f"{baseline.label}: these look like runs of different datasets, and matched by number they say nothing."
    )
