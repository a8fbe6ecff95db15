"""A call assembled from a stream, and the same request with and without a stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from toolcert.core.exchanges import Reply
from toolcert.core.findings import Finding, Severity
from toolcert.core.requests import user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, probe
from toolcert.probes.oracle import Feature, answered, arguments_of, calls_of, carries, valid_calls, why_not_called
from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER

STREAM = Feature(what="streaming", without=("stream", "stream_options"), same_words=True)


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
        lost = lost_arguments([turn])
        if lost and not valid_calls(await talk.control(messages, tools=[WEATHER, CALCULATE, SEARCH]), "get_weather"):
            lost = ()
        return failed(why_not_called(turn, "get_weather"), *lost, called=False)


def lost_arguments(turns: Iterable[Turn]) -> tuple[Finding, ...]:
    """What is said of streams without the arguments that the same requests have in one piece."""
    return tuple(
        finding("args.lost", "empty in a stream, present without one", turn=turn.index, call=one.call)
        for turn in turns
        for one in turn.findings
        if one.code == "args.empty" and one.severity is Severity.ERROR
    )


TOOLS = [WEATHER, CALCULATE]


@probe
class StreamTwin(ScriptedProbe):
    """Two identical requests for two calls at temperature 0, one of them streamed.

    If they differ, both are asked again: what changes within one mode is caused by the model and not by the stream.
    """

    name = "stream_twin"
    group = "format"
    title = "Says the same streamed and not"
    meaning = "What was tested one way holds the other way too."
    needs = ("basic",)
    requests = 2
    order = 20

    async def run(self, talk: Conversation) -> ProbeResult:
        first, second = talk.nonce("first"), talk.nonce("second")
        messages = [user(f"Get the weather in {first} and {second}. Call get_weather once for each city.")]
        plain = await answered(talk, messages, tools=TOOLS, temperature=0)
        streamed = await answered(talk, messages, feature=STREAM, tools=TOOLS, temperature=0, stream=True)
        lost = _lost(plain, streamed)
        differences = _differences(plain, streamed)
        if not differences:
            return passed(called=plain.answer.called)
        varies: dict[str, Any] = {}
        for first_time, more in ((plain, {}), (streamed, {"stream": True})):
            again = await talk.control(messages, tools=TOOLS, temperature=0, **more)
            varies |= _differences(first_time, again) if again.reply is not None and again.reply.readable else {}
        differences = {field: pair for field, pair in differences.items() if field not in varies}
        if not differences:
            return passed(called=plain.answer.called, varies=[*varies])
        evidence = "; ".join(f"{field}: {one!r} plain, {two!r} streamed" for field, (one, two) in differences.items())
        cause = _named(plain, streamed)
        findings = [finding("stream.differs", evidence, turn=streamed.index, because_of="args.lost" if lost else cause)]
        if lost is not None:
            findings.append(finding("args.lost", "empty in one form, present in the other", turn=lost.index))
        reason = f"streamed and plain answers differ in {', '.join(differences)}"
        return failed(reason, *findings, called=plain.answer.called or streamed.answer.called, differs=[*differences])


def _named(plain: Turn, streamed: Turn) -> str | None:
    """The fault that one of the answers shows and the other does not: it explains why they differ."""
    shared = {one.code for one in plain.findings} & {one.code for one in streamed.findings}
    found = (one for one in (*streamed.findings, *plain.findings) if one.because_of is None)
    return next((one.code for one in found if one.code not in shared and one.severity is not Severity.NOTE), None)


def _differences(plain: Turn, streamed: Turn) -> dict[str, tuple[Any, Any]]:
    """The fields that differ, in words, with both values."""
    one, two = _features(plain), _features(streamed)
    if None in (one["prompt tokens"], two["prompt tokens"]):
        two["prompt tokens"] = one["prompt tokens"]  # that one says nothing is a finding of its own
    return {field: (one[field], two[field]) for field in one if one[field] != two[field]}


def _features(turn: Turn) -> JsonObject:
    reply, calls = turn.answer, calls_of(turn)
    return {
        "calls": [call.call.name for call in calls],
        "arguments": [arguments_of(call) if call.valid else call.call.arguments for call in calls],
        "finish_reason": reply.finish_reason,
        "id form": [_id_form(call.call.id) for call in calls],
        "prompt tokens": _prompt_tokens(reply),
    }


def _id_form(given: Any) -> str:
    """The shape of an id: its fixed beginning and its length, not its random part."""
    if not isinstance(given, str) or not given:
        return "none"
    prefix = re.match(r"[A-Za-z]+[-_.:]|functions\.\w+:|", given)
    return f"{prefix[0] if prefix else ''}…({len(given)})"


def _prompt_tokens(reply: Reply) -> int | None:
    return (reply.usage or {}).get("prompt_tokens")


def _lost(plain: Turn, streamed: Turn) -> Turn | None:
    """The turn whose first call has no arguments although its twin's has."""
    pair = [(turn, calls_of(turn)) for turn in (plain, streamed)]
    if not all(calls for _, calls in pair):
        return None
    empty = [turn for turn, calls in pair if calls[0].call.arguments in (None, "", "{}")]
    return empty[0] if len(empty) == 1 else None
