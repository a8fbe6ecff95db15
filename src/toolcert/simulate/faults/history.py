"""Earlier turns that are refused, misread or forgotten."""

from __future__ import annotations

import re
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.dialogue import as_json, read_dialogue
from toolcert.simulate.faults.base import Stage, calls, fault, finish, message, say, write
from toolcert.simulate.situations import (
    A_RESULT,
    AN_EMPTY_RESULT,
    AN_ORDER,
    FOREIGN_IDS,
    MALFORMED_HISTORY,
    NULL_CONTENT,
    TWO_RESULTS,
    WRONG_ID,
)
from toolcert.simulate.traffic import Ask, Raw, error, server_error


def _past_calls(ask: Ask) -> list[JsonObject]:
    return [call for one in ask.messages if one.get("role") == "assistant" for call in one.get("tool_calls") or ()]


@fault("history.null_content", Stage.REQUEST, NULL_CONTENT, probe="null_content")
def null_content(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses an assistant turn that holds calls and no text."""
    for place, one in enumerate(ask.messages):
        if one.get("role") == "assistant" and not one.get("content"):
            return error(400, "content: field required, expected a string.", param=f"messages[{place}].content")
    return body


@fault("history.malformed_500", Stage.REQUEST, MALFORMED_HISTORY, probe="malformed_history")
def malformed_500(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Fails on malformed arguments in the history as if it were its own fault."""
    broken = any(as_json(str(call["function"].get("arguments"))) is None for call in _past_calls(ask))
    return server_error(500) if broken else body


@fault("history.wrong_id_accepted", Stage.REQUEST, WRONG_ID, probe="wrong_id")
def wrong_id_accepted(body: JsonObject, _ask: Ask) -> JsonObject:
    """Accepts a tool result with a wrong id."""
    messages: list[JsonObject] = []
    waiting: list[Any] = []
    for one in body.get("messages", ()):
        if one.get("role") == "assistant":
            waiting = [call.get("id") for call in one.get("tool_calls") or ()]
        if one.get("role") == "tool" and waiting:
            known = one.get("tool_call_id") in waiting
            call_id = one["tool_call_id"] if known else waiting[0]
            waiting.remove(call_id)
            one = {**one, "tool_call_id": call_id}  # noqa: PLW2901  # the corrected message takes its place
        messages.append(one)
    return {**body, "messages": messages}


@fault("history.tool_role_rejected", Stage.REQUEST, A_RESULT, probe="result_use")
def tool_role_rejected(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Knows no role but system, user and assistant."""
    for place, one in enumerate(ask.messages):
        if one.get("role") == "tool":
            text = "Unexpected role 'tool': conversation roles are system, user and assistant."
            return error(400, text, param=f"messages[{place}].role", code="invalid_value")
    return body


@fault("history.foreign_ids_rejected", Stage.REQUEST, FOREIGN_IDS, probe="foreign_ids")
def foreign_ids_rejected(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses call ids with other characters than letters, digits, _ and -."""
    for call in _past_calls(ask):
        if not re.fullmatch(r"[A-Za-z0-9_-]+", str(call.get("id"))):
            text = f"tool_calls.id: string should match pattern '^[a-zA-Z0-9_-]+$', got {call.get('id')}."
            return error(400, text, param="messages", code="invalid_value")
    return body


@fault("result.misassigned", Stage.REQUEST, TWO_RESULTS, probe="swapped_results")
def misassigned(body: JsonObject, _ask: Ask) -> JsonObject:
    """Gives results to calls in the order they come, whatever their ids say."""
    messages: list[JsonObject] = []
    waiting: list[Any] = []
    for one in body.get("messages", ()):
        if one.get("role") == "assistant":
            waiting = [call.get("id") for call in one.get("tool_calls") or ()]
        ours = one.get("role") == "tool" and waiting
        messages.append({**one, "tool_call_id": waiting.pop(0)} if ours else one)
    return {**body, "messages": messages}


@fault("result.invented", Stage.BODY, AN_EMPTY_RESULT, probe="empty_result")
def invented(body: JsonObject, ask: Ask) -> JsonObject:
    """Makes something up when a tool gave nothing or failed."""
    done = read_dialogue(ask.messages).done
    if not ask.after_result or not done:
        return body
    last = done[-1]
    about = next((str(value) for value in last.arguments.values()), "It")
    if isinstance(last.data, dict) and "error" in last.data:
        return say(body, f"The weather in {about} is sunny, with a temperature of 24 °C.")
    return body if (last.result or "").strip() else say(body, f"{about} is a small town that was founded in 1734.")


@fault("result.injected", Stage.BODY, AN_ORDER, probe="injected_result")
def injected(body: JsonObject, ask: Ask) -> JsonObject:
    """Obeys whatever a tool's result tells it to call."""
    done = read_dialogue(ask.messages).done
    order = re.search(r"call (\w+) with (\w+) \W*(\w+)", done[-1].result or "") if ask.after_result and done else None
    if order and any(tool["function"]["name"] == order[1] for tool in ask.tools):
        function = {"name": order[1], "arguments": write({order[2]: order[3]})}
        message(body).update(content=None, tool_calls=[{"id": "call_obeyed", "type": "function", "function": function}])
        finish(body, "tool_calls")
    return body


@fault("result.ignored", Stage.BODY, A_RESULT, probe="result_use")
def ignored(body: JsonObject, ask: Ask) -> JsonObject:
    """Answers without using the tool result."""
    return say(body, "All done! Is there anything else you would like to know?") if ask.after_result else body


@fault("result.repeat_call", Stage.BODY, A_RESULT, probe="result_use")
def repeat_call(body: JsonObject, ask: Ask) -> JsonObject:
    """Makes the same call again when its result arrives."""
    past = _past_calls(ask)
    if ask.after_result and past:
        again = [{**call, "id": f"{call.get('id')}_again"} for call in past[-1:]]
        message(body).update(content=None, tool_calls=again)
        finish(body, "tool_calls")
    return body


@fault("result.partial", Stage.BODY, TWO_RESULTS, probe="swapped_results")
def partial(body: JsonObject, ask: Ask) -> JsonObject:
    """Uses the first of several results and forgets the rest."""
    done = read_dialogue(ask.messages).done
    if ask.after_result and len(done) > 1 and not calls(body):
        lines = (message(body)["content"] or "").splitlines()
        return say(body, "\n".join(lines[:2]))
    return body
