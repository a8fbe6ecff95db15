"""JSON mode that does not give JSON."""

from __future__ import annotations

import json

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.dialogue import as_json
from toolcert.simulate.faults.base import Stage, fault, finish, message
from toolcert.simulate.situations import JSON_OBJECT
from toolcert.simulate.traffic import Ask


def _is_json(body: JsonObject) -> bool:
    return isinstance(as_json(message(body).get("content") or ""), (dict, list))


@fault(
    "json.fenced",
    Stage.BODY,
    JSON_OBJECT,
    probe_alone="many clients cut a fence off, and a probe asks for bare JSON",
)
def fenced(body: JsonObject, _ask: Ask) -> JsonObject:
    """Wraps JSON in a Markdown fence."""
    if _is_json(body):
        message(body)["content"] = f"```json\n{message(body)['content']}\n```"
    return body


@fault("json.invalid", Stage.BODY, JSON_OBJECT)
def invalid(body: JsonObject, _ask: Ask) -> JsonObject:
    """Leaves a trailing comma."""
    if _is_json(body):
        message(body)["content"] = message(body)["content"][:-1] + ", }"
    return body


@fault("json.ignored", Stage.BODY, JSON_OBJECT)
def ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Answers in prose where JSON was wanted."""
    if _is_json(body):
        message(body)["content"] = "Sure! The person you describe is called Ada, is in her thirties and lives up north."
    return body


@fault("json.other_values", Stage.BODY, JSON_OBJECT, probe="json_object")
def other_values(body: JsonObject, _ask: Ask) -> JsonObject:
    """Gives the fields that were asked for, with other values."""
    value = as_json(message(body).get("content") or "")
    if isinstance(value, dict):
        changed = {name: one + 1 if isinstance(one, int) else f"no {one}" for name, one in value.items()}
        message(body)["content"] = json.dumps(changed)
    return body


@fault("json.whitespace", Stage.BODY, JSON_OBJECT)
def whitespace(body: JsonObject, ask: Ask) -> JsonObject:
    """Writes line breaks in JSON mode until the token limit ends it."""
    if ask.body.get("response_format") is not None:
        limit = ask.token_limit or 400
        message(body)["content"] = "{" + "\n" * (limit - 1)
        body["usage"] |= {"completion_tokens": limit, "total_tokens": body["usage"]["prompt_tokens"] + limit}
        finish(body, "length")
    return body
