"""The rules of the older verifiers, kept to reproduce their published figures.

A response calls tools when its finish_reason is `tool_calls`, and is valid when every call names an offered tool
that has a schema, its arguments are JSON text, and they satisfy the schema. So empty arguments are invalid even
for a tool without parameters, and a schema that is itself broken makes every call of its tool invalid.
"""

from __future__ import annotations

import msgspec

from toolcert.core.records import Record
from toolcert.core.schema import Bucket
from toolcert.diagnose.judging import NO_SCHEMA

_INVALID_BEFORE = frozenset({Bucket.EMPTY, Bucket.BAD_SCHEMA, NO_SCHEMA})
"""What we do not count against the vendor, and the older verifiers did."""


def by_older_rules(record: Record) -> Record:
    """The same record with the older verdict about its calls."""
    row = record.row
    if row is None or not record.outcome.measured:
        return record
    called = row.finish == "tool_calls"
    valid = (row.valid is True and not _INVALID_BEFORE.intersection(row.buckets)) if called else None
    verdicts = tuple(verdict is True and valid is True for verdict in row.verdicts) if called else ()
    return msgspec.structs.replace(
        record, row=msgspec.structs.replace(row, called=called, valid=valid, verdicts=verdicts)
    )
