"""Streams: what the reader noticed becomes findings, and what only judging shows is added."""

from __future__ import annotations

import pytest

from diagnose.answers import asked, call, called, codes, found, said
from toolcert.core.exchanges import Exchange, Irregularity
from toolcert.diagnose import examine

STREAM = {"stream": True, "stream_options": {"include_usage": True}}
NOTICED_BY_THE_READER = [
    "stream.index_missing",
    "stream.index_shared",
    "stream.index_gap",
    "stream.fragment_misplaced",
    "stream.name_repeated",
    "stream.error_inside",
    "stream.usage_nonstandard",
    "stream.framing",
    "stream.one_piece",
]


@pytest.mark.parametrize("code", NOTICED_BY_THE_READER)
def test_an_irregularity_becomes_a_finding(code: str) -> None:
    reply = called(streamed=True, irregularities=(Irregularity(code=code, evidence="data: {}"),))
    (finding,) = found(asked(**STREAM), reply)
    assert (finding.code, finding.evidence) == (code, "data: {}")


def test_a_cut_stream_explains_all_that_is_missing_from_it() -> None:
    reply = called(
        call(arguments='{"city": "To'),
        streamed=True,
        complete=False,
        finish_reason=None,
        usage=None,
        irregularities=(Irregularity(code="stream.cut", evidence="no finish_reason, no [DONE]"),),
    )
    assert codes(asked(**STREAM), reply) == ["stream.cut"]


def test_the_last_piece_of_the_arguments_is_missing() -> None:
    assert codes(asked(**STREAM), called(call(arguments='{"city": "Tokyo"'), streamed=True)) == [
        "stream.args_truncated"
    ]


def test_usage_was_asked_for_and_does_not_come() -> None:
    assert codes(asked(**STREAM), said("Sunny.", streamed=True, usage=None)) == ["stream.usage_missing"]


def test_usage_that_was_not_asked_for_in_the_end_is_not_missed() -> None:
    """A server that refuses stream_options is asked again without."""
    exchange = Exchange(request=asked(**STREAM), sent={"stream": True}, status=200)
    assert examine(exchange, said("Sunny.", streamed=True, usage=None)) == ()


def test_an_unreadable_answer_is_not_judged_further() -> None:
    noticed = (
        Irregularity(code="stream.framing", evidence="a plain body came"),
        Irregularity(code="envelope.not_openai", evidence="<html>"),
    )
    reply = said(None, finish_reason=None, readable=False, irregularities=noticed)
    assert codes(asked(tool_choice="required"), reply) == ["envelope.not_openai"]


def test_a_misplaced_piece_explains_the_two_calls_it_breaks() -> None:
    reply = called(
        call(id="a", arguments='{"city": "Tokyo"}"}'),
        call(id="b", arguments='{"city": "Paris'),
        streamed=True,
        irregularities=(Irregularity(code="stream.fragment_misplaced", evidence='"} belongs to call 1'),),
    )
    assert codes(asked(**STREAM), reply) == ["stream.fragment_misplaced"]
