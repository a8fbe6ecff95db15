"""The tools that several probes offer."""

from __future__ import annotations

from typing import Any

from toolcert.core.requests import tool
from toolcert.core.values import JsonObject

STRING: JsonObject = {"type": "string"}


def parameters(required: tuple[str, ...] | None = None, **properties: JsonObject) -> JsonObject:
    """An object schema; every property is required unless said otherwise."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def described(text: str, kind: str = "string", **more: Any) -> JsonObject:
    """The schema of one property."""
    return {"type": kind, "description": text, **more}


WEATHER = tool(
    "get_weather",
    "Get the current weather for a city.",
    parameters(
        ("city",),
        city=described("Name of the city"),
        unit=described("Unit of temperature", enum=["celsius", "fahrenheit"]),
    ),
)
CALCULATE = tool(
    "calculate",
    "Evaluate a mathematical expression.",
    parameters(expression=described("The expression, for example 17 * 23")),
)
SEARCH = tool(
    "search_web",
    "Search the web.",
    parameters(
        ("query",),
        query=described("What to search for"),
        num_results=described("How many results to return", "integer"),
    ),
)
SAVE_NOTE = tool("save_note", "Save a note.", parameters(text=described("The text of the note, unchanged")))
