"""A secret that a stream spreads over its events is in none of them afterwards."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from support.http_certificates import KEY
from support.http_servers import always, post, serving, sized
from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request
from toolcert.core.secrets import HIDDEN, Eraser, Secret
from toolcert.http.base import HttpClient
from toolcert.protocol.redaction import erased_payload
from toolcert.protocol.reply import read_reply

ERASER = Eraser([Secret(KEY, source="test")])


def content(text: str) -> dict[str, Any]:
    return {"content": text}


def arguments(text: str, index: int = 0) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def stream(*deltas: dict[str, Any], end: bytes = b"data: [DONE]\n\n") -> bytes:
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + end


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def erased(data: bytes) -> bytes:
    return erased_payload(ERASER, data, event_stream=True)


def told(data: bytes) -> str | None:
    """What the stream says, read as the program reads it."""
    return read_reply(Exchange(request=Request(body={"stream": True}), payload=data, event_stream=True)).content


@pytest.mark.parametrize("size", [1, 2, 3, 7, 12, 30])
async def test_a_key_in_pieces_reaches_nobody(client: HttpClient, size: int) -> None:
    echo = stream(*map(content, pieces(f"Your key, {KEY}, is wrong. So is {KEY}.", size)))
    async with serving(always(sized(echo, "Content-Type: text/event-stream"))) as server:
        response = await client.send(post(server.url()))
    assert told(echo) == f"Your key, {KEY}, is wrong. So is {KEY}."
    assert told(response.payload) == f"Your key, {HIDDEN}, is wrong. So is {HIDDEN}."
    assert response.payload.count(b"data: ") == echo.count(b"data: ")
    assert response.arrivals is not None
    assert sum(response.arrivals.pieces[1::2]) == len(response.payload)


def test_calls_are_put_together_by_their_index() -> None:
    """Pieces of two calls take turns, and one of them holds the key."""
    deltas = [arguments(text, index) for part in pieces(KEY, 4) for index, text in ((0, part), (1, "fine"))]
    left = erased(stream(*deltas))
    said = [json.loads(line[6:]) for line in left.split(b"\n\n") if line.startswith(b"data: {")]
    calls = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in said]
    texts = ["".join(call["function"]["arguments"] for call in calls if call["index"] == index) for index in (0, 1)]
    assert texts == [HIDDEN, "fine" * len(pieces(KEY, 4))]


def test_events_keep_their_names_and_an_open_end() -> None:
    echo = b"event: message\n" + stream(*map(content, pieces(KEY, 5)), end=b"data: [DO")
    left = erased(echo)
    assert left.startswith(b"event: message\ndata: ")
    assert left.endswith(b"\n\ndata: [DO")


@pytest.mark.parametrize(
    "other",
    [
        stream(*map(content, pieces("a quite usual answer of some length", 3))),
        stream(*map(content, pieces(KEY[:-1] + " " + KEY[1:], 4))),
        stream(content("sk-very-secret-"), content("9876543210")),
        b"data: sk-very\n\ndata: -secret-0123456789\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n" + stream(*map(content, pieces(KEY[1:], 4))),
        b"",
    ],
    ids=["another text", "parts of it", "other digits", "no JSON", "nested without end", "nothing"],
)
def test_any_other_stream_stays_as_it_came(other: bytes) -> None:
    assert erased(other) == other


def test_a_key_spread_over_the_parts_of_a_content_reaches_nobody() -> None:
    parts = [{"type": "text", "text": text} for text in ("Your key, ", *pieces(KEY, 6), ", is wrong.")]
    body = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": parts}}]}).encode()
    left = json.loads(erased_payload(ERASER, body, event_stream=False))
    texts = [part["text"] for part in left["choices"][0]["message"]["content"]]
    assert "".join(texts) == f"Your key, {HIDDEN}, is wrong."
    assert len(texts) == len(parts)
    assert "".join(told(erased(stream({"content": parts}))) or "") == f"Your key, {HIDDEN}, is wrong."


@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_disguised_key_in_pieces_reaches_nobody(size: int) -> None:
    for disguise in (KEY[::-1], base64.b64encode(KEY.encode()).decode().rstrip("=")):
        said = told(erased(stream(*map(content, pieces(f"It is {disguise} you know", size)))))
        assert said is not None
        assert HIDDEN in said
        assert disguise[4:12] not in said


def test_a_key_of_coded_characters_in_pieces_reaches_nobody() -> None:
    coded = stream(*map(content, pieces(KEY, 1)))
    for character in set(KEY) - {*"\\-"}:
        coded = coded.replace(f'"{character}"'.encode(), f'"\\u{ord(character):04x}"'.encode())
    assert b"\\u0073" in coded
    assert told(coded) == KEY
    assert told(erased(coded)) == HIDDEN
