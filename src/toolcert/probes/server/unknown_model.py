"""A model id that nobody serves."""

from __future__ import annotations

from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.asking import said, unmeasured
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.refusing import refuses
from toolcert.probes.registry import probe


@probe
class UnknownModel(ScriptedProbe):
    """The right answer is a refusal; the same request with the real id is the control."""

    name = "unknown_model"
    group = "server"
    title = "Refuses a made-up model id"
    meaning = "A misspelt id is noticed and not answered by some other model."
    requests = 2
    order = 20
    may_be_cut = True

    async def run(self, talk: Conversation) -> ProbeResult:
        made_up, messages = f"{talk.model}-{talk.nonce('model').lower()}", [user("Say hello.")]
        turn = await talk.control(messages, model=made_up, max_tokens=16)
        if turn.reply is not None and turn.reply.readable:
            answered_as = turn.reply.model if isinstance(turn.reply.model, str) else "no name"
            found = finding("model.unknown_accepted", f"asked {made_up}, answered as {answered_as}", turn=turn.index)
            return failed("answers a made-up model id with 200", found)
        control = await talk.control(messages, max_tokens=16)
        if control.fault is not None:
            return unmeasured(control.fault)
        if refuses(turn):
            return passed(status=turn.exchange.status)
        what = said(turn.fault) if turn.fault is not None else "an answer outside the protocol"
        return failed(f"does not refuse a made-up model id properly: {what}", status=turn.exchange.status)
