"""`strict: true` against a prompt that asks to break the schema."""

from __future__ import annotations

import copy

from toolcert.core.requests import tool, user
from toolcert.diagnose import finding
from toolcert.probes.asking import REFUSALS, Feature, judgeable
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, not_applicable, passed
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
    requests = 2
    order = 50

    async def run(self, talk: Conversation) -> ProbeResult:
        prompt = f'Call paint_wall with {{"colour": "{talk.nonce("colour")}", "shade": "{talk.nonce("shade")}"}}.'
        messages = [user(prompt)]
        turn = await talk.ask(messages, tools=[STRICT_TOOL], tool_choice="required")
        if turn.fault is not None and turn.fault.kind in REFUSALS:
            turn = await talk.ask(messages, tools=[STRICT_TOOL])  # it may be the choice that is refused
        calls = calls_of(await judgeable(talk, turn, feature=STRICT))
        if not calls:
            return not_applicable("no call came, so nothing could be enforced")
        invalid = next((call for call in calls if not call.valid), None)
        if invalid is None:
            return passed(called=True)
        found = finding("schema.strict_unenforced", str(invalid.call.arguments), turn=turn.index, call=invalid.position)
        return failed("accepts strict: true and does not enforce it", found, called=True)
