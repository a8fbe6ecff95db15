"""Answer a request: with an error if it breaks the protocol, otherwise with the faults of the persona."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from toolcert.core.requests import function_name, function_of
from toolcert.core.values import JsonObject
from toolcert.simulate.brain.dialogue import literals, text_of
from toolcert.simulate.brain.thought import Thought, think
from toolcert.simulate.chat_completion import Identity, chunks, complete, frames, pieces
from toolcert.simulate.faults.base import Mode, Stage, Switch
from toolcert.simulate.faults.calls import markup
from toolcert.simulate.traffic import Answer, Ask, Events, Raw, Reset, Silence, as_json, error


def malformed_turns(messages: list[JsonObject]) -> Raw | None:
    """The error for malformed `tool_calls` in the history."""
    for place, message in enumerate(messages):
        calls = message.get("tool_calls")
        if calls is not None and not (isinstance(calls, list) and all(_well_formed(call) for call in calls)):
            return _malformed(place)
    return None


def broken_history(messages: list[JsonObject]) -> Raw | None:
    """The error for calls without results, results without calls, and empty assistant turns."""
    waiting: list[Any] = []
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return _orphan(place)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return _unanswered(place - 1, waiting)
        if role == "assistant":
            calls = message.get("tool_calls") or []
            waiting = [call.get("id") for call in calls]
            if not calls and message.get("content") is None:
                return _empty_turn(place)
    return _unanswered(len(messages) - 1, waiting) if waiting else None


def _well_formed(call: Any) -> bool:
    """Whether a past call has a name and its arguments as text. That it is JSON is not checked."""
    function = function_of(call) or {}
    return isinstance(function.get("name"), str) and isinstance(function.get("arguments", ""), str)


def _malformed(place: int) -> Raw:
    where = f"messages[{place}].tool_calls"
    return error(
        400,
        f"Invalid value for '{where}': every call needs a function with a name and its arguments as a string.",
        param=where,
        code="invalid_value",
    )


def _orphan(place: int) -> Raw:
    message = (
        "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls', "
        "and carry the id of one of its calls."
    )
    return error(400, message, param=f"messages[{place}].tool_call_id")


def _unanswered(place: int, waiting: list[Any]) -> Raw:
    ids = ", ".join(str(one) for one in waiting)
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {ids}"
    )
    return error(400, message, param=f"messages[{place}].role")


def _empty_turn(place: int) -> Raw:
    return error(400, "Invalid value for 'content': expected a string, got null.", param=f"messages[{place}].content")


_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_TOOLS = 128


def misshapen(body: JsonObject) -> Raw | None:
    """The error for a body whose parts have the wrong type; faults are applied only after this check."""
    return _messages(body) or malformed_turns(body["messages"])


def refusal(body: JsonObject) -> Raw | None:
    """The error for a body that breaks a rule of the protocol, or None."""
    return broken_history(body["messages"]) or next((wrong for rule in _RULES if (wrong := rule(body))), None)


def _messages(body: JsonObject) -> Raw | None:
    messages = body.get("messages")
    if messages is None:
        return error(
            400, "Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter"
        )
    if not isinstance(messages, list) or not messages:
        message = "Invalid 'messages': expected an array with at least one message."
        return error(400, message, param="messages", code="invalid_type")
    for place, one in enumerate(messages):
        role = one.get("role") if isinstance(one, dict) else None
        if role not in _ROLES:
            where = f"messages[{place}].role"
            return error(
                400, f"Invalid value: '{role}'. Supported values are: {_ROLES}.", param=where, code="invalid_value"
            )
    return None


def _tools_rule(body: JsonObject) -> Raw | None:
    tools = body.get("tools")
    if tools is None:
        return _needs_tools(body)
    if not isinstance(tools, list) or not tools:
        return error(400, "[] is too short - 'tools'", param="tools", code="empty_array")
    if len(tools) > _MOST_TOOLS:
        message = f"Invalid 'tools': array too long. Expected an array with maximum length {_MOST_TOOLS}."
        return error(400, message, param="tools", code="array_above_max_length")
    return next(_bad_tools(tools), None)


def _needs_tools(body: JsonObject) -> Raw | None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and body.get(name) != "none":
            return error(
                400, f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", param=name
            )
    return None


def _bad_tools(tools: list[Any]) -> Iterator[Raw]:
    for place, tool in enumerate(tools):
        function, name = function_of(tool), function_name(tool)
        where = f"tools[{place}].function.name"
        if function is None or name is None:
            yield error(400, f"Missing required parameter: '{where}'.", param=where, code="missing_required_parameter")
        elif not _NAME.fullmatch(name):
            message = (
                f"Invalid '{where}': string does not match pattern. Expected a string that matches '^[a-zA-Z0-9_-]+$'."
            )
            yield error(400, message, param=where, code="invalid_value")
        elif function.get("strict") is True and (wrong := _not_strict(function.get("parameters"))):
            message = f"Invalid schema for function '{name}': In context=(), {wrong}"
            yield error(400, message, param=f"tools[{place}].function.parameters", code="invalid_function_parameters")


def _not_strict(schema: Any) -> str:
    """Why a schema cannot be used with `strict`, by the rule of the reference API; empty if it can."""
    if not isinstance(schema, dict):
        return ""
    properties = schema.get("properties") or {}
    if schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    left_out = set(properties) - set(schema.get("required") or ())
    return f"'required' is required to include every key in properties. Missing: {sorted(left_out)}" if left_out else ""


def _choice_rule(body: JsonObject) -> Raw | None:
    choice, tools = body.get("tool_choice"), body.get("tools") or []
    if isinstance(choice, dict):
        name = function_name(choice)
        if not any(tool["function"]["name"] == name for tool in tools):
            return error(400, f"Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice")
    elif choice not in (None, "auto", "none", "required"):
        message = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
        return error(400, message, param="tool_choice", code="invalid_value")
    return None


def _numbers(body: JsonObject) -> Raw | None:
    for name in ("max_tokens", "max_completion_tokens"):
        limit = body.get(name)
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {limit} instead."
            return error(400, message, param=name, code="integer_below_min_value")
    heat = body.get("temperature")
    if heat is not None and (not isinstance(heat, (int, float)) or not 0 <= heat <= 2):
        message = "Invalid 'temperature': expected a value between 0 and 2."
        return error(400, message, param="temperature", code="decimal_above_max_value")
    return None


def _streams(body: JsonObject) -> Raw | None:
    if body.get("stream_options") is not None and body.get("stream") is not True:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return error(400, message, param="stream_options")
    return None


def _format(body: JsonObject) -> Raw | None:
    form = body.get("response_format")
    kind = form.get("type") if isinstance(form, dict) else None
    if form is not None and kind not in ("text", "json_object", "json_schema"):
        return error(400, f"Invalid value: '{kind}'.", param="response_format.type", code="invalid_value")
    if kind == "json_object" and not any("json" in text_of(m.get("content")).lower() for m in body["messages"]):
        message = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        return error(400, message, param="messages")
    return None


_RULES: tuple[Callable[[JsonObject], Raw | None], ...] = (_tools_rule, _choice_rule, _numbers, _streams, _format)


_TURN = re.compile(
    r"<\|im_user\|>\w*<\|im_middle\|>(?P<kimi>.*?)<\|im_end\|>|<\|im_start\|>user\n(?P<chatml>.*?)<\|im_end\|>", re.S
)


def complete_raw(body: JsonObject, identity: Identity) -> Answer:
    """Answer a completions request; tools and the last user turn are parsed out of the prompt."""
    prompt = body.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        return error(400, "Missing required parameter: 'prompt'.", param="prompt", code="missing_required_parameter")
    chat = {"model": body.get("model"), "messages": [{"role": "user", "content": _last_turn(prompt)}]}
    tools = _tools_in_prompt(prompt)
    ask = Ask({**chat, "tools": tools} if tools else chat)
    whole = complete(ask, think(ask.body), identity)
    message = whole["choices"][0]["message"]
    text = markup(message["tool_calls"], "kimi") if message.get("tool_calls") else message["content"]
    return _sent(whole, text, body)


def _sent(whole: JsonObject, text: str, body: JsonObject) -> Answer:
    limit, reason = body.get("max_tokens"), "stop"
    cut = pieces(text)
    if isinstance(limit, int) and len(cut) > limit:
        cut, reason = cut[:limit], "length"
    head = {"id": whole["id"].replace("chatcmpl-", "cmpl-"), "object": "text_completion"}
    head |= {name: whole[name] for name in ("created", "model", "system_fingerprint")}
    if body.get("stream") is not True:
        return as_json({**head, "choices": [_text_choice("".join(cut), reason)], "usage": whole["usage"]})
    events: list[JsonObject] = [{**head, "choices": [_text_choice(piece, None)]} for piece in cut]
    events.append({**head, "choices": [_text_choice("", reason)]})
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append({**head, "choices": [], "usage": whole["usage"]})
    return Events(frames=frames(events))


def _text_choice(text: str, reason: str | None) -> JsonObject:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": reason}


def _last_turn(prompt: str) -> str:
    turns = [match["kimi"] or match["chatml"] or "" for match in _TURN.finditer(prompt)]
    return turns[-1] if turns else prompt[-2000:]


def _tools_in_prompt(prompt: str) -> list[Any]:
    """The tools that a chat template wrote into the prompt."""
    for literal in literals(prompt):
        value = literal.value
        if isinstance(value, list) and value and all(isinstance(one, dict) and "function" in one for one in value):
            return value
    return []


_KEPT = 2048
_MATTERS = ("messages", "tools", "tool_choice", "parallel_tool_calls", "response_format")
_thoughts: OrderedDict[bytes, Thought] = OrderedDict()


def thought_about(body: JsonObject) -> Thought:
    """What the model decides; cached, because benchmarks and streams ask the same again."""
    key = msgspec.json.encode([body.get(name) for name in _MATTERS])
    known = _thoughts.get(key)
    if known is None:
        known = _thoughts[key] = think(body)
        if len(_thoughts) > _KEPT:
            _thoughts.popitem(last=False)
    return known


def respond(ask: Ask, switches: tuple[Switch, ...], identity: Identity) -> Answer:
    """Answer a chat request."""
    wrong = misshapen(ask.body)
    if wrong is not None:
        return wrong
    mode = Mode.STREAM if ask.stream else Mode.PLAIN
    active = [switch for switch in switches if mode in switch.modes]
    read = _spoiled(Stage.REQUEST, ask.body, ask, active)
    if isinstance(read, Reset) and read.after:
        return _broken_stream(ask, identity, read.after)
    if isinstance(read, (Raw, Silence, Reset)):
        return read
    return refusal(read) or _answer(ask, read, active, identity)


def _answer(ask: Ask, read: JsonObject, active: list[Switch], identity: Identity) -> Answer:
    body = _spoiled(Stage.BODY, complete(ask, thought_about(read), identity), ask, active)
    if isinstance(body, Raw):
        return body
    if not ask.stream:
        return Raw(content=msgspec.json.encode(body))
    events = _spoiled(Stage.CHUNKS, chunks(body, wants_usage=ask.wants_usage), ask, active)
    return Events(frames=_spoiled(Stage.FRAMES, frames(events), ask, active))


def _spoiled(stage: Stage, thing: Any, ask: Ask, active: list[Switch]) -> Any:
    for switch in active:
        if switch.stage is stage and not isinstance(thing, (Raw, Silence, Reset)):
            thing = switch.spoil(thing, ask.with_option(switch.option))
    return thing


def _broken_stream(ask: Ask, identity: Identity, after: int) -> Answer:
    answer = refusal(ask.body) or _answer(ask, ask.body, [], identity)
    return Events(frames=answer.frames[:after], breaks=True) if isinstance(answer, Events) else answer
