"""Malformed arguments in an earlier call."""

from __future__ import annotations

from toolcert.core.exchanges import FaultKind
from toolcert.core.requests import tool_result, user
from toolcert.core.values import JsonObject
from toolcert.probes.asking import Feature, judgeable
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, passed
from toolcert.probes.history import ask_on, call_message
from toolcert.probes.refusing import refuses
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER

MALFORMED = Feature(what="malformed arguments in the history", code="history.malformed_500", capability=False)


@probe
class MalformedHistory(ScriptedProbe):
    """Answering and refusing with a 4xx are both right; an error of the server's own is not."""

    name = "malformed_history"
    group = "conversation"
    title = "Survives malformed arguments in the history"
    meaning = "One broken call does not end the conversation with server errors."
    order = 60
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        city = talk.nonce("city")
        _, turn = await ask_on(talk, _history(city, f'{{"city": "{city}'), tools=[WEATHER])
        if turn.fault is not None and turn.fault.kind is not FaultKind.SERVER_ERROR and refuses(turn):
            return passed(answer="refused")
        control = _history(city, f'{{"city": "{city}"}}')
        await judgeable(talk, turn, feature=MALFORMED.over(control))
        return passed(answer="taken")


def _history(city: str, arguments: str) -> list[JsonObject]:
    return [
        user(f"Get the weather in {city}."),
        call_message(None, ("call_e5", "get_weather", arguments)),
        tool_result("call_e5", '{"error": "the arguments are not valid JSON"}'),
        user("Never mind. Just say hello."),
    ]
