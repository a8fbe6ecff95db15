"""Answers in JSON: by schema, by the keys the prompt asks for, or as written in the prompt."""

from __future__ import annotations

import json
import re
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.choosing import Intent
from toolcert.simulate.brain.dialogue import Dialogue
from toolcert.simulate.brain.filling import fill
from toolcert.simulate.brain.inventing import invent
from toolcert.simulate.brain.text import literals
from toolcert.simulate.brain.tools import tool_of

_ASKED = re.compile(
    r"\b(?:respond|reply|answer|return|output|give|generate|produce|create|provide|write)\b[^.\n]{0,60}\bJSON\b|\bJSON\b[^.\n]{0,20}\bonly\b",
    re.I,
)
_KEYS = re.compile(
    r"\b(?:keys?|fields?|properties|attributes|with|containing|having)\b(?:\s+(?:exactly|these|the|following|keys?|fields?|properties|three|two|four))*\s*:?\s*"
    r"(?P<list>[\"'`]?[A-Za-z_]\w*[\"'`]?(?:\s*\([^)]*\))?(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\"'`]?[A-Za-z_]\w*[\"'`]?(?:\s*\([^)]*\))?)+)",
    re.I,
)
_KEY = re.compile(r"[\"'`]?(?P<key>[A-Za-z_]\w*)[\"'`]?(?:\s*\((?P<hint>[^)]*)\))?")
_PAIR = re.compile(r"[\"'`]?\b(?P<key>[A-Za-z_]\w*)[\"'`]?\s*[:=]\s*(?=\S)")
_GIVEN = re.compile(r"\b(?P<key>[A-Za-z_]\w*)\s+(?:set to\s+|is\s+|of\s+)?(?=[\"'“]\w|\d)")
_NO_KEYS = {"with", "exactly", "to", "is", "of", "as", "in", "and", "the", "say", "from", "than", "for", "about"}
_FORMAT_WORDS = re.compile(r"\bJSON\b", re.I)
_NUMBERS = {"age", "count", "year", "number", "quantity", "amount", "price", "total", "score", "size", "temperature"}


def wants_json(body: JsonObject, dialogue: Dialogue) -> bool:
    """Whether the answer must be JSON, by format or by the words of the prompt."""
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") in ("json_object", "json_schema"):
        return True
    return not dialogue.done and _ASKED.search(dialogue.latest) is not None


def json_answer(body: JsonObject, dialogue: Dialogue) -> str:
    """The JSON text of the answer."""
    form = body.get("response_format")
    wrapped = form.get("json_schema") if isinstance(form, dict) else None
    schema = wrapped.get("schema") if isinstance(wrapped, dict) else None
    value = _by_schema(schema, dialogue) if isinstance(schema, dict) else _by_prompt(dialogue)
    return json.dumps(value, ensure_ascii=False)


def _by_schema(schema: JsonObject, dialogue: Dialogue) -> Any:
    if schema.get("type", "object") != "object" and "properties" not in schema:
        return invent(schema, schema)
    tool = tool_of("answer", schema)
    prompt = _FORMAT_WORDS.sub("", dialogue.latest)
    intent = Intent(tool=tool, region=prompt, clause=prompt)
    filling = fill(intent, dialogue, alone=False)[0]
    made = {name: invent(tool.properties.get(name, {}), schema, name) for name in filling.missing}
    return {**filling.arguments, **made}


def _by_prompt(dialogue: Dialogue) -> Any:
    prompt = dialogue.latest
    written = [one.value for one in literals(prompt) if isinstance(one.value, dict) and one.value]
    if written:
        return written[0]
    keys = _asked_keys(prompt)
    if dialogue.done and not keys:
        return {one.name: one.data if one.data is not None else one.result for one in dialogue.done}
    return _by_schema(_schema_of(keys or {"answer": ""}), dialogue)


def _asked_keys(prompt: str) -> dict[str, str]:
    """The keys the prompt lists, with what it says about each in parentheses."""
    listed = _KEYS.search(prompt)
    if listed:
        return {match["key"]: match["hint"] or "" for match in _KEY.finditer(listed["list"]) if match["key"] != "and"}
    if given := {match["key"]: "" for match in _GIVEN.finditer(prompt) if match["key"].lower() not in _NO_KEYS}:
        return given
    return {
        match["key"]: "" for match in _PAIR.finditer(prompt) if match["key"].lower() not in ("json", "http", "https")
    }


def _schema_of(keys: dict[str, str]) -> JsonObject:
    properties = {key: {"type": _type_of(key, hint.lower())} for key, hint in keys.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _type_of(key: str, hint: str) -> str:
    for word, kind in (
        ("int", "integer"),
        ("number", "number"),
        ("float", "number"),
        ("bool", "boolean"),
        ("list", "array"),
        ("array", "array"),
    ):
        if word in hint:
            return kind
    return "integer" if key.lower() in _NUMBERS and not hint.startswith("string") else "string"
