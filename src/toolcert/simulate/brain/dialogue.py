"""The conversation so far: what is asked now, what was called, what came back."""

from __future__ import annotations

import json
from typing import Any, Self

import msgspec

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.text import latin


class Done(Value):
    """A call of an earlier turn and what its tool answered."""

    name: str
    arguments: JsonObject
    result: str | None = None

    @property
    def data(self) -> Any:
        """The result as JSON, or None where it is plain text."""
        return as_json(self.result or "")


class Dialogue(Value):
    """What a model needs to know of the conversation."""

    task: str
    """What the user asks now, with the turns that led to it."""
    latest: str = ""
    """The last user turn alone."""
    system: str = ""
    done: tuple[Done, ...] = ()
    """Calls made since the user last spoke."""
    earlier: tuple[Done, ...] = ()


def as_json(text: str) -> Any:
    """The JSON value of a text that is one, otherwise None; numbers keep their spelling."""
    if not text[:1] or text.lstrip()[:1] not in '{["-0123456789tfn':
        return None
    try:
        return json.loads(text, parse_float=Spelled)
    except ValueError:
        return None


class Spelled(float):
    """A number that remembers how it was written, so that 21.50 is not reported as 21.5."""

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.spelling = text
        return number

    spelling: str

    def __str__(self) -> str:
        return self.spelling


def text_of(content: Any) -> str:
    """The words of a message's content, a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def read_dialogue(messages: list[JsonObject]) -> Dialogue:
    """Sort the messages into what is asked now and what was done."""
    last_user = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    after, before = messages[last_user + 1 :], messages[: last_user + 1]
    pending = [text_of(message.get("content")) for message in _pending(before)]
    return Dialogue(
        task="\n".join(pending),
        latest=pending[-1] if pending else "",
        system="\n".join(text_of(m.get("content")) for m in messages if m.get("role") in ("system", "developer")),
        done=_done(after),
        earlier=_done(before),
    )


def _pending(messages: list[JsonObject]) -> list[JsonObject]:
    """The last user turn, and those before it that were only answered with a question."""
    turns: list[JsonObject] = []
    for message in reversed(messages):
        role = message.get("role")
        if role == "user":
            turns.append(message)
        elif role == "tool" or (role == "assistant" and not _asks_back(message)):
            break
    return turns[::-1]


def _asks_back(message: JsonObject) -> bool:
    text = text_of(message.get("content"))
    return not message.get("tool_calls") and ("?" in text or "？" in text or not latin(text))


def _done(messages: list[JsonObject]) -> tuple[Done, ...]:
    results = {
        message.get("tool_call_id"): text_of(message.get("content"))
        for message in messages
        if message.get("role") == "tool"
    }
    calls = [call for message in messages for call in message.get("tool_calls") or () if isinstance(call, dict)]
    return tuple(_one_done(call, results.get(call.get("id"))) for call in calls)


def _one_done(call: JsonObject, result: str | None) -> Done:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return Done(name=str(function.get("name", "")), arguments=_arguments(function.get("arguments")), result=result)


def _arguments(written: Any) -> JsonObject:
    """Arguments of an earlier call; malformed ones of a careless client are read as none."""
    try:
        value = msgspec.json.decode(written) if isinstance(written, str) else written
    except msgspec.DecodeError:
        return {}
    return value if isinstance(value, dict) else {}
