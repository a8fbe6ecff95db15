"""Whatever a server sends and however it is cut, reading gives one answer and never fails."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.examples import examples
from support.sse_streams import DONE, FIRST, LAST, USED, call_stream, calls, chunk, event, piece, read, stream, weather
from toolcert.core.exchanges import Reply
from toolcert.http.response import Body, Caps, IncomingResponse

STREAMS = [
    stream(FIRST, *weather(), LAST, USED),
    stream(chunk({"role": "assistant", "content": ""}), chunk({"content": "caf\u00e9 😀"}), chunk({}, "stop")),
    call_stream(*weather(0, "a", "Rome"), *weather(0, "b", "Osló")).replace(b"\n", b"\r\n"),
    stream(FIRST, *weather(None), end=b"") + event({"error": {"message": "boom"}}) + DONE,
    b'id: 1\nevent: message\ndata: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\nevent: close\ndata: {}\n\n',
]
"""Regular and irregular streams of the forms seen in the field."""


def answer_to(pieces: Iterable[bytes]) -> IncomingResponse:
    answer = IncomingResponse(Body(Caps()))
    for number, data in enumerate(pieces):
        if answer.feed(data, float(number)):
            break
    return answer


def in_http_chunks(payload: bytes, size: int) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = [payload[start : start + size] for start in range(0, len(payload), size)]
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places) if end > start]


@pytest.mark.parametrize("payload", STREAMS)
def test_one_byte_at_a_time_gives_the_same_answer(payload: bytes) -> None:
    wire = in_http_chunks(payload, 50)
    answer = answer_to(wire[place : place + 1] for place in range(len(wire)))
    assert (answer.status, answer.fault, answer.body.event_stream) == (200, None, True)
    assert answer.body.payload() == payload


@pytest.mark.parametrize("payload", STREAMS)
def test_a_cut_at_any_single_byte_gives_the_same_answer(payload: bytes) -> None:
    wire = in_http_chunks(payload, 1000)
    expected = read(payload)
    for place in range(1, len(wire)):
        answer = answer_to((wire[:place], wire[place:]))
        assert answer.body.payload() == payload
        assert answer.body.first_token is not None
    assert read(answer.body.payload()) == expected


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(STREAMS), st.integers(1, 400), st.lists(st.integers(0, 3000), max_size=8))
def test_any_cutting_gives_the_same_reply(payload: bytes, size: int, cuts: list[int]) -> None:
    answer = answer_to(cut(in_http_chunks(payload, size), cuts))
    assert answer.ended
    assert read(answer.body.payload()) == read(payload)


def assert_sound(reply: Reply) -> None:
    """A reply can always be written down, and an unreadable one says why."""
    assert msgspec.json.decode(msgspec.json.encode(reply), type=Reply) == reply
    assert reply.readable or reply.irregularities


@settings(max_examples=examples(70), deadline=None)
@given(st.sampled_from(STREAMS), st.data())
def test_damaged_streams_never_break_the_reader(payload: bytes, data: st.DataObject) -> None:
    damaged = bytearray(payload)
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    assert_sound(read(bytes(damaged[: data.draw(st.integers(0, len(damaged)))])))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "opening", [b"[", b'{"choices":', b'{"error":', b'{"usage":[', b'{"choices":[{"delta":{"tool_calls":[']
)
def test_nesting_without_end_is_only_bad_json(opening: bytes) -> None:
    deep = opening * 50_000
    assert_sound(read(deep, event_stream=False))
    assert_sound(read(b"data: " + deep + b"\n\n" + DONE))
    assert_sound(read(call_stream(*(calls(piece(0, name="f", arguments="[" * 50_000 + "}")) for _ in range(2)))))


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_at_all_are_read(payload: bytes, event_stream: bool) -> None:
    assert_sound(read(payload, event_stream=event_stream))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=4), children, max_size=3),
    max_leaves=6,
)
FIELDS = ["choices", "delta", "message", "content", "tool_calls", "function", "index", "id", "usage", "error"]
LIKE_A_CHUNK = st.dictionaries(
    st.sampled_from(FIELDS),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3)
    | st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4), max_size=2)
    | JSON,
    max_size=4,
)


@pytest.mark.heavy
@settings(max_examples=examples(70), deadline=None)
@given(st.lists(LIKE_A_CHUNK, max_size=4))
def test_json_of_any_shape_is_read_as_a_stream(values: list[Any]) -> None:
    assert_sound(read(b"".join(event(value) for value in values) + DONE))


@settings(max_examples=examples(70), deadline=None)
@given(LIKE_A_CHUNK)
def test_json_of_any_shape_is_read_as_a_plain_answer(value: Any) -> None:
    choices = value.get("choices")
    message = {"choices": [{"message": choices}]} if isinstance(choices, dict) else value
    assert_sound(read(json.dumps(message).encode(), event_stream=False))


PIECES = st.builds(
    piece,
    st.none() | st.integers(-1, 2),
    call_id=st.none() | st.sampled_from(["", "a", "b", 7]),
    name=st.none() | st.sampled_from(["", "f", "g", 7]),
    arguments=st.none() | st.sampled_from(["", "{", "}", "{}", '{"a":1}', 7, {}]),
)


@settings(max_examples=examples(120), deadline=None)
@given(st.lists(st.lists(PIECES, max_size=2), max_size=8))
def test_no_argument_text_is_ever_lost(deltas: list[list[Any]]) -> None:
    """However the pieces are labelled, what came as arguments is in some call, once."""
    reply = read(stream(FIRST, *(calls(*pieces) for pieces in deltas), LAST))
    assert_sound(reply)
    sent = "".join(str(each["function"].get("arguments", "")) for pieces in deltas for each in pieces)
    kept = "".join(_flat(call.arguments) for call in reply.tool_calls)
    assert sorted(sent) == sorted(kept)


def _flat(arguments: Any) -> str:
    if isinstance(arguments, list):
        return "".join(map(str, arguments))
    return "" if arguments is None else str(arguments)
