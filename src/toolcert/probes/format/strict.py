"""`strict: true` against a prompt that asks to break the schema."""

from __future__ import annotations

import copy

from toolcert.core.requests import tool, user
from toolcert.diagnose import finding
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import calls_of
from toolcert.probes.registry import probe
from toolcert.probes.tools import described, parameters

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
    order = 50

    async def run(self, talk: Conversation) -> ProbeResult:
        prompt = f'Call paint_wall with {{"colour": "{talk.nonce("colour")}", "shade": "{talk.nonce("shade")}"}}.'
        turn = await answered(talk, [user(prompt)], feature=STRICT, tools=[STRICT_TOOL], tool_choice="required")
        calls = calls_of(turn)
        if not calls:
            return failed("does not call where a strict tool is required", called=False)
        invalid = next((call for call in calls if not call.valid), None)
        if invalid is None:
            return passed(called=True)
        found = finding("schema.strict_unenforced", str(invalid.call.arguments), turn=turn.index, call=invalid.position)
        return failed("accepts strict: true and does not enforce it", found, called=True)
