"""JSON by mode or, where the mode is refused, by plain request: the agent suite's question."""

from __future__ import annotations

import msgspec

from toolcert.core.requests import user
from toolcert.probes.asking import REFUSALS, answered, judgeable, said
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe
from toolcert.probes.format.json_object import judge_person, person_prompt
from toolcert.probes.registry import probe


@probe
class JsonMode(ScriptedProbe):
    """Asks with response_format first, and without it where that is refused; the detail says so."""

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
        if turn.fault is None or turn.fault.kind not in REFUSALS:
            return judge_person(await judgeable(talk, turn), person)
        result = judge_person(await answered(talk, messages, feature=None), person)
        return msgspec.structs.replace(result, detail={"without_mode": said(turn.fault)})
