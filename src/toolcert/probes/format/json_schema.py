"""JSON schema mode."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.probes.asking import Feature, answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed
from toolcert.probes.format.json_object import judge_person, person_prompt
from toolcert.probes.registry import probe
from toolcert.probes.tools import STRING, parameters

MODE = Feature(what="response_format json_schema", without=("response_format",))
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
        turn = await answered(talk, [user(prompt)], feature=MODE, response_format=SCHEMA)
        if any(found.code == "json.ignored" for found in turn.findings):
            return failed("the answer does not keep to the schema")
        return judge_person(turn, person)
