"""The tool failed: the model says so instead of making something up."""

from __future__ import annotations

from toolcert.core.requests import tool_result, user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.history import RESULTS, always, answered_on, as_json, call_message, next_turn
from toolcert.probes.oracle import mentions
from toolcert.probes.registry import probe
from toolcert.probes.tools import WEATHER


@probe
class ToolError(ScriptedProbe):
    """The result is an error with a code; trying once more is allowed."""

    name = "tool_error"
    group = "conversation"
    title = "Reports a tool's error"
    meaning = "Failures reach the user instead of being papered over."
    requests = 2
    order = 10

    async def run(self, talk: Conversation) -> ProbeResult:
        city, code = talk.nonce("city"), f"E{talk.number('code')}"
        error = {"error": f"weather service unavailable, error code {code}"}
        question = user(f"Get the weather in {city}. If the tool fails, tell me its error code.")
        call = call_message(None, ("call_a1", "get_weather", f'{{"city": "{city}"}}'))
        messages = [question, call, tool_result("call_a1", as_json(error))]
        turn = await answered_on(talk, messages, feature=RESULTS.over([question]), tools=[WEATHER])
        if turn.answer.called:
            _, turn = await next_turn(talk, messages, turn, always(error), tools=[WEATHER])
        if mentions(turn, code):
            return passed(handled=True)
        if turn.answer.called:
            found = finding("result.repeat_call", f"{len(turn.answer.tool_calls)} more calls", turn=turn.index)
            return failed("calls again and again after an error", found, handled=False)
        found = finding("result.ignored", turn.text or "no text", turn=turn.index)
        return failed("does not report the tool's error", found, handled=False)
