"""What records of version 0.1 say in prose only, read as the values that later versions write."""

from __future__ import annotations

import msgspec

from toolcert.core.cases import SkipKind
from toolcert.core.records import Record

_BEGINNINGS = {
    "no call in the first": SkipKind.NO_CALL,
    "refused in the first": SkipKind.REFUSED,
    "decided early": SkipKind.DECIDED,
    "needs ": SkipKind.NEED_FAILED,
    "the limit of ": SkipKind.BUDGET,
}
_NEED_NOT_MEASURED = "not measured"
_OUTAGE = " does not answer any more ("
_LAST_FAULT = " after: "
"""Stood before the fault that the last request of a case met before the limit was reached."""


def with_skip_kind(record: Record) -> Record:
    """A skipped record of 0.1 with its `skip` and `cause`."""
    kind = _kind(record)
    cause, _, fault = record.reason.partition(_LAST_FAULT)
    shorter = cause if kind is SkipKind.BUDGET and fault else ""
    return msgspec.structs.replace(record, skip=kind, cause=shorter)


def _kind(record: Record) -> SkipKind:
    if record.row is not None and record.codes:
        return SkipKind.BAD_ROW
    if record.probe is not None and record.probe.requests:
        return SkipKind.NOT_APPLICABLE
    if _OUTAGE in record.reason:
        return SkipKind.OUTAGE
    kind = next((kind for start, kind in _BEGINNINGS.items() if record.reason.startswith(start)), SkipKind.NO_CHAT)
    if kind is SkipKind.NEED_FAILED and record.reason.endswith(_NEED_NOT_MEASURED):
        return SkipKind.NEED_NOT_MEASURED
    return kind
