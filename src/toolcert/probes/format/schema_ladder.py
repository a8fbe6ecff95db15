"""Schemas of growing difficulty; the first that does not work is named."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.requests import tool, user
from toolcert.core.values import JsonObject, Value
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Concluded, Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import equals, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import STRING, parameters

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
