"""From a request to an answer: the faithful way, with a persona's faults at their stages."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Answer, Events, Raw, Reset, Silence
from toolcert.simulate.asking import Ask
from toolcert.simulate.completing import Identity, complete
from toolcert.simulate.faults.base import Mode, Stage, Switch
from toolcert.simulate.remembering import thought_about
from toolcert.simulate.streaming import chunks, frames
from toolcert.simulate.validating import misshapen, refusal


def respond(ask: Ask, switches: tuple[Switch, ...], identity: Identity) -> Answer:
    """The answer to a chat request."""
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
