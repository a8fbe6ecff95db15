"""Schemas of tools and the arguments that follow them: none, of growing difficulty, strict, long, in every script."""

from __future__ import annotations

import copy
import unicodedata
from typing import Any

import msgspec

from toolcert.core.requests import tool, user
from toolcert.core.schema.judge import Bucket
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import finding
from toolcert.probes.base import (
    Concluded,
    Conversation,
    ProbeResult,
    ScriptedProbe,
    failed,
    not_applicable,
    passed,
    probe,
)
from toolcert.probes.oracle import (
    Feature,
    answered,
    arguments_of,
    calls_of,
    equals,
    judgeable,
    valid_calls,
    why_not_called,
)
from toolcert.probes.refusal_pairs import is_refusal
from toolcert.probes.sample_tools import CALCULATE, SAVE_NOTE, STRING, WEATHER, described, parameters

REFRESH = tool("refresh_cache", "Refresh the cache.", parameters())
NO_PARAMETERS = Feature(
    what="a tool without parameters", code="schema.valid_rejected", instead={"tools": [WEATHER, CALCULATE]}
)


@probe
class ZeroParameters(ScriptedProbe):
    """Wants a call that has nothing to say but its name."""

    name = "zero_params"
    group = "format"
    title = "Calls a tool without parameters"
    meaning = "Tools that only do something need no dummy argument."
    needs = ("basic",)
    order = 80

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user("Call refresh_cache.")]
        turn = await answered(talk, messages, feature=NO_PARAMETERS, tools=[WEATHER, CALCULATE, REFRESH])
        if len(calls_of(turn)) == len(valid_calls(turn, "refresh_cache")) == 1:
            return passed(called=True)
        return failed(why_not_called(turn, "refresh_cache"), called=False)


_FLAT = parameters(title=STRING)
_CONTROL = tool("book_room", "Book a room.", _FLAT)


class Rung(Value):
    """One feature of JSON Schema and arguments that use it."""

    name: str
    schema: JsonObject
    value: Any
    """The value of `extra`, the property that shows the feature."""

    @property
    def tool(self) -> JsonObject:
        return tool("book_room", "Book a room.", self.schema)


def _with(extra: JsonObject, **more: Any) -> JsonObject:
    return parameters(title=STRING, extra=extra) | more


_PERSON = parameters(first=STRING, last=STRING)
RUNGS = (
    Rung(name="enum", schema=_with({"type": "string", "enum": ["small", "large"]}), value="large"),
    Rung(name="nested", schema=_with(_PERSON), value={"first": "Ada", "last": "Byron"}),
    Rung(name="array", schema=_with({"type": "array", "items": _PERSON}), value=[{"first": "Ada", "last": "Byron"}]),
    Rung(
        name="$ref",
        schema=_with({"$ref": "#/$defs/person"}, **{"$defs": {"person": _PERSON}}),
        value={"first": "Ada", "last": "Byron"},
    ),
    Rung(
        name="anyOf", schema=_with({"anyOf": [{"type": "integer"}, _PERSON]}), value={"first": "Ada", "last": "Byron"}
    ),
    Rung(name="nullable", schema=_with({"type": ["string", "null"]}), value=None),
    Rung(
        name="limits",
        schema=parameters(
            title={"type": "string", "minLength": 4}, extra={"type": "integer", "minimum": 1, "maximum": 9}
        ),
        value=7,
    ),
    Rung(name="pattern", schema=_with({"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"}), value="AB-1234"),
)


@probe
class SchemaLadder(ScriptedProbe):
    """Climbs from an enum to references, unions and patterns; every rung carries its own nonce."""

    name = "schema_ladder"
    group = "format"
    title = "Takes schemas as real tools have them"
    meaning = "Tools generated from code, with nested, shared and optional types, work unchanged."
    needs = ("basic",)
    requests = len(RUNGS)
    order = 90

    async def run(self, talk: Conversation) -> ProbeResult:
        climbed: list[str] = []
        for rung in RUNGS:
            result = await self._climb(talk, rung)
            if result is not None:
                return msgspec.structs.replace(result, detail={"climbed": climbed, "fails_at": rung.name})
            climbed.append(rung.name)
        return passed(called=True, climbed=climbed)

    async def _climb(self, talk: Conversation, rung: Rung) -> ProbeResult | None:
        """None when the rung holds."""
        wanted = {"title": talk.nonce(rung.name), "extra": rung.value}
        messages = [user(f"Call book_room with {msgspec.json.encode(wanted).decode()}.")]
        feature = Feature(what=f"{rung.name} in a schema", code="schema.valid_rejected", instead={"tools": [_CONTROL]})
        try:
            turn = await answered(talk, messages, feature=feature, tools=[rung.tool])
        except Concluded as conclusion:
            return conclusion.result
        if any(equals(call, **wanted) for call in valid_calls(turn, "book_room")):
            return None
        return failed(f"fails at {rung.name}: {why_not_called(turn, 'book_room')}", called=False)


COLOURS = ["red", "green", "blue"]
SCHEMA = parameters(colour=described("The colour to paint in", enum=COLOURS))
STRICT_TOOL = tool("paint_wall", "Paint the wall in a colour.", SCHEMA, strict=True)
PLAIN_TOOL = tool("paint_wall", "Paint the wall in a colour.", copy.deepcopy(SCHEMA))
STRICT = Feature(what="strict tools", instead={"tools": [PLAIN_TOOL]})


@probe
class Strict(ScriptedProbe):
    """Wants a colour that the schema does not know: only enforcement keeps the call valid."""

    name = "strict"
    group = "format"
    title = "Enforces strict schemas"
    meaning = "With strict: true a call cannot break its schema, whatever the prompt says."
    requests = 2
    order = 50

    async def run(self, talk: Conversation) -> ProbeResult:
        prompt = f'Call paint_wall with {{"colour": "{talk.nonce("colour")}", "shade": "{talk.nonce("shade")}"}}.'
        messages = [user(prompt)]
        turn = await talk.ask(messages, tools=[STRICT_TOOL], tool_choice="required")
        if is_refusal(turn):
            turn = await talk.ask(messages, tools=[STRICT_TOOL])  # it may be the choice that is refused
        calls = calls_of(await judgeable(talk, turn, feature=STRICT))
        if not calls:
            return not_applicable("no call came, so nothing could be enforced")
        invalid = next((call for call in calls if call.judgement.bucket is Bucket.SCHEMA_MISMATCH), None)
        if invalid is None:
            wrong = not all(call.valid for call in calls)
            return failed(why_not_called(turn, "paint_wall"), called=False) if wrong else passed(called=True)
        found = finding("schema.strict_unenforced", str(invalid.call.arguments), turn=turn.index, call=invalid.position)
        return failed("accepts strict: true and does not enforce it", found, called=True)


COMMON = (
    "apple",
    "bridge",
    "candle",
    "desert",
    "engine",
    "forest",
    "garden",
    "harbour",
    "island",
    "jacket",
    "kitchen",
    "lantern",
    "mountain",
    "needle",
    "orange",
    "pencil",
)
LENGTH = 120


@probe
class LongArguments(ScriptedProbe):
    """A note of 120 plain words in a random order."""

    name = "long_args"
    group = "format"
    title = "Passes on a long argument unchanged"
    meaning = "Files, letters and patches can be handed to a tool."
    needs = ("basic",)
    order = 70

    async def run(self, talk: Conversation) -> ProbeResult:
        words = [COMMON[talk.number(f"word {number}", low=0, high=len(COMMON) - 1)] for number in range(LENGTH)]
        note = " ".join(words)
        turn = await answered(talk, [user(f'Call save_note with text "{note}".')], tools=[SAVE_NOTE])
        calls = valid_calls(turn, "save_note")
        if not calls:
            return failed(why_not_called(turn, "save_note"), called=False)
        if any(str(arguments_of(call).get("text", "")).strip() == note for call in calls):
            return passed(called=True)
        return failed("a long argument does not come back unchanged", called=True)


@probe
class UnicodeArguments(ScriptedProbe):
    """A short note in several scripts must come back character by character."""

    name = "unicode_args"
    group = "format"
    title = "Keeps every character of an argument"
    meaning = "Names, addresses and messages in any language survive a call."
    needs = ("basic",)
    order = 60

    async def run(self, talk: Conversation) -> ProbeResult:
        note = f"Grüße an {talk.nonce('person')}: 東京, Ελλάδα, Привет 🎉"
        turn = await answered(talk, [user(f'Call save_note with text "{note}".')], tools=[SAVE_NOTE])
        calls = valid_calls(turn, "save_note")
        if not calls:
            return failed(why_not_called(turn, "save_note"), called=False)
        if any(_same(arguments_of(call).get("text"), note) for call in calls):
            return passed(called=True)
        given = str(arguments_of(calls[0]).get("text", ""))
        # The same text but for its characters beyond ASCII was damaged on its way; other words are the model's.
        damaged = _ascii(given) == _ascii(note) and not any(one.code == "args.altered" for one in turn.findings)
        found = [finding("args.altered", f"{given!r} for {note!r}", turn=turn.index)] if damaged else []
        return failed("characters of the argument are lost or changed", *found, called=True)


def _ascii(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())


def _same(given: object, wanted: str) -> bool:
    """Composed and decomposed letters are the same text."""
    return isinstance(given, str) and unicodedata.normalize("NFC", given.strip()) == unicodedata.normalize(
        "NFC", wanted
    )
