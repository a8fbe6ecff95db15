"""Rows that could not be compared. Missing is not negative: it is counted, explained and bounded."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from toolcert.compare.answers import read_answer
from toolcert.compare.cells import Decisions
from toolcert.compare.comparison import Missing
from toolcert.compare.confusion import Confusion
from toolcert.compare.pairing import Pairing
from toolcert.compare.rundata import RunData

_EXPLAINED = 20
"""Missing rows whose reason is read from the file."""
_LONGEST_REASON = 160


def count_missing(pairing: Pairing, decisions: Decisions, cells: Confusion) -> Missing:
    """What is missing on either side, and the figures if everything the vendor owes were wrong."""
    failed = absent = baseline_failed = called = 0
    for pattern, count in pairing.items():
        if not pattern.baseline.measured:
            baseline_failed += count
        elif pattern.vendor.kind is None:
            absent += count
        elif not pattern.vendor.measured:
            failed += count
        if pattern.baseline.measured and not pattern.vendor.measured:
            called += count * decisions.called(pattern.baseline)
    owed = failed + absent
    worst = Confusion(tp=cells.tp, fp=cells.fp + owed - called, fn=cells.fn + called, tn=cells.tn)
    return Missing(
        vendor_failed=failed,
        vendor_absent=absent,
        baseline_failed=baseline_failed,
        reasons=_reasons(pairing) if failed else {},
        worst_agreement=worst.agreement,
        worst_f1=worst.f1,
    )


def _reasons(pairing: Pairing) -> dict[str, int]:
    run, partners = pairing.others[0]
    places = pairing.places(
        lambda pattern: pattern.baseline.measured and pattern.vendor.kind is not None and not pattern.vendor.measured
    )
    return dict(Counter(_reason(run, partners[place]) for place in islice(places, _EXPLAINED)).most_common())


def _reason(run: RunData, place: int) -> str:
    if run.manifest is None:
        error = read_answer(run, place).error
        return error[:_LONGEST_REASON] if error else "failed"
    from toolcert.runs.encoding import decode_head

    head = decode_head(run.line(place))
    return (head.reason or str(head.outcome))[:_LONGEST_REASON]
