"""The table of faults: each is a function that spoils a faithful answer, with the finding it must cause."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, TypeAlias

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.situations import Situation


def message(body: JsonObject) -> JsonObject:
    """The message of the first choice."""
    found: JsonObject = body["choices"][0]["message"]
    return found


def calls(body: JsonObject) -> list[JsonObject]:
    """The calls of the answer, or an empty list."""
    return message(body).get("tool_calls") or []


def arguments(call: JsonObject) -> Any:
    """The arguments of a call as a value, or None if they were truncated."""
    try:
        return json.loads(call["function"]["arguments"])
    except ValueError:
        return None


def write(value: Any) -> str:
    """Arguments as a model writes them."""
    return json.dumps(value, ensure_ascii=False)


def finish(body: JsonObject, reason: Any) -> JsonObject:
    """The body with another finish reason."""
    body["choices"][0]["finish_reason"] = reason
    return body


def say(body: JsonObject, content: str | None, **more: Any) -> JsonObject:
    """The body with words instead of calls."""
    body["choices"][0]["message"] = {"role": "assistant", "content": content, "refusal": None, **more}
    return finish(body, "stop")


def each_arguments(body: JsonObject, change: Callable[[str], Any]) -> JsonObject:
    """The body with the text of every call's arguments changed."""
    for call in calls(body):
        call["function"]["arguments"] = change(call["function"]["arguments"])
    return body


def call_deltas(chunks: list[JsonObject]) -> Iterator[tuple[int, JsonObject]]:
    """Every call delta of a stream, with the index of its chunk."""
    for place, chunk in enumerate(chunks):
        for choice in chunk["choices"]:
            for piece in choice["delta"].get("tool_calls") or ():
                yield place, piece


def is_last(chunk: JsonObject) -> bool:
    """Whether the chunk ends its choice."""
    return any(choice.get("finish_reason") for choice in chunk["choices"])


class Stage(StrEnum):
    """The stage of an exchange at which a fault acts."""

    REQUEST = "request"
    """The request before the model reads it; may be refused or read wrongly."""
    BODY = "body"
    """The complete answer, before it is split into events."""
    CHUNKS = "chunks"
    """The events of a stream."""
    FRAMES = "frames"
    """The bytes of a stream."""


class Mode(StrEnum):
    """How an answer is sent."""

    PLAIN = "plain"
    STREAM = "stream"


class SeenBy(StrEnum):
    """What reveals a fault: one exchange, a probe that knows what it asked, or a comparison of two runs."""

    EXCHANGE = "exchange"
    PROBE = "probe"
    COMPARISON = "comparison"
    LOAD = "load"
    """Only many requests at a time reveal it."""


Spoil: TypeAlias = Callable[[Any, Any], Any]
"""(data of the stage, the Ask) -> what is used instead."""

PLAIN = (Mode.PLAIN,)
STREAM = (Mode.STREAM,)
BOTH = (Mode.PLAIN, Mode.STREAM)


class Switch(Value):
    """A fault that is switched on, with its option."""

    stage: Stage
    spoil: Spoil
    modes: tuple[Mode, ...] = BOTH
    option: str = ""


class Fault(Value):
    """A fault: the finding it causes, how it does so, and which other findings come with it."""

    code: str
    stage: Stage
    spoil: Spoil
    about: str
    """One sentence: what this vendor does."""
    situation: Situation
    """A request that reveals the fault."""
    modes: tuple[Mode, ...] = BOTH
    seen_by: SeenBy = SeenBy.EXCHANGE
    probe: str | None = None
    """The probe that reveals it, if a probe is needed."""
    companions: dict[str, str] = {}
    """Other findings that always follow from it, each with the reason; they are folded under it."""
    option: str = ""
    """The option without which the fault does not show."""
    probe_alone: str = ""
    """Why only a probe can judge it, if one answer shows it as no more than a warning; empty if verify does."""

    @property
    def model(self) -> str:
        """The model id that switches this fault on."""
        return f"fault:{self.code}:{self.option}" if self.option else f"fault:{self.code}"

    def switch(self, option: str = "") -> Switch:
        """This fault switched on."""
        return Switch(stage=self.stage, spoil=self.spoil, modes=self.modes, option=option)


_faults: dict[str, Fault] = {}


def fault(
    code: str,
    stage: Stage,
    situation: Situation,
    *,
    modes: tuple[Mode, ...] = BOTH,
    seen_by: SeenBy = SeenBy.EXCHANGE,
    probe: str | None = None,
    companions: dict[str, str] | None = None,
    option: str = "",
    probe_alone: str = "",
) -> Callable[[Spoil], Spoil]:
    """Register a function as a fault; its docstring says what the vendor does."""

    def register(function: Spoil) -> Spoil:
        if code in _faults:
            raise ValueError(f"fault {code} is declared twice")
        _faults[code] = Fault(
            code=code,
            stage=stage,
            spoil=function,
            about=" ".join((function.__doc__ or "").split()),
            situation=situation,
            modes=modes,
            seen_by=SeenBy.PROBE if probe else seen_by,
            probe=probe,
            companions=companions or {},
            option=option,
            probe_alone=probe_alone,
        )
        return function

    return register


def registered() -> Iterator[Fault]:
    """Every registered fault, by code."""
    return iter(sorted(_faults.values(), key=lambda one: one.code))


def named(code: str) -> Fault | None:
    """The fault with this code, or None."""
    return _faults.get(code)
