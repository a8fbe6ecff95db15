"""A value that only the tool knew must appear in the answer."""

from __future__ import annotations

import msgspec

from toolcert.core.requests import user
from toolcert.diagnose import CallJudgement, finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed
from toolcert.probes.follow_up import next_turn, same_call
from toolcert.probes.oracle import answered, arguments_of, calls_of, carries, mentions, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import WEATHER


@probe
class ResultUse(ScriptedProbe):
    """The tool names its weather station, which cannot be guessed."""

    name = "result_use"
    group = "calling"
    title = "Uses what the tool returned"
    meaning = "The answer is built on the tool's result and not on what the model believes."
    requests = 2
    order = 30

    def __init__(self, city: str | None = None) -> None:
        self._city = city

    async def run(self, talk: Conversation) -> ProbeResult:
        city, station = self._city or talk.nonce("city"), talk.nonce("station")
        prompt = f"Get the weather in {city} with get_weather, then tell me the temperature and the station name."
        messages = [user(prompt)]
        turn = await answered(talk, messages, tools=[WEATHER])
        if not any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return failed(why_not_called(turn, "get_weather"), called=False)

        def result(call: CallJudgement) -> str:
            report = {"temperature": 21, "conditions": "clear", "station": station}
            return msgspec.json.encode({"city": arguments_of(call).get("city", city)} | report).decode()

        _, second = await next_turn(talk, messages, turn, result, tools=[WEATHER])
        return judge_use(turn, second, station)


def judge_use(first: Turn, second: Turn, secret: str) -> ProbeResult:
    """Whether the second answer holds the value that only the tool knew."""
    if mentions(second, secret):
        return passed(called=True, handled=True)
    if any(same_call(call, before) for call in calls_of(second) for before in calls_of(first)):
        reason, code = "makes the same call again instead of using its result", "result.repeat_call"
    else:
        reason, code = "does not use the tool's result", "result.ignored"
    evidence = second.text or f"{len(second.answer.tool_calls)} calls, no text"
    return failed(reason, finding(code, evidence, turn=second.index), called=True, handled=False)
