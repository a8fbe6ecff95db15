"""A line of the run log gives back exactly what was put in."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Arrivals, Attempt, Exchange, Timing
from toolcert.core.findings import Finding, Severity
from toolcert.core.records import Detail, ProbeFacts, Record, RowFacts
from toolcert.core.requests import Request
from toolcert.runs.encoding import DETAIL_MARK, Keep, decode_head, decode_record, encode_record


def record(payload: bytes = b'{"a": 1}', *, event_stream: bool = False, reason: str = "") -> Record:
    exchange = Exchange(
        request=Request(body={"model": "m", "messages": []}),
        url="http://127.0.0.1/v1/chat/completions",
        status=200,
        payload=payload,
        event_stream=event_stream,
        attempts=(Attempt(number=1, started_at=1.0, timing=Timing(last_byte=0.5)),),
    )
    finding = Finding(code="args.empty", severity=Severity.WARNING, evidence='"arguments": ""')
    return Record(
        case="e/m/1",
        endpoint="e",
        model="m",
        outcome=Outcome.FAILED,
        reason=reason,
        codes=("args.empty",),
        row=RowFacts(index=7, content="abc"),
        detail=Detail(findings=(finding,), exchanges=(exchange,)),
    )


@pytest.mark.parametrize(
    "payload",
    [
        b'{"a": 1}',
        b'{\n  "a": 1\n}',
        b" [1] ",
        b"<html>",
        b"",
        b'{"a": ',
        b'{"a": 1}{"b": 2}',
        b"\xff\xfe broken",
        '{"t": "¡Hola, 世界!"}'.encode(),
        b'{"dup": 1, "dup": 2}',
        b'{"lone": "\\ud800"}',
        b'{"detail": 1,"detail":2}',
        b"[" * 201 + b"]" * 201,
        b"[" * 5000 + b"]" * 5000,
    ],
)
def test_any_answer_survives_byte_for_byte(payload: bytes) -> None:
    """Whatever a server sends is kept exactly, JSON or not, UTF-8 or not."""
    original = record(payload)
    line = encode_record(original)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode_record(line) == original


@given(st.binary(max_size=200), st.booleans(), st.text(max_size=40))
def test_random_answers_survive(payload: bytes, event_stream: bool, reason: str) -> None:
    original = record(payload, event_stream=event_stream, reason=reason)
    assert decode_record(encode_record(original)) == original


def test_a_body_that_is_encoded_already_gives_the_same_line() -> None:
    original = record()
    [exchange] = original.detail.exchanges

    def encoded(body: dict[str, Any], text: bytes) -> bytes:
        sent = msgspec.structs.replace(exchange, encoded=(body, text))
        return encode_record(msgspec.structs.replace(original, detail=Detail(exchanges=(sent,))))

    plain = encode_record(msgspec.structs.replace(original, detail=Detail(exchanges=(exchange,))))
    body = exchange.request.body
    assert encoded(body, msgspec.json.encode(body)) == plain
    assert encoded(dict(body), b'{"of":"another request"}') == plain


def test_a_json_answer_is_readable_json_on_the_line() -> None:
    """People use jq on run logs: a JSON answer is JSON there, not a string."""
    line = msgspec.json.decode(encode_record(record(b'{"choices": []}')))
    assert line["detail"]["exchanges"][0]["response"] == {"choices": []}


def test_verdict_fields_come_first_and_alone() -> None:
    """The head decodes without the evidence, even when the reason contains the detail key."""
    original = record(reason='x,"detail":{"y"')
    line = encode_record(original)
    head = decode_head(line)
    assert head == msgspec.structs.replace(original, detail=Detail())
    assert line.index(DETAIL_MARK) < line.index(b'"exchanges"')


def test_keep_verdicts_keeps_no_request_and_no_answer() -> None:
    line = encode_record(record(b'{"private": 1}'), Keep.VERDICTS)
    assert b"private" not in line
    assert b"messages" not in line
    assert decode_record(line).outcome is Outcome.FAILED


def test_keep_assembled_keeps_the_answer_without_the_raw_body() -> None:
    body = b'{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"x_vendor":1}'
    line = encode_record(record(body), Keep.ASSEMBLED)
    assert b"x_vendor" not in line
    assert msgspec.json.decode(line)["detail"]["exchanges"][0]["reply"]["content"] == "hi"


def test_arrivals_are_kept_with_the_raw_answer_and_not_without_it() -> None:
    original = record(b"data: {}\n\n", event_stream=True)
    exchange = msgspec.structs.replace(original.detail.exchanges[0], arrivals=Arrivals(pieces=(40, 10)))
    timed = msgspec.structs.replace(original, detail=Detail(exchanges=(exchange,)))
    assert decode_record(encode_record(timed)) == timed
    for keep in (Keep.ASSEMBLED, Keep.VERDICTS):
        assert b"arrivals" not in encode_record(timed, keep)


def test_the_detail_key_stands_on_a_line_once_or_not_at_all() -> None:
    assert encode_record(record(b"{}")).count(DETAIL_MARK) == 1
    assert DETAIL_MARK not in encode_record(record(b"{}"), Keep.VERDICTS)


def test_no_verdict_field_is_called_detail() -> None:
    """The head ends at the first detail key, so no field of ours in it may have that name."""
    assert not {"detail"} & {*ProbeFacts.__struct_fields__, *RowFacts.__struct_fields__}


def test_figures_with_any_keys_survive() -> None:
    """What has free keys lies behind the detail key, where names cannot be mistaken."""
    original = record()
    figures = {"a": 1, "detail": {"b": 1, "detail": 2}}
    original = msgspec.structs.replace(original, detail=msgspec.structs.replace(original.detail, figures=figures))
    assert decode_record(encode_record(original)) == original
    assert decode_head(encode_record(original)).outcome is Outcome.FAILED
