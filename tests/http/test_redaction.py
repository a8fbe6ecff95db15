"""A secret that a stream spreads over its events is in none of them afterwards."""

from __future__ import annotations

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
