"""Calls in the wrong place or the wrong shape, against what the request says, or with the wrong finish reason."""

from __future__ import annotations

import copy
import json
import zlib

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import (
    PLAIN,
    STREAM,
    SeenBy,
    Stage,
    calls,
    each_arguments,
    fault,
    finish,
    is_last,
    message,
    say,
)
from toolcert.simulate.situations import A_CALL, A_SMALL_LIMIT, NAMED, NONE, ONE_AT_A_TIME, REQUIRED, TWO_CALLS, WORDS
from toolcert.simulate.traffic import Ask, Raw, error, server_error

_SPELLINGS = {
    "harmony": "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>",
    "harmony_stripped": "assistantcommentary to=functions.{name} json{arguments}",
    "deepseek": "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>",
    "stripped": "functions.{name}:0{arguments}",
    "react": "Thought: I need a tool.\nAction: {name}\nAction Input: {arguments}",
    "invoke": '<invoke name="{name}">{arguments}</invoke>',
    "functionary": ">>>{name}\n{arguments}",
    "python": "```python\n{name}({arguments})\n```",
}


def markup(found: list[JsonObject], form: str = "") -> str:
    """Calls as a model writes them before a parser turns them into structure."""
    pairs = [(call["function"]["name"], call["function"]["arguments"]) for call in found]
    if form == "kimi":
        inner = "".join(
            f"<|tool_call_begin|>functions.{name}:{place}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
            for place, (name, arguments) in enumerate(pairs)
        )
        return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"
    written = [f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}' for name, arguments in pairs]
    if form == "mistral":
        return f"[TOOL_CALLS][{', '.join(written)}]"
    if form == "json":
        return "\n".join(written)
    if form in _SPELLINGS:
        return "\n".join(_SPELLINGS[form].format(name=name, arguments=arguments) for name, arguments in pairs)
    return "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in written)


@fault("call.in_text", Stage.BODY, A_CALL)
def in_text(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves calls as markup in the text; option: hermes, kimi, mistral, json, or another family's form."""
    return say(body, markup(calls(body), ask.option)) if calls(body) else body


@fault("call.in_reasoning", Stage.BODY, A_CALL)
def in_reasoning(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves calls as markup in the reasoning."""
    if not calls(body):
        return body
    thoughts = f"The user wants this done. {markup(calls(body), ask.option)}"
    return say(body, "One moment please.", reasoning_content=thoughts)


@fault("call.server_error", Stage.BODY, A_CALL, probe="basic")
def breaks(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Fails with 500 on its own calls; option: 400, or `words` to fail on half of all questions."""
    question = str(next((one.get("content") for one in ask.messages if one.get("role") == "user"), ""))
    if not calls(body) or (ask.option == "words" and zlib.crc32(question.encode()) % 2):
        return body
    if ask.option == "400":
        return error(400, "Failed to call a function. Please adjust your prompt.", code="tool_use_failed")
    return server_error(500)


@fault("call.twice", Stage.BODY, A_CALL)
def twice(body: JsonObject, ask: Ask) -> JsonObject:
    """Sends calls as structure and again as markup in the text."""
    if calls(body):
        message(body)["content"] = markup(calls(body), ask.option)
    return kimi_ids(body, ask) if ask.option == "kimi" else body


def kimi_ids(body: JsonObject, ask: Ask) -> JsonObject:
    """The form of ids that Kimi models need; they number the calls of the whole conversation."""
    before = sum(len(one.get("tool_calls") or ()) for one in ask.messages)
    for place, call in enumerate(calls(body), start=before):
        call["id"] = f"functions.{call['function']['name']}:{place}"
    return body


@fault("call.unknown_tool", Stage.BODY, A_CALL)
def unknown_tool(body: JsonObject, _ask: Ask) -> JsonObject:
    """Calls a tool that was not offered."""
    for call in calls(body):
        call["function"]["name"] = "python_interpreter"
    return body


@fault("call.mangled_name", Stage.BODY, A_CALL)
def mangled_name(body: JsonObject, ask: Ask) -> JsonObject:
    """Puts a namespace before every name; option: leaves a word of the format, a channel or a number behind it."""
    residue = {"json": "json", "channel": "<|channel|>commentary", "number": "_0"}.get(ask.option)
    for call in calls(body):
        name = call["function"]["name"]
        call["function"]["name"] = name + residue if residue else f"functions.{name}"
    return body


@fault("call.id_missing", Stage.BODY, A_CALL)
def id_missing(body: JsonObject, _ask: Ask) -> JsonObject:
    """Gives no call an id."""
    for call in calls(body):
        del call["id"]
    return body


@fault("call.id_duplicate", Stage.BODY, TWO_CALLS)
def id_duplicate(body: JsonObject, ask: Ask) -> JsonObject:
    """Gives every call of a turn the same id; option `turns`: restarts the numbering in every turn."""
    for place, call in enumerate(calls(body)):
        call["id"] = f"call_{place + 1}" if ask.option == "turns" else "call_1"
    return body


@fault("call.id_format", Stage.BODY, A_CALL, option="kimi")
def id_format(body: JsonObject, _ask: Ask) -> JsonObject:
    """Gives a Kimi model's calls ids of the usual form (the model id must name the family)."""
    return body


@fault("call.type_missing", Stage.BODY, A_CALL)
def type_missing(body: JsonObject, _ask: Ask) -> JsonObject:
    """Leaves out the type of every call."""
    for call in calls(body):
        del call["type"]
    return body


@fault("call.empty_list", Stage.BODY, WORDS)
def empty_list(body: JsonObject, _ask: Ask) -> JsonObject:
    """Sends an empty list of calls with every plain answer."""
    message(body).setdefault("tool_calls", [])
    return body


@fault("call.index_bogus", Stage.BODY, A_CALL, modes=PLAIN)
def index_bogus(body: JsonObject, _ask: Ask) -> JsonObject:
    """Leaves a placeholder index in plain answers."""
    for call in calls(body):
        call["index"] = -1
    return body


@fault("call.duplicate", Stage.BODY, A_CALL)
def duplicate(body: JsonObject, ask: Ask) -> JsonObject:
    """Sends every call twice; option `ids`: with the same id."""
    if found := calls(body):
        again = [{**call, "id": call["id"] if ask.option == "ids" else f"{call['id'][:-1]}_"} for call in found]
        message(body)["tool_calls"] = [*found, *again]
    return body


def _without(body: JsonObject, field: str) -> JsonObject:
    return {key: value for key, value in body.items() if key != field}


@fault("choice.required_ignored", Stage.REQUEST, REQUIRED)
def required_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Treats `required` like `auto`."""
    return _without(body, "tool_choice") if body.get("tool_choice") == "required" else body


@fault("choice.none_ignored", Stage.REQUEST, NONE)
def none_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Treats `none` like `auto`."""
    return _without(body, "tool_choice") if body.get("tool_choice") == "none" else body


@fault("choice.named_ignored", Stage.REQUEST, NAMED)
def named_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Treats a named function like `auto`."""
    return _without(body, "tool_choice") if isinstance(body.get("tool_choice"), dict) else body


@fault("choice.rejected", Stage.REQUEST, REQUIRED, probe="choice_required")
def rejected(body: JsonObject, _ask: Ask) -> JsonObject | Raw:
    """Refuses every `tool_choice` but `auto` and `none`."""
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return body
    written = "required" if choice == "required" else "a named function"
    message = f"Unsupported value: 'tool_choice' does not support {written} with this model."
    return error(400, message, param="tool_choice", code="unsupported_value")


@fault("parallel.flag_ignored", Stage.REQUEST, ONE_AT_A_TIME)
def flag_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Makes several calls although told to make one."""
    return _without(body, "parallel_tool_calls")


@fault("parallel.merged", Stage.BODY, TWO_CALLS)
def merged(body: JsonObject, _ask: Ask) -> JsonObject:
    """Merges several calls into one."""
    found = calls(body)
    if len(found) > 1:
        found[0]["function"]["arguments"] = "".join(call["function"]["arguments"] for call in found)
        message(body)["tool_calls"] = found[:1]
    return body


@fault("trigger.over", Stage.REQUEST, WORDS, seen_by=SeenBy.COMPARISON)
def over(body: JsonObject, ask: Ask) -> JsonObject:
    """Calls a tool where others would answer in words."""
    eager = bool(ask.tools) and not ask.after_result and body.get("tool_choice") in (None, "auto")
    return {**body, "tool_choice": "required"} if eager else body


@fault("trigger.under", Stage.BODY, A_CALL, seen_by=SeenBy.COMPARISON)
def under(body: JsonObject, ask: Ask) -> JsonObject:
    """Answers in words instead of every third call."""
    lazy = bool(calls(body)) and ask.dice.random() < 1 / 3
    return say(body, "I could look that up for you, if you like.") if lazy else body


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
