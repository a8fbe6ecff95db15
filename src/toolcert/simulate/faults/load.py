"""Faults that show only while many requests are in flight, or after many were answered."""

from __future__ import annotations

import re

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import SeenBy, Stage, arguments, calls, each_arguments, fault, write
from toolcert.simulate.situations import A_CALL
from toolcert.simulate.traffic import Ask

_LEVEL = 16
_SHARE = 0.02
_HALF_WRONG_AFTER = 2000
_QUOTED = re.compile(r'"([^"]+)"')


def _numbers(option: str, *defaults: float) -> tuple[float, ...]:
    """The numbers of an option such as `16/0.02`; missing ones have their defaults."""
    given = [float(part) for part in re.findall(r"\d+(?:\.\d+)?", option)]
    return (*given, *defaults[len(given) :])[: len(defaults)]


def _strikes(ask: Ask) -> bool:
    level, share = _numbers(ask.option, _LEVEL, _SHARE)
    return ask.crowd.most >= level and ask.dice.random() < share


def _garbled(value: object) -> object:
    """A text in which a part repeats and another is lost, as after a mix-up of cached keys and values."""
    if isinstance(value, str):
        half = max(1, len(value) // 2)
        return value[:half] + value[:half]
    return value


def _garble(body: JsonObject) -> JsonObject:
    for call in calls(body):
        given = arguments(call)
        if isinstance(given, dict):
            call["function"]["arguments"] = write({name: _garbled(value) for name, value in given.items()})
    return body


@fault("load.corruption", Stage.BODY, A_CALL, seen_by=SeenBy.LOAD)
def corruption(body: JsonObject, ask: Ask) -> JsonObject:
    """Garbles 2 % of its calls from 16 requests at a time on; option `8/0.1`: from 8 on, a tenth of them."""
    return _garble(body) if _strikes(ask) else body


@fault("load.crosstalk", Stage.BODY, A_CALL, seen_by=SeenBy.LOAD)
def crosstalk(body: JsonObject, ask: Ask) -> JsonObject:
    """Puts a value of another request into 2 % of its calls from 16 requests at a time on; option as above."""
    if not _strikes(ask) or ask.crowd.neighbour is None:
        return body
    own, other = (_quoted(one) for one in (ask.body, ask.crowd.neighbour))
    return each_arguments(body, lambda text: text.replace(own, other)) if own and other else body


def _quoted(body: JsonObject) -> str:
    """The first value in quotes that the user names."""
    text = next((str(one.get("content", "")) for one in Ask(body).messages if one.get("role") == "user"), "")
    found = _QUOTED.search(text)
    return found[1] if found else ""


@fault("load.degrades", Stage.BODY, A_CALL, seen_by=SeenBy.LOAD)
def degrades(body: JsonObject, ask: Ask) -> JsonObject:
    """Garbles more calls the more it has answered: after 2000 half of them; option: after how many half of them."""
    (half,) = _numbers(ask.option, _HALF_WRONG_AFTER)
    return _garble(body) if ask.dice.random() < min(1.0, ask.number / (2 * max(1.0, half))) else body


@fault("load.queueing", Stage.BODY, A_CALL, seen_by=SeenBy.LOAD)
def queueing(body: JsonObject, _ask: Ask) -> JsonObject:
    """Takes 0.1 s longer for each other request in flight; option: how many seconds."""
    return body
