"""A tool result with the id of no call."""

from __future__ import annotations

from toolcert.core.requests import tool_result, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.asking import REFUSALS, said, unmeasured
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.history import ask_on, call_message
from toolcert.probes.refusing import refuses
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER

RESULT = '{"temperature": 21}'


@probe
class WrongId(ScriptedProbe):
    """A refusal and an answer both pass, the answer with a note; the same history with the right id is the control."""

    name = "wrong_id"
    group = "conversation"
    title = "Survives a result that belongs to no call"
    meaning = "A mix-up of results in an agent does not break the server; one that answers over it is noted."
    requests = 2
    order = 50
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        sent, turn = await ask_on(talk, _history(talk, "call_other"), tools=[WEATHER])
        if turn.fault is None:
            found = finding("history.wrong_id_accepted", "tool_call_id call_other, no such call", turn=turn.index)
            return passed(found)
        right = [*sent[:-1], tool_result("call_d4", RESULT)]
        control = await talk.control(right, tools=[WEATHER])
        if control.fault is not None:
            return unmeasured(control.fault)
        if refuses(turn):
            return passed()
        if turn.fault.kind not in REFUSALS:
            return unmeasured(turn.fault)
        return failed(f"breaks on a wrong tool_call_id ({said(turn.fault)})")


def _history(talk: Conversation, answered_id: str) -> list[JsonObject]:
    city = talk.nonce("city")
    return [
        user(f"Get the weather in {city}."),
        call_message(None, ("call_d4", "get_weather", f'{{"city": "{city}"}}')),
        tool_result(answered_id, RESULT),
    ]
