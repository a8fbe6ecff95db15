"""Calls written into text between markers, brought into the protocol's form as they stand."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.values import JsonObject


def protocol_call(place: int, identity: str | None, name: str, arguments: str) -> JsonObject:
    """A structured call; `arguments` stay exactly as written, for the judge to parse."""
    return {
        "id": identity,
        "type": "function",
        "index": place,
        "function": {"name": name, "arguments": arguments},
    }


def call_from_json(place: int, text: str) -> JsonObject:
    """The call in a JSON object of name and arguments; what does not parse is kept as arguments without a name."""
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return protocol_call(place, None, "", text)
    arguments = value.get("arguments", value.get("parameters", {}))
    written = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return protocol_call(place, None, value["name"], written)
