"""An assistant turn with calls and null content: what every tool call looks like in the next request."""

from __future__ import annotations

from toolcert.core.requests import tool_result, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.asking import Feature
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.history import answered_on, call_message
from toolcert.probes.oracle import mentions
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER

NULL = Feature(what="null content beside calls", code="history.null_content", capability=False)


@probe
class NullContent(ScriptedProbe):
    """Where null content is refused or the result gets lost, the same history with text is tried as a control."""

    name = "null_content"
    group = "conversation"
    title = "Takes a history with null content"
    meaning = "The second turn of an agent is not refused for its own first one."
    order = 40

    async def run(self, talk: Conversation) -> ProbeResult:
        station = talk.nonce("station")
        history, control = (_history(talk, station, content) for content in (None, "I will look that up."))
        turn = await answered_on(talk, history, feature=NULL.over(control), tools=[WEATHER])
        if mentions(turn, station):
            return passed(handled=True)
        with_text = await talk.control(control, tools=[WEATHER])
        if with_text.reply is not None and mentions(with_text, station):
            found = finding("history.null_content", turn.text or "no text", turn=turn.index)
            return failed("loses the result when content is null", found, handled=False)
        found = finding("result.ignored", turn.text or "no text", turn=turn.index)
        return failed("does not use the tool's result", found, handled=False)


def _history(talk: Conversation, station: str, content: str | None) -> list[JsonObject]:
    city = talk.nonce("city")
    return [
        user(f"Which weather station reports for {city}? Use get_weather."),
        call_message(content, ("call_c3", "get_weather", f'{{"city": "{city}"}}')),
        tool_result("call_c3", f'{{"station": "{station}"}}'),
    ]
