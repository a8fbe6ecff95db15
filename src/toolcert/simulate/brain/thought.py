"""One turn of thought: from a request to calls, or to words."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.call_arguments import Filling, fill
from toolcert.simulate.brain.dialogue import QUOTED, Dialogue, Done, as_json, latin, objects, read_dialogue, words
from toolcert.simulate.brain.intent import Intent, best_tool, intents
from toolcert.simulate.brain.offered_tool import Tool, invent, offered, tool_of


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


_FOLLOW = re.compile(r"\b(?:follow|continue|keep going|go on|until)\b", re.I)
_KEEPS_TALKING = 9
"""One in this many prompts of another script is answered in words, as real models do."""


def think(body: JsonObject) -> Thought:
    """What an honest and able model decides to answer to this request."""
    dialogue = read_dialogue(body["messages"])
    tools = offered(body)
    choice = body.get("tool_choice")
    if not tools or choice == "none":
        return _in_words(body, dialogue)
    if isinstance(choice, dict):
        named = choice["function"]["name"]
        return _forced(dialogue, next(tool for tool in tools if tool.name == named), named=True)
    return _decide(body, dialogue, tools)


def _decide(body: JsonObject, dialogue: Dialogue, tools: list[Tool]) -> Thought:
    wanted = _not_made(_wanted(dialogue, tools), dialogue.done)
    calls = tuple(Call(name=one.tool.name, arguments=one.arguments) for one in wanted if not one.missing)
    if calls:
        return Thought(calls=calls[:1] if body.get("parallel_tool_calls") is False else calls)
    if body.get("tool_choice") == "required":
        return _forced(dialogue, wanted[0].tool if wanted else best_tool(dialogue.task, tools) or tools[0])
    if wanted and latin(dialogue.task):
        return Thought(content=_question(wanted[0], dialogue))
    # Words that cannot be read are mostly answered by a call with made-up arguments.
    if wanted and not dialogue.done and zlib.crc32(dialogue.task.encode()) % _KEEPS_TALKING:
        return Thought(calls=(_made_up(wanted[0]),))
    return _in_words(body, dialogue)


def _wanted(dialogue: Dialogue, tools: list[Tool]) -> list[Filling]:
    """Every call the task wants, whether made already or not."""
    found = intents(dialogue.latest, tools) or intents(dialogue.task, tools)
    if _FOLLOW.search(dialogue.task):  # a result may name the next tool only where the user said to follow it
        told = [intent for one in dialogue.done for intent in intents(one.result or "", tools)]
        known = {intent.tool.name for intent in found}
        found += [intent for intent in told if intent.tool.name not in known]
    alone = len({one.tool.name for one in found}) == 1
    fillings: list[Filling] = []
    for place, intent in enumerate(found):
        informed = len(fillings) <= len(dialogue.done)
        for filling in fill(intent, dialogue, alone=alone, first=place == 0, informed=informed):
            if not _repeats(filling, intent, fillings):
                fillings.append(filling)
    return fillings


def _repeats(filling: Filling, intent: Intent, known: list[Filling]) -> bool:
    """A later mention is the same call again unless it brings values of its own."""
    same = [one for one in known if one.tool.name == filling.tool.name]
    bare = intent.reference or bool(filling.missing) or not filling.arguments
    return bool(same) and (bare or any(one.arguments == filling.arguments for one in same))


def _not_made(wanted: list[Filling], done: tuple[Done, ...]) -> list[Filling]:
    """The wanted calls without those made; one made with other arguments counts for the first of its tool."""
    left = list(wanted)
    exact = [
        (one, next((w for w in wanted if (w.tool.name, w.arguments) == (one.name, one.arguments)), None))
        for one in done
    ]
    for one, filling in sorted(exact, key=lambda pair: pair[1] is None):
        made = filling if filling in left else next((w for w in left if w.tool.name == one.name), None)
        if made is not None:
            left.remove(made)
    return left


def _forced(dialogue: Dialogue, tool: Tool, *, named: bool = False) -> Thought:
    """A call that must be made; what the conversation does not give is made up to fit."""
    intent = Intent(tool=tool, region=dialogue.latest, clause=dialogue.latest)
    return Thought(calls=(_made_up(fill(intent, dialogue, alone=True)[0]),), named=named)


def _made_up(filling: Filling) -> Call:
    tool = filling.tool
    made = {name: invent(tool.properties.get(name, {}), tool.schema, name) for name in filling.missing}
    return Call(name=tool.name, arguments={**filling.arguments, **made})


def _in_words(body: JsonObject, dialogue: Dialogue) -> Thought:
    form = body.get("response_format")
    form = form if isinstance(form, dict) else {}
    asked = not dialogue.done and _JSON_ASKED.search(dialogue.latest)
    if asked or form.get("type") in ("json_object", "json_schema"):
        return Thought(content=json.dumps(_json_answer(form, dialogue), ensure_ascii=False))
    if dialogue.done:
        return Thought(content=_report(dialogue.done))
    reply = next(
        text for pattern, say in _REPLIES if (match := pattern.search(dialogue.latest)) and (text := say(match))
    )
    told = bool(dialogue.earlier) and dialogue.earlier[-1].result is not None
    return Thought(content=f"{_report(dialogue.earlier)}\n{reply}" if told else reply)


_JSON_ASKED = re.compile(
    r"\b(?:respond|reply|answer|return|output|give|generate|create|write)\b[^.\n]{0,60}\bJSON\b", re.I
)
_KEYS = re.compile(
    r"\b(?:keys?|fields?|properties)\b\s*:?\s*(?P<list>[\"'`]?[A-Za-z_]\w*[\"'`]?(?:(?:,|\s+and)+\s*[\"'`]?\b[A-Za-z_]\w*[\"'`]?)*)",
    re.I,
)
_GIVEN = re.compile(r"\b(?P<key>[A-Za-z_]\w*)[\"'`]?(?:\s*[:=]\s*(?=\S)|\s+(?:set to\s+|is\s+)?(?=[\"“]\w|\d))")
_WHOLE_NUMBERS = {"age", "count", "year", "number", "quantity", "amount", "price", "total", "score", "size"}


def _json_answer(form: JsonObject, dialogue: Dialogue) -> Any:
    """By the schema if there is one, else as the prompt writes it out or names its keys."""
    wrapped = form.get("json_schema")
    schema = wrapped.get("schema") if isinstance(wrapped, dict) else None
    if isinstance(schema, dict):
        return _by_schema(schema, dialogue)
    if written := [*filter(None, objects(dialogue.latest))]:
        return written[0]
    listed = _KEYS.search(dialogue.latest)
    keys = re.findall(r"\w+", listed["list"]) if listed else _GIVEN.findall(dialogue.latest)
    if dialogue.done and not keys:
        return {one.name: one.data if one.data is not None else one.result for one in dialogue.done}
    properties = {
        key: {"type": "integer" if key.lower() in _WHOLE_NUMBERS else "string"}
        for key in keys
        if key not in ("and", "JSON")
    }
    properties = properties or {"answer": {"type": "string"}}
    return _by_schema({"type": "object", "properties": properties, "required": list(properties)}, dialogue)


def _by_schema(schema: JsonObject, dialogue: Dialogue) -> Any:
    if schema.get("type", "object") != "object":
        return invent(schema, schema)
    prompt = dialogue.latest.replace("JSON", "")  # it looks like a value
    intent = Intent(tool=tool_of("answer", schema), region=prompt, clause=prompt)
    return _made_up(fill(intent, dialogue, alone=False)[0]).arguments


def _question(filling: Filling, dialogue: Dialogue) -> str:
    """Ask for a required argument that was not given."""
    wanted = " and ".join(" ".join(words(name)) for name in filling.missing)
    question = f"I need a little more information first: which {wanted} should I use?"
    return f"{_report(dialogue.done)}\n{question}" if dialogue.done else question


_FAILED = re.compile(r"^\s*(?:error|failed|failure|exception|traceback)\b", re.I)


def _report(done: tuple[Done, ...]) -> str:
    """The results, one line per call, each value as the tool gave it."""
    if len(done) == 1:
        return f"Here is what I found. {_report_line(done[0])}"
    return "\n".join(["Here is what I found:", *(f"- {_report_line(one)}" for one in done)])


def _report_line(done: Done) -> str:
    about = ", ".join(f"{key} {value}" for key, value in done.arguments.items())
    subject = f"{done.name} ({about})" if about else done.name
    result, data = done.result, as_json(done.result or "", str)  # 21.50 must not be told as 21.5
    if result is None or not result.strip():
        return f"{subject} returned an empty result, so there is nothing to report."
    failed = _FAILED.match(result) or (isinstance(data, dict) and data.get("error"))
    told = _spoken(data, outer=True) if isinstance(data, (dict, list)) else result
    return f"{subject} failed with an error: {told}" if failed else f"{subject}: {told}"


def _spoken(value: Any, *, outer: bool = False) -> str:
    """JSON as "key: value", its strings unescaped."""
    if isinstance(value, dict):
        inner = ", ".join(f"{key}: {_spoken(one)}" for key, one in value.items())
        return inner if outer else f"({inner})"
    if isinstance(value, list):
        return ", ".join(_spoken(one) for one in value)
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _excerpt(match: re.Match[str]) -> str:
    flat = " ".join(match[0].split())
    flat = flat if len(flat) <= 80 else f"{flat[:77]}..."
    return f"Happy to help. You said: {flat} Let me know what else you would like to know about it."


_SAY = r"\b(?:reply|respond|answer|say|repeat|write|output)\b"
_REPLIES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(
            rf"{_SAY}(?:\s+(?:with|back|only|just|exactly|the|this|words?|text|sentence))*\s*:?\s*(?:{QUOTED})", re.I
        ),
        lambda match: match[match.lastindex or 0],
    ),
    (
        re.compile(rf"{_SAY}\s+(?:with\s+)?(?:only\s+)?(?:exactly|the word|just)\b:?\s*(\w[\w-]*)", re.I),
        lambda match: match[1],
    ),
    (re.compile(rf"(?i:{_SAY})\s+(?:(?:with|only|just)\s+)*([A-Z0-9][\w-]*)"), lambda match: match[1]),
    (
        re.compile(r"\bcount(?:ing)?\s+(?:up\s+)?from\s+(\d+)\s+to\s+(\d+)", re.I),
        lambda match: ", ".join(map(str, range(int(match[1]), min(int(match[2]), 5000) + 1))),
    ),
    (re.compile(r".*", re.S), _excerpt),
)
"""What a prompt asks to be said, and what is said; the first row that fits counts."""
