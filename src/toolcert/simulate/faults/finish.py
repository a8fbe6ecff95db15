"""Finish reasons that do not say what happened."""

from __future__ import annotations

import copy

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import STREAM, Stage, calls, each_arguments, fault, finish, is_last, message
from toolcert.simulate.situations import A_CALL, A_SMALL_LIMIT
from toolcert.simulate.traffic import Ask


@fault("finish.stop_with_calls", Stage.BODY, A_CALL)
def stop_with_calls(body: JsonObject, _ask: Ask) -> JsonObject:
    """Says `stop` although the answer holds calls."""
    return finish(body, "stop") if calls(body) else body


@fault("finish.calls_missing", Stage.BODY, A_CALL)
def calls_missing(body: JsonObject, _ask: Ask) -> JsonObject:
    """Says `tool_calls` but sends no calls."""
    if message(body).pop("tool_calls", None):
        message(body)["content"] = ""
    return body


@fault("finish.absent", Stage.BODY, A_CALL)
def absent(body: JsonObject, _ask: Ask) -> JsonObject:
    """Never gives a finish reason."""
    return finish(body, None)


@fault("finish.repeated", Stage.CHUNKS, A_CALL, modes=STREAM)
def repeated(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Ends every choice twice."""
    place = next(place for place, chunk in enumerate(chunks) if is_last(chunk))
    return [*chunks[: place + 1], copy.deepcopy(chunks[place]), *chunks[place + 1 :]]


@fault("finish.nonstandard", Stage.BODY, A_CALL)
def nonstandard(body: JsonObject, ask: Ask) -> JsonObject:
    """Gives a finish reason of its own engine."""
    return finish(body, ask.option or ("tool_use" if calls(body) else "end_turn"))


@fault("finish.truncation_hidden", Stage.BODY, A_SMALL_LIMIT)
def truncation_hidden(body: JsonObject, _ask: Ask) -> JsonObject:
    """Cuts arguments at the token limit and calls the turn complete."""
    if not calls(body):
        return body
    if body["choices"][0]["finish_reason"] != "length":
        each_arguments(body, lambda text: text[: max(len(text) - 4, 1)])
    return finish(body, "tool_calls")


@fault("finish.length_false", Stage.BODY, A_CALL)
def length_false(body: JsonObject, ask: Ask) -> JsonObject:
    """Stops after a few tokens, whatever the limit; option `whole`: sends everything and says `length`."""
    if ask.option != "whole":
        each_arguments(body, lambda text: text[: len(text) // 2])
        content = message(body).get("content") or ""
        message(body)["content"] = content[: len(content) // 2] or None
    return finish(body, "length")


@fault("finish.filtered", Stage.BODY, A_CALL)
def filtered(body: JsonObject, ask: Ask) -> JsonObject:
    """Lets a content filter end every answer; option `named`: says which filter."""
    body["choices"][0]["message"] = {"role": "assistant", "content": ""}
    return finish(body, "content_filter: SAFETY" if ask.option == "named" else "content_filter")
