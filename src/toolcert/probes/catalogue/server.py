"""Does the server say what is true: its models, its errors, its usage, the same answer twice?"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from toolcert.core.errors import ListingError, NothingMeasuredError
from toolcert.core.findings import Severity
from toolcert.core.requests import user
from toolcert.core.text.json_text import BYTE_ORDER_MARK, NotJson, parse_json
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import (
    Concluded,
    Conversation,
    ProbeResult,
    ScriptedProbe,
    Turn,
    failed,
    not_applicable,
    not_measured,
    passed,
    probe,
)
from toolcert.probes.oracle import answered, calls_of, left_out, unless_broken, unmeasured
from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER
from toolcert.protocol.irregularity import error_in


@probe
class ModelListing(ScriptedProbe):
    """Lists the endpoint's models and looks for the one being tested."""

    name = "model_listing"
    group = "server"
    title = "Lists its models"
    meaning = "Clients can find out what is served, and under which id."
    order = 10

    async def run(self, talk: Conversation) -> ProbeResult:
        try:
            models = await talk.models()
        except ListingError as error:
            return failed(f"gives no usable list of models: {error.message}")
        except NothingMeasuredError as error:
            return not_measured(error.message)
        ids = [model.id for model in models]
        if len(set(ids)) < len(ids):
            return failed("lists a model twice", listed=len(ids))
        if talk.model not in ids:
            return failed("does not list the model it serves", listed=len(ids))
        return passed(listed=len(ids))


@probe
class ErrorShapes(ScriptedProbe):
    """Sends a request without any messages; the same request with one is the control."""

    name = "error_shapes"
    group = "server"
    title = "Says what is wrong with a request"
    meaning = "Clients can tell their own mistakes from outages, and show the server's words."
    requests = 2
    order = 30
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        turn = await talk.control([], max_tokens=16)
        turn = await _refused_alone(talk, turn, "a request without messages")
        status = turn.exchange.status
        if turn.fault is None:
            return failed("answers a request without messages", status=status)
        body = _error_body(turn.exchange.payload)
        if _has_message(body):
            return passed(status=status)
        shown = turn.exchange.payload[:200].decode(errors="replace")
        if _says_why(body):
            # The words are there for people and for lenient clients; a strict one looks for them in another place.
            found = finding("envelope.not_openai", shown, turn=turn.index, severity=Severity.WARNING)
            return passed(found, status=status)
        found = finding("envelope.not_openai", shown, turn=turn.index)
        return failed("an error without a readable message", found, status=status)


def _error_body(payload: bytes) -> JsonObject:
    try:
        body = parse_json(payload.removeprefix(BYTE_ORDER_MARK).decode(errors="replace"))
    except NotJson:
        return {}
    return body if isinstance(body, dict) else {}


def _has_message(body: JsonObject) -> bool:
    """Whether the body is an error object with a message, in any of the dialects' forms."""
    errors: list[Any] = [body.get("error"), *(body["errors"] if isinstance(body.get("errors"), list) else [])]
    return any(isinstance(error, dict) and isinstance(error.get("message"), str) for error in errors)


def _says_why(body: JsonObject) -> bool:
    """Whether the body gives the error in another form: FastAPI's `detail`, older vLLM's `message`, a bare `error`."""
    told = error_in(body)
    parts = [one.get("msg") for one in told if isinstance(one, dict)] if isinstance(told, list) else [told]
    return any(isinstance(part, str) and part.strip() for part in parts)


@probe
class UnknownModel(ScriptedProbe):
    """The right answer is a refusal; the same request with the real id is the control."""

    name = "unknown_model"
    group = "server"
    title = "Refuses a made-up model id"
    meaning = "A misspelt id is noticed and not answered by some other model."
    requests = 2
    order = 20
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        made_up, messages = f"{talk.model}-{talk.nonce('model').lower()}", [user("Say hello.")]
        turn = await talk.control(messages, model=made_up, max_tokens=16)
        if turn.reply is not None and turn.reply.readable:
            answered_as = turn.reply.model if isinstance(turn.reply.model, str) else "no name"
            found = finding("model.unknown_accepted", f"asked {made_up}, answered as {answered_as}", turn=turn.index)
            return failed("answers a made-up model id with 200", found)
        turn = await _refused_alone(talk, turn, "a made-up model id")
        if turn.fault is not None:
            return passed(status=turn.exchange.status)
        return failed("does not refuse a made-up model id properly: an answer outside the protocol")


async def _refused_alone(talk: Conversation, turn: Turn, what: str) -> Turn:
    """The turn as it is to be judged, once a legal request has shown that key and model are good."""

    def legal() -> Awaitable[Turn]:
        return talk.control([user("Say hello.")], max_tokens=16)

    control = await legal()
    if control.fault is not None:
        raise Concluded(unmeasured(control.fault))
    return await unless_broken(talk, turn, what, legal)


@probe
class Usage(ScriptedProbe):
    """A short answer and the tokens it is said to have cost."""

    name = "usage"
    group = "server"
    title = "Counts tokens consistently"
    meaning = "Budgets and bills can be computed from what the server says."
    order = 40
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        turn = await answered(talk, [user(f"Say {talk.nonce('word')}.")], feature=None, max_tokens=64)
        usage = turn.answer.usage
        if not usage:
            return failed("says nothing about the tokens used")
        if any(found.code == "usage.arithmetic" for found in turn.findings):
            return failed("token counts do not add up", usage=usage)
        if not usage.get("prompt_tokens") or not usage.get("completion_tokens"):
            return failed("token counts are missing or zero", usage=usage)
        return passed()


@probe
class ToolsInPrompt(ScriptedProbe):
    """The same request with tools and without: tools that the model reads cost tokens."""

    name = "tools_in_prompt"
    group = "server"
    title = "Shows the model its tools"
    meaning = "What is offered reaches the model; a model that does not call is not to blame for a lost list of tools."
    requests = 2
    order = 45
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}.")]
        turn = await answered(talk, messages, tools=[WEATHER, CALCULATE, SEARCH], max_tokens=256)
        bare = await talk.control(messages, max_tokens=16)
        with_tools, without = (_prompt_tokens(one) for one in (turn, bare))
        if not with_tools or not without:
            return not_applicable("the server does not count prompt tokens", called=turn.answer.called)
        if with_tools > without:
            return passed(with_tools=with_tools, without=without)
        severity = Severity.WARNING if turn.answer.called else None
        evidence = f"{with_tools} prompt tokens with three tools, {without} without"
        found = finding("prompt.tools_dropped", evidence, turn=turn.index, severity=severity)
        reason = "does not count the tools" if turn.answer.called else "never shows the tools to the model"
        return failed(reason, found, called=turn.answer.called, with_tools=with_tools, without=without)


def _prompt_tokens(turn: Turn) -> int:
    count = ((turn.reply.usage if turn.reply is not None else None) or {}).get("prompt_tokens")
    return count if isinstance(count, int) else 0


TIMES = 3


@probe
class Repeatability(ScriptedProbe):
    """Compares text, tools and arguments; ids and times may differ."""

    name = "repeatability"
    group = "server"
    title = "Answers the same at temperature 0"
    meaning = "A test that passes once passes again."
    requests = TIMES
    order = 50
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        messages = [user(f"Get the weather in {talk.nonce('city')}. Explain in one sentence what you do.")]
        answers: list[str] = []
        for _ in range(TIMES):
            turn = await answered(talk, messages, tools=[WEATHER, CALCULATE], temperature=0, max_tokens=128)
            answers.append(_said(turn))
        different = next((answer for answer in answers if answer != answers[0]), None)
        if different is None:
            return passed(called=turn.answer.called)
        if left_out(turn, "temperature"):
            return not_applicable("the server refuses a temperature of 0", called=turn.answer.called)
        found = finding("nondeterministic", f"{answers[0]} | {different}", turn=turn.index)
        return failed("answers differ at temperature 0", found, called=turn.answer.called)


def _said(turn: Turn) -> str:
    """All of the answer that must repeat, in one line."""
    calls = [f"{call.call.name}({call.judgement.arguments or call.call.arguments})" for call in calls_of(turn)]
    return " ".join([turn.text, *calls]).strip()
