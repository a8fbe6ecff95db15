"""Which deployment answered, as its fingerprints say, and where that changed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolcert.core.findings import Finding
from toolcert.core.records import Record
from toolcert.core.text.excerpt import excerpt
from toolcert.diagnose import finding
from toolcert.probes.base import Turn

CHANGED = "identity.fingerprint_changed"
_LONGEST = 80


def fingerprint_of(turn: Turn) -> str | None:
    """What the answer says about its deployment; a server may leave it out."""
    told = None if turn.reply is None else turn.reply.system_fingerprint
    return excerpt(told, _LONGEST) if isinstance(told, str) and told else None


def fingerprints_of(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Each fingerprint once, in the order of the turns."""
    told = (fingerprint_of(turn) for turn in turns)
    return tuple(dict.fromkeys(fingerprint for fingerprint in told if fingerprint))


def changed_within(turns: Iterable[Turn]) -> list[Finding]:
    """The first change of deployment inside one conversation."""
    first: str | None = None
    for turn in turns:
        fingerprint = fingerprint_of(turn)
        if first is not None and fingerprint not in (None, first):
            return [finding(CHANGED, f"first {first}, then {fingerprint}", turn=turn.index)]
        first = first or fingerprint
    return []


class FingerprintWatch:
    """Sees what no single case can: that a model is not served as at the beginning of the run."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}

    def compared(self, record: Record) -> Record:
        """The record, with the change noted if there is one."""
        told = () if record.probe is None else record.probe.fingerprints
        if not told:
            return record
        first = self._first.setdefault((record.endpoint, record.model), told[0])
        other = next((fingerprint for fingerprint in told if fingerprint != first), None)
        if other is None or CHANGED in record.codes:
            return record
        noted = finding(CHANGED, f"first {first}, then {other}")
        detail = msgspec.structs.replace(record.detail, findings=(*record.detail.findings, noted))
        return msgspec.structs.replace(record, codes=(*record.codes, CHANGED), detail=detail)
