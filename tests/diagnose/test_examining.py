"""Examining: errors first, in a stable order, each fact once, evidence fit to print."""

from __future__ import annotations

from diagnose.answers import asked, call, called, codes, found, said
from toolcert.core.findings import Severity
from toolcert.core.replies import Irregularity
from toolcert.diagnose import finding, in_order

MESSY = called(
    call("get_wether", "{'a'", id="", type=None),
    call(id="b", index=-1),
    finish_reason="stop",
    usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 3},
)


def test_errors_come_first_then_warnings_then_notes() -> None:
    severities = [found.severity for found in found(asked(), MESSY)]
    assert severities == sorted(severities, key=list(Severity).index)
    assert set(severities) == set(Severity)


def test_the_order_is_the_same_every_time() -> None:
    assert codes(asked(), MESSY) == codes(asked(), MESSY)
    assert codes(asked(), MESSY) == [
        "args.invalid_json",
        "call.id_missing",
        "call.unknown_tool",
        "call.type_missing",
        "finish.stop_with_calls",
        "call.index_bogus",
        "usage.arithmetic",
    ]


def test_what_reader_and_check_both_saw_is_found_once() -> None:
    irregularity = Irregularity(code="finish.repeated", evidence="stop, stop")
    reply = said("Hi.", streamed=True, finish_reasons=("stop", "stop"), irregularities=(irregularity,))
    (only,) = found(asked(), reply)
    assert only.evidence == "stop, stop"


def test_the_same_code_for_two_calls_is_two_findings() -> None:
    one = finding("args.empty", "x", call=0)
    assert in_order([one, finding("args.empty", "y", call=1), one]) == (one, finding("args.empty", "y", call=1))


def test_evidence_is_short_and_shows_invisible_characters() -> None:
    reply = called(call(arguments="{\u202e\x1b[31m" + "x" * 5000 + "end"))
    (only,) = found(asked(), reply)
    assert len(only.evidence) <= 200
    assert "\x1b" not in only.evidence
    assert "\u202e" not in only.evidence
    assert " … " in only.evidence


def test_evidence_survives_what_is_not_unicode_text() -> None:
    (only,) = found(asked(), called(call("\ud800")))
    assert only.code == "call.unknown_tool"
    assert only.evidence.isascii()
