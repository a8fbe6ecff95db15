"""A skipped record of version 0.1 has only words to say why; they are read as the value that is written today."""

from __future__ import annotations

import pytest

from toolcert.core.cases import SkipKind
from toolcert.runs.encoding import decode_head, encode_record

PROBE = b'"probe":{"probe":"p","iteration":1}'
ROW = b'"row":{"index":1,"content":"c"}'


def line_of(reason: str, facts: bytes) -> bytes:
    head = b'{"case":"k","endpoint":"e","model":"m","outcome":"skipped","reason":"%b",' % reason.encode()
    return head + facts + b"}\n"


@pytest.mark.parametrize(
    ("reason", "facts", "kind"),
    [
        ("no call in the first 5 iterations", PROBE, SkipKind.NO_CALL),
        ("refused in the first 5 iterations", PROBE, SkipKind.REFUSED),
        ("decided early: 9 of 9 shows that the rate reaches the threshold", PROBE, SkipKind.DECIDED),
        ("needs basic, which never passed", PROBE, SkipKind.NEED_FAILED),
        ("needs basic, which is unsupported", PROBE, SkipKind.NEED_FAILED),
        ("needs a, which needs basic, which is not measured", PROBE, SkipKind.NEED_NOT_MEASURED),
        ("the model shows no reasoning", b'"probe":{"probe":"p","iteration":1,"requests":1}', SkipKind.NOT_APPLICABLE),
        ("an embedding model", PROBE, SkipKind.NO_CHAT),
        ("The line is not JSON.", b'"codes":["dataset.not_json"],' + ROW, SkipKind.BAD_ROW),
        ("the limit of 5 requests was reached", ROW, SkipKind.BUDGET),
        ("e does not answer any more (cannot connect to e: connection refused)", ROW, SkipKind.OUTAGE),
    ],
)
def test_each_reason_of_0_1_has_its_kind(reason: str, facts: bytes, kind: SkipKind) -> None:
    record = decode_head(line_of(reason, facts))
    assert (record.skip, record.cause, record.reason) == (kind, "", reason)


def test_the_last_fault_before_the_limit_is_no_part_of_the_cause() -> None:
    record = decode_head(line_of("the limit of 5 requests was reached after: busy", PROBE))
    assert (record.skip, record.cause) == (SkipKind.BUDGET, "the limit of 5 requests was reached")
    assert decode_head(encode_record(record)) == record
