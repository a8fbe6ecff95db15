"""JSON mode: as an object, by schema, and by plain request if the mode is refused."""

from __future__ import annotations

import msgspec

from toolcert.core.requests import user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, probe
from toolcert.probes.oracle import Feature, answered, judgeable, said
from toolcert.probes.refusal_pairs import is_refusal
from toolcert.probes.sample_tools import STRING, parameters
from toolcert.probes.text_oracle import fault_of_json

OBJECT_MODE = Feature(what="response_format json_object", without=("response_format",))


def person_prompt(talk: Conversation) -> tuple[JsonObject, str]:
    """A made-up person and the request to write them down as JSON."""
    person = {"name": talk.nonce("person"), "age": talk.number("age", low=21, high=79), "city": talk.nonce("city")}
    prompt = (
        "Reply with a JSON object with the keys name, age and city. "
        f"name: {person['name']}, age: {person['age']}, city: {person['city']}"
    )
    return person, prompt


def judge_person(turn: Turn, person: JsonObject) -> ProbeResult:
    """Whether the text is bare JSON that says what was given."""
    if turn.text.lstrip().startswith("```"):
        return failed("wraps JSON in a Markdown fence", finding("json.fenced", turn.text, turn=turn.index))
    fault = fault_of_json(turn.text, person)
    if not fault:
        return passed()
    other = fault_of_json(turn.text, person, values=False) == ""
    return failed(fault, *([finding("json.other_values", turn.text, turn=turn.index)] if other else ()))


@probe
class JsonObjectMode(ScriptedProbe):
    """Three facts that cannot be guessed, wanted back as an object."""

    name = "json_object"
    group = "format"
    title = "JSON object mode gives bare JSON"
    meaning = "Answers can be read by a program without stripping and guessing."
    order = 30

    async def run(self, talk: Conversation) -> ProbeResult:
        person, prompt = person_prompt(talk)
        turn = await answered(talk, [user(prompt)], feature=OBJECT_MODE, response_format={"type": "json_object"})
        return judge_person(turn, person)


@probe
class JsonMode(ScriptedProbe):
    """Asks with response_format first, and without it if that is refused; the detail says so."""

    name = "json_mode"
    group = "format"
    title = "Answers in JSON when asked to"
    meaning = "Structured answers can be had, if need be without a mode for them."
    requests = 2
    order = 31

    async def run(self, talk: Conversation) -> ProbeResult:
        person, prompt = person_prompt(talk)
        messages = [user(prompt)]
        turn = await talk.ask(messages, response_format={"type": "json_object"})
        if turn.fault is None or not is_refusal(turn):
            return judge_person(await judgeable(talk, turn), person)
        result = judge_person(await answered(talk, messages, feature=None), person)
        return msgspec.structs.replace(result, detail={"without_mode": said(turn.fault)})


SCHEMA_MODE = Feature(what="response_format json_schema", without=("response_format",))
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "person",
        "strict": True,
        "schema": parameters(name=STRING, age={"type": "integer"}, city=STRING),
    },
}


@probe
class JsonSchemaMode(ScriptedProbe):
    """The same three facts, in the shape a schema demands."""

    name = "json_schema"
    group = "format"
    title = "JSON schema mode keeps to the schema"
    meaning = "Answers have the fields and types that a program expects."
    order = 40

    async def run(self, talk: Conversation) -> ProbeResult:
        person, prompt = person_prompt(talk)
        turn = await answered(talk, [user(prompt)], feature=SCHEMA_MODE, response_format=SCHEMA)
        if any(found.code == "json.ignored" for found in turn.findings):
            return failed("the answer does not keep to the schema")
        return judge_person(turn, person)
