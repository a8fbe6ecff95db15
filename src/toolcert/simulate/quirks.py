"""Behaviour of personas that is no finding of its own: refusals, odd shapes, and harmless habits."""

from __future__ import annotations

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Raw, error, rate_limited
from toolcert.simulate.asking import Ask
from toolcert.simulate.faults import envelope
from toolcert.simulate.faults.reasoning import THOUGHTS
from toolcert.simulate.faults.shaping import calls, message, say
from toolcert.simulate.tokens import pieces


def refuse_tools(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """No tools at all."""
    if not body.get("tools"):
        return body
    return error(400, f"The model `{ask.model}` does not support tools.", param="tools", code="unsupported_parameter")


def refuse_max_tokens(body: JsonObject, _ask: Ask) -> JsonObject | Raw:
    """The newer name of the limit only."""
    if "max_tokens" not in body:
        return body
    text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return error(400, text, param="max_tokens", code="unsupported_parameter")


def refuse_temperature(body: JsonObject, _ask: Ask) -> JsonObject | Raw:
    """The default temperature only."""
    heat = body.get("temperature")
    if heat is None or heat == 1:
        return body
    text = (
        f"Unsupported value: 'temperature' does not support {heat} with this model. Only the default (1) is supported."
    )
    return error(400, text, param="temperature", code="unsupported_value")


def no_chat(_body: JsonObject, ask: Ask) -> Raw:
    """A model that makes vectors, not conversation."""
    return error(404, f"The model `{ask.model}` is not a chat model and is not supported here.", param="model")


def often_busy(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Two of five requests are turned away."""
    return rate_limited(0.1) if ask.number % 5 in (1, 2) else body


def drop_lone_call(body: JsonObject, _ask: Ask) -> JsonObject:
    """A single call is talked about instead of made."""
    return say(body, "I would use a tool for that.") if len(calls(body)) == 1 else body


def null_calls(body: JsonObject, _ask: Ask) -> JsonObject:
    """The fields are there and all empty."""
    return say(body, None, tool_calls=None)


def no_choices(body: JsonObject, _ask: Ask) -> Raw:
    return envelope.no_choices(body)


def wrapped_in_list(body: JsonObject, _ask: Ask) -> Raw:
    return envelope.json_list(body)


def html_page(_body: JsonObject, _ask: Ask) -> Raw:
    return envelope.html()


def wrapped_error(_body: JsonObject, _ask: Ask) -> Raw:
    return envelope.error_with_200()


def reasoning(body: JsonObject, _ask: Ask) -> JsonObject:
    """Thoughts beside the answer, and counted."""
    message(body)["reasoning_content"] = THOUGHTS
    spent = len(pieces(THOUGHTS))
    usage = body["usage"]
    usage["completion_tokens"] += spent
    usage["total_tokens"] += spent
    usage["completion_tokens_details"]["reasoning_tokens"] = spent
    return body
