"""What a simulated model decides to say."""

from __future__ import annotations

from toolcert.core.values import JsonObject, Value


class Call(Value):
    """A tool the model decides to call."""

    name: str
    arguments: JsonObject


class Thought(Value):
    """A decision: text, or calls, before any of it is put on the wire."""

    content: str | None = None
    calls: tuple[Call, ...] = ()
    named: bool = False
    """The call was forced by naming the function."""
