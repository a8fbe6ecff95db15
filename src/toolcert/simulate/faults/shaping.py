"""Small tools for spoiling answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from toolcert.core.values import JsonObject


def message(body: JsonObject) -> JsonObject:
    """The message of the first choice."""
    found: JsonObject = body["choices"][0]["message"]
    return found


def calls(body: JsonObject) -> list[JsonObject]:
    """The calls of the answer; empty where it has none."""
    return message(body).get("tool_calls") or []


def arguments(call: JsonObject) -> Any:
    """The arguments of a call as a value; None where the text was cut."""
    try:
        return json.loads(call["function"]["arguments"])
    except ValueError:
        return None


def write(value: Any) -> str:
    """Arguments as a model writes them."""
    return json.dumps(value, ensure_ascii=False)


def finish(body: JsonObject, reason: Any) -> JsonObject:
    """The body with another finish reason."""
    body["choices"][0]["finish_reason"] = reason
    return body


def say(body: JsonObject, content: str | None, **more: Any) -> JsonObject:
    """The body with words instead of calls."""
    body["choices"][0]["message"] = {"role": "assistant", "content": content, "refusal": None, **more}
    return finish(body, "stop")


def each_arguments(body: JsonObject, change: Callable[[str], Any]) -> JsonObject:
    """The body with the text of every call's arguments changed."""
    for call in calls(body):
        call["function"]["arguments"] = change(call["function"]["arguments"])
    return body


def call_deltas(chunks: list[JsonObject]) -> Iterator[tuple[int, JsonObject]]:
    """Every piece of a call in a stream, with the place of its chunk."""
    for place, chunk in enumerate(chunks):
        for choice in chunk["choices"]:
            for piece in choice["delta"].get("tool_calls") or ():
                yield place, piece


def is_last(chunk: JsonObject) -> bool:
    """Whether the chunk ends its choice."""
    return any(choice.get("finish_reason") for choice in chunk["choices"])
