"""The finish reason and the calls are two facts, and each is held against the other."""

from __future__ import annotations

import pytest

from diagnose.answers import asked, call, called, codes, found, said
from toolcert.core.exchanges import CallsField
from toolcert.core.findings import Severity

CUT = '{"city": "Tok'


def test_stop_with_calls() -> None:
    assert codes(asked(), called(finish_reason="stop")) == ["finish.stop_with_calls"]


def test_required_is_no_excuse_for_stop() -> None:
    """Only a choice that names a function makes `stop` the protocol's own behaviour."""
    assert codes(asked(tool_choice="required"), called(finish_reason="stop")) == ["finish.stop_with_calls"]


@pytest.mark.parametrize("field", [CallsField.ABSENT, CallsField.NULL, CallsField.EMPTY])
def test_calls_announced_and_missing(field: CallsField) -> None:
    """An empty list under `tool_calls` is one fault, not two."""
    assert codes(asked(), said("", finish_reason="tool_calls", calls_field=field)) == ["finish.calls_missing"]


@pytest.mark.parametrize("reply", [called(finish_reason=None), said("Sunny.", finish_reason=None)])
def test_no_finish_reason(reply) -> None:
    assert codes(asked(), reply) == ["finish.absent"]


def test_a_cut_stream_is_not_blamed_for_its_missing_reason_again() -> None:
    assert codes(asked(), said("Sun", finish_reason=None, streamed=True, complete=False)) == []


def test_two_reasons() -> None:
    reply = said("Sunny.", finish_reasons=("stop", "stop"), streamed=True)
    assert codes(asked(), reply) == ["finish.repeated"]


@pytest.mark.parametrize("reason", ["eos", "STOP", "tool_use", "end_turn", "error", ""])
def test_unknown_reason(reason: str) -> None:
    assert codes(asked(), said("Sunny.", finish_reason=reason)) == ["finish.nonstandard"]


@pytest.mark.parametrize("reason", ["tool_calls", "stop"])
def test_hidden_truncation(reason: str) -> None:
    expected = ["finish.truncation_hidden"] + (["finish.stop_with_calls"] if reason == "stop" else [])
    assert codes(asked(), called(call(arguments=CUT), finish_reason=reason)) == expected


def test_hidden_truncation_in_a_stream_needs_the_used_up_limit() -> None:
    """Without it the stream may as well have lost its last piece, which is another finding."""
    reply = called(call(arguments=CUT), streamed=True)
    assert codes(asked(max_tokens=12), reply) == ["finish.truncation_hidden"]
    assert codes(asked(max_tokens=99), reply) == ["stream.args_truncated"]


def test_evidence_names_reason_and_arguments() -> None:
    (finding,) = found(asked(), called(call(arguments=CUT)))
    assert finding.severity is Severity.ERROR
    assert finding.call == 0
    assert finding.evidence == 'finish_reason "tool_calls", arguments "{\\"city\\": \\"Tok"'


def test_length_long_before_the_limit_is_false() -> None:
    """Cut arguments under a false `length` are an error; a whole call is only said to be cut."""
    (cut,) = found(asked(max_tokens=600), called(call(arguments=CUT), finish_reason="length"))
    (whole,) = found(asked(max_tokens=600), called(finish_reason="length"))
    assert (cut.code, cut.severity) == ("finish.length_false", Severity.ERROR)
    assert (whole.code, whole.severity) == ("finish.length_false", Severity.WARNING)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 10}, {"prompt_tokens": 10, "completion_tokens": 400}])
def test_length_is_believed_where_the_count_does_not_speak_against_it(usage) -> None:
    reply = said("Well,", finish_reason="length", usage=usage)
    assert "finish.length_false" not in codes(asked(max_tokens=600), reply)


@pytest.mark.parametrize("reason", ["content_filter", "content_filter: RECITATION", "SAFETY", "sensitive"])
def test_a_filtered_answer_is_no_fault_of_the_model(reason: str) -> None:
    standing = [
        one for one in found(asked(tool_choice="required"), said("", finish_reason=reason)) if not one.because_of
    ]
    assert [(one.code, one.severity) for one in standing] == [("finish.filtered", Severity.NOTE)]
