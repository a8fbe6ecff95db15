"""Examining: errors first, in a stable order, each fact once, evidence fit to print."""

from __future__ import annotations

from diagnose.answers import asked, call, called, codes, found, said
from toolcert.core.exchanges import Exchange, Irregularity
from toolcert.core.findings import Severity
from toolcert.core.requests import Request, RequestKind
from toolcert.diagnose import examine, finding, in_order, judge_calls

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


def test_two_rules_broken_under_one_code_are_both_shown() -> None:
    rules = (
        Irregularity(code="stream.framing", evidence="no end marker"),
        Irregularity(code="stream.framing", evidence="the id changes"),
    )
    assert codes(asked(stream=True), said("Hi.", streamed=True, irregularities=rules)) == ["stream.framing"] * 2


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


def test_a_raw_completion_is_not_blamed_for_what_a_chat_server_does() -> None:
    """Its door has no tool_choice, and says `stop` whatever the text holds."""
    request = Request(body=asked(tool_choice="none").body, kind=RequestKind.COMPLETIONS)
    assert codes(request, called(finish_reason="stop")) == []
    assert codes(request, called(call(arguments="{}"), finish_reason="stop")) == ["args.schema.required"]


def test_calls_judged_before_are_not_judged_again() -> None:
    exchange, reply = Exchange(request=asked(), status=200), called(call(arguments="{}"))
    calls = judge_calls(exchange.request, reply)
    assert examine(exchange, reply, calls) == examine(exchange, reply)
    assert examine(exchange, reply, ()) == ()
