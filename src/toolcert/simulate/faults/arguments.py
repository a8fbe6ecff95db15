"""Arguments that no client can use, or only one that guesses."""

from __future__ import annotations

import json
import re

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Raw, error
from toolcert.simulate.asking import Ask
from toolcert.simulate.faults.base import STREAM, Stage, fault
from toolcert.simulate.faults.shaping import arguments, calls, each_arguments, write
from toolcert.simulate.situations import A_CALL, LEGAL_SCHEMA, STRICT

_FEATURES = re.compile(r'"(?:\$ref|anyOf|oneOf|allOf|pattern|nullable)"')


@fault("args.invalid_json", Stage.BODY, A_CALL)
def invalid_json(body: JsonObject, _ask: Ask) -> JsonObject:
    """Writes arguments the way another language prints them."""
    return each_arguments(body, lambda text: text.replace('"', "'"))


@fault("args.empty", Stage.BODY, A_CALL)
def empty(body: JsonObject, _ask: Ask) -> JsonObject:
    """Loses all arguments."""
    return each_arguments(body, lambda _text: "")


@fault("args.not_string", Stage.BODY, A_CALL)
def not_string(body: JsonObject, _ask: Ask) -> JsonObject:
    """Sends arguments as an object."""
    for call in calls(body):
        call["function"]["arguments"] = arguments(call)
    return body


@fault("args.double_encoded", Stage.BODY, A_CALL)
def double_encoded(body: JsonObject, _ask: Ask) -> JsonObject:
    """Writes the arguments as JSON inside a JSON string."""
    return each_arguments(body, lambda text: json.dumps(text, ensure_ascii=False))


@fault("args.escaped", Stage.BODY, A_CALL)
def escaped(body: JsonObject, ask: Ask) -> JsonObject:
    """Writes every letter beyond ASCII as an escape; option `twice`: as an escape that stays one."""
    extra = "\\" if ask.option == "twice" else ""

    def escape(letter: str) -> str:
        return letter if letter.isascii() else json.dumps(letter)[1:-1].replace("\\u", f"{extra}\\u")

    return each_arguments(body, lambda text: "".join(map(escape, text)))


@fault("args.doubled", Stage.BODY, A_CALL)
def doubled(body: JsonObject, _ask: Ask) -> JsonObject:
    """Writes the arguments twice in one string."""
    return each_arguments(body, lambda text: text + text)


@fault(
    "args.lost",
    Stage.BODY,
    A_CALL,
    modes=STREAM,
    probe="stream_twin",
    companions={
        "args.empty": "the streamed answer alone shows that arguments are missing",
        "stream.differs": "what one twin has and the other lacks is a difference",
    },
)
def lost(body: JsonObject, _ask: Ask) -> JsonObject:
    """Loses the arguments when it streams."""
    return each_arguments(body, lambda _text: "")


@fault("schema.valid_rejected", Stage.REQUEST, LEGAL_SCHEMA, probe="schema_ladder")
def valid_rejected(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses tools whose schema uses references, alternatives or patterns."""
    found = _FEATURES.search(json.dumps(ask.tools))
    if found is None:
        return body
    return error(400, f"Unsupported schema: the keyword {found[0]} is not supported in 'tools'.", param="tools")


@fault(
    "schema.strict_unenforced",
    Stage.BODY,
    STRICT,
    probe="strict",
    companions={"args.schema.additionalProperties": "a schema that is not enforced is broken somewhere"},
)
def strict_unenforced(body: JsonObject, ask: Ask) -> JsonObject:
    """Accepts `strict` and writes what it likes."""
    strict = {tool["function"]["name"] for tool in ask.tools if tool["function"].get("strict") is True}
    for call in calls(body):
        if call["function"]["name"] in strict and isinstance(value := arguments(call), dict):
            call["function"]["arguments"] = write({**value, "comment": "as requested"})
    return body
