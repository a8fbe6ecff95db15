"""A complete call assembled from a stream."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import carries, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import CALCULATE, SEARCH, WEATHER

STREAM = Feature(what="streaming", without=("stream", "stream_options"))


@probe
class Streaming(ScriptedProbe):
    """The basic question, streamed; the time to the first token is taken."""

    name = "streaming"
    group = "format"
    title = "Streams a complete call"
    meaning = "Interactive agents can stream: the pieces make a whole and valid call."
    order = 10

    def __init__(self, city: str | None = None) -> None:
        self._city = city

    async def run(self, talk: Conversation) -> ProbeResult:
        city = self._city or talk.nonce("city")
        messages = [user(f"Get the weather in {city}.")]
        turn = await answered(talk, messages, feature=STREAM, tools=[WEATHER, CALCULATE, SEARCH], stream=True)
        if not turn.exchange.event_stream:
            return failed("answers in one piece although a stream was asked for")
        if not turn.answer.complete:
            return failed("the stream ends before the answer does", called=False)
        if any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return passed(called=True)
        return failed(why_not_called(turn, "get_weather"), called=False)
