"""The rows that show a difference best, with both answers side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from toolcert.compare.answers import Given, last_user_message, offered_names, read_answer, shown
from toolcert.compare.cells import Decisions
from toolcert.compare.comparison import RowKind, TellingRow
from toolcert.compare.pairing import Pairing, Pattern
from toolcert.compare.rundata import RunData
from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec

SHOWN = 100
"""Rows kept with their answers."""
_WITH_CURL = 3
_UNKNOWN_URL = "https://VENDOR/v1/chat/completions"


class Differences:
    """How rows differ, by pattern."""

    def __init__(self, pairing: Pairing, decisions: Decisions) -> None:
        self._pairing = pairing
        self._decisions = decisions
        self._kinds = [self._kind(pattern) for pattern in pairing.patterns]

    def counts(self) -> dict[RowKind, int]:
        """How many rows differ in each way."""
        counts: Counter[RowKind] = Counter()
        for number, kind in enumerate(self._kinds):
            if kind is not None:
                counts[kind] += self._pairing.counts[number]
        return {kind: counts[kind] for kind in RowKind if counts[kind]}

    def most_telling(self, limit: int) -> list[tuple[int, RowKind, bool]]:
        """Places of rows with their kind and whether they are noisy: quiet ones first, kinds taken in turn."""
        labels = {
            number: (self._noisy(self._pairing.patterns[number]), kind)
            for number, kind in enumerate(self._kinds)
            if kind is not None
        }
        open_places: Counter[tuple[bool, RowKind]] = Counter()
        for number, label in labels.items():
            open_places[label] = min(limit, open_places[label] + self._pairing.counts[number])
        queues: dict[tuple[bool, RowKind], list[int]] = {label: [] for label in open_places}
        left = open_places.total()
        for place, number in enumerate(self._pairing.ids):
            if not left:
                break
            label_here = labels.get(number)
            if label_here is not None and len(queues[label_here]) < limit:
                queues[label_here].append(place)
                left -= 1
        return list(_in_turn(queues))[:limit]

    def _kind(self, pattern: Pattern) -> RowKind | None:
        if not pattern.measured:
            return None
        own, theirs = self._decisions.called(pattern.baseline), self._decisions.called(pattern.vendor)
        if own != theirs:
            return RowKind.MISSED if own else RowKind.EXTRA
        if not (pattern.baseline.called and pattern.vendor.called):
            return None
        if pattern.vendor.valid is False and pattern.baseline.valid is not False:
            return RowKind.INVALID
        if not pattern.vendor.same_names:
            return RowKind.TOOL
        return None if pattern.vendor.same_payload else RowKind.ARGUMENTS

    def _noisy(self, pattern: Pattern) -> bool:
        """Whether a further run of the baseline differs from the first here as well."""
        return any(
            other.measured
            and (self._decisions.called(other) != self._decisions.called(pattern.baseline) or not other.same_payload)
            for other in pattern.further
        )


def _in_turn(queues: dict[tuple[bool, RowKind], list[int]]) -> Iterator[tuple[int, RowKind, bool]]:
    for noisy in (False, True):
        columns = [[(place, kind, noisy) for place in queues.get((noisy, kind), [])] for kind in RowKind]
        for turn in zip_longest(*columns):
            yield from (entry for entry in turn if entry is not None)


def telling_rows(pairing: Pairing, decisions: Decisions, limit: int = SHOWN) -> list[TellingRow]:
    """The most telling rows, read from both runs."""
    run, partners = pairing.others[0]
    rows: list[TellingRow] = []
    for place, kind, noisy in Differences(pairing, decisions).most_telling(limit):
        own, theirs = read_answer(pairing.baseline, place), read_answer(run, partners[place])
        rows.append(
            TellingRow(
                index=pairing.baseline.columns.index[place],
                kind=kind,
                noisy=noisy,
                asked=last_user_message(own.request or theirs.request),
                offered=offered_names(own.request or theirs.request),
                baseline=shown(own),
                vendor=shown(theirs),
                curl=_curl(run, theirs) if len(rows) < _WITH_CURL else "",
            )
        )
    return rows


def _curl(run: RunData, given: Given) -> str:
    """The command that asks the vendor again; of a file without manifest the address must be filled in."""
    from toolcert.endpoints.curl import curl_line

    if not given.request:
        return ""
    exchange = given.exchange or Exchange(request=Request(body=given.request), url=_UNKNOWN_URL)
    endpoints = run.manifest.endpoints if run.manifest is not None else ()
    spec = endpoints[0] if endpoints else EndpointSpec(name="vendor", key_env="VENDOR_API_KEY")
    return curl_line(exchange, spec)
