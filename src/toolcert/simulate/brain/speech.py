"""What the model says: results reported, questions asked back, plain replies, and JSON."""

from __future__ import annotations

import json
import random
import re
import zlib
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.call_arguments import Filling, fill
from toolcert.simulate.brain.dialogue import Dialogue, Done, literals, quoted, words
from toolcert.simulate.brain.intent import Intent
from toolcert.simulate.brain.offered_tool import invent, tool_of
from toolcert.simulate.brain.text_value import ARITHMETIC, worked_out

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


_EXACTLY = re.compile(
    r"\b(?:reply|respond|answer|say|repeat|write|output)\b(?:\s+(?:with|back|only|just|exactly|the|this|word|words|text|sentence|phrase|token|code))*\s*:?\s*$",
    re.I,
)
_ONE_WORD = re.compile(
    r"\b(?:reply|respond|answer|say)\s+(?:(?:with|only|just|the|single|one)\s+)*(?P<sure>(?:exactly|word|words)\b:?\s*)*"
    r"(?P<word>[A-Z0-9][\w-]*)\b",
    re.I,
)
_COUNT = re.compile(r"\bcount(?:ing)?\s+(?:up\s+)?from\s+(\d+)\s+to\s+(\d+)", re.I)
_LONG = re.compile(
    r"\b(?:long|essay|story|detailed|\d{2,}\s+(?:words|sentences|lines)|paragraphs?|article|at length)\b", re.I
)
_FAILED = re.compile(r"^\s*(?:error|failed|failure|exception|traceback)\b", re.I)
_SUBJECTS = [
    "The harbour",
    "A quiet street",
    "Her notebook",
    "The old lamp",
    "Their journey",
    "A northern wind",
    "The garden",
    "His answer",
]
_VERBS = [
    "crossed",
    "remembered",
    "followed",
    "changed",
    "carried",
    "questioned",
    "outlived",
    "measured",
    "painted",
    "echoed",
]
_OBJECTS = [
    "the morning light",
    "a distant bell",
    "every small promise",
    "the last train",
    "an empty page",
    "the far shore",
]
_ENDS = [
    "without hurry",
    "before anyone noticed",
    "as the tide turned",
    "in spite of the rain",
    "once more",
    "like a borrowed song",
]


def answer(dialogue: Dialogue) -> str:
    """What a model says when it calls nothing."""
    if dialogue.done:
        return report(dialogue.done)
    reply = _plain(dialogue)
    if dialogue.earlier and dialogue.earlier[-1].result is not None:
        return f"{report(dialogue.earlier)}\n{reply}"
    return reply


def report(done: tuple[Done, ...]) -> str:
    """The results, one line per call, each value as the tool gave it."""
    if len(done) == 1:
        return f"Here is what I found. {_told(done[0])}"
    return "\n".join(["Here is what I found:", *(f"- {_told(one)}" for one in done)])


def _told(done: Done) -> str:
    about = ", ".join(f"{key} {value}" for key, value in done.arguments.items())
    subject = f"{done.name} ({about})" if about else done.name
    result = done.result
    if result is None or not result.strip():
        return f"{subject} returned an empty result, so there is nothing to report."
    if _FAILED.match(result) or (isinstance(done.data, dict) and done.data.get("error")):
        return f"{subject} failed with an error: {spoken(result, done.data)}"
    return f"{subject}: {spoken(result, done.data)}"


def spoken(text: str, data: Any) -> str:
    """A result in words: JSON as "key: value" with its strings unescaped, other text as it is."""
    if isinstance(data, dict):
        return ", ".join(f"{key}: {_value(value)}" for key, value in data.items())
    return _value(data) if isinstance(data, list) else text


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"({', '.join(f'{key}: {_value(inner)}' for key, inner in value.items())})"
    if isinstance(value, list):
        return ", ".join(_value(inner) for inner in value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def ask_for(filling: Filling, dialogue: Dialogue) -> str:
    """The question for a required argument that nobody gave."""
    wanted = " and ".join(" ".join(words(name)) for name in filling.missing)
    question = f"I need a little more information first: which {wanted} should I use?"
    return f"{report(dialogue.done)}\n{question}" if dialogue.done else question


def _plain(dialogue: Dialogue) -> str:
    prompt = dialogue.latest
    if exact := _exact(prompt):
        return exact
    if count := _COUNT.search(prompt):
        return ", ".join(str(number) for number in range(int(count[1]), min(int(count[2]), 5000) + 1))
    if _LONG.search(prompt):
        return _long_text(prompt)
    if (found := ARITHMETIC.search(prompt)) and (value := worked_out(found[0])):
        return f"{found[0].strip()} = {value}"
    return f"Happy to help. You said: {_excerpt(prompt)} Let me know what else you would like to know about it."


def _exact(prompt: str) -> str | None:
    for span, value in quoted(prompt):
        if _EXACTLY.search(prompt[: span[0]]):
            return value
    match = _ONE_WORD.search(prompt)
    return match["word"] if match and (match["sure"] or match["word"][:1].isupper()) else None


def _excerpt(prompt: str) -> str:
    flat = " ".join(prompt.split())
    return flat if len(flat) <= 80 else f"{flat[:77]}..."


def _long_text(prompt: str) -> str:
    """Some hundred words that never repeat themselves enough to look like a loop."""
    dice = random.Random(zlib.crc32(prompt.encode()))
    subjects = [f"{s} {v} {o} {e}." for s in _SUBJECTS for v in _VERBS for o in _OBJECTS for e in _ENDS]
    return " ".join(dice.sample(subjects, 60))
