"""The models of a simulated vendor: each a name, a sentence, and the faults that are switched on.

A model id is one of the names below, or
  fault:CODE[:OPTION]        the faithful model with one fault of the catalogue
  flaky:K/N[:PERSONA]        K of N answers are faithful, the others are the persona's (text-caller unless named)
  slow:SECONDS[:PERSONA]     the persona, answering later
"""

from __future__ import annotations

import random
import re

from toolcert.core.values import Value
from toolcert.simulate.faults import find_fault
from toolcert.simulate.faults.base import PLAIN, Stage, Switch
from toolcert.simulate.faults.calls import kimi_ids
from toolcert.simulate.quirks import (
    drop_lone_call,
    html_page,
    no_chat,
    no_choices,
    null_calls,
    often_busy,
    refuse_max_tokens,
    refuse_temperature,
    refuse_tools,
    wrapped_error,
    wrapped_in_list,
)
from toolcert.simulate.quirks import reasoning as shows_reasoning

_FLAKY = re.compile(r"flaky:(\d+)/(\d+)(?::(.+))?")
_SLOW = re.compile(r"slow:(\d+(?:\.\d+)?)(?::(.+))?")


class Flakiness(Value):
    """So many of every N answers are good; which ones is decided by chance, the same for a seed."""

    good: int
    of: int

    def fails(self, number: int, seed: str) -> bool:
        """Whether the answer of this number is one of the bad ones."""
        block, place = divmod(number, self.of)
        return place in random.Random(f"{seed}/{block}").sample(range(self.of), self.of - self.good)


class Persona(Value):
    """How one model behaves."""

    about: str
    switches: tuple[Switch, ...] = ()
    flakiness: Flakiness | None = None
    latency: float = 0.0
    """Seconds beyond the vendor's own."""
    chunk_gap: float = 0.0


def _fault(code: str, option: str = "") -> Switch:
    found = find_fault(code)
    if found is None:
        raise ValueError(f"no fault simulates {code}")
    return found.switch(option)


def _body(spoil: object, modes: object = None) -> Switch:
    settings = {"modes": modes} if modes else {}
    return Switch(stage=Stage.BODY, spoil=spoil, **settings)  # type: ignore[arg-type]  # quirks have the fault's form


def _request(spoil: object) -> Switch:
    return Switch(stage=Stage.REQUEST, spoil=spoil)  # type: ignore[arg-type]  # same


FAITHFUL = Persona(about="Does everything right.")
_NAMED: dict[str, Persona] = {
    "faithful": FAITHFUL,
    "slow": Persona(about="Does everything right, slowly.", latency=0.8, chunk_gap=0.02),
    "never-reads-results": Persona(about="Calls well, ignores results.", switches=(_fault("result.ignored"),)),
    "seven-of-ten": Persona(
        about="Calls properly seven times of ten.",
        switches=(_fault("call.in_text"),),
        flakiness=Flakiness(good=7, of=10),
    ),
    "text-caller": Persona(about="Leaves its calls in the text.", switches=(_fault("call.in_text"),)),
    "json-fencer": Persona(about="Wraps JSON in Markdown.", switches=(_fault("json.fenced"),)),
    "stream-cutter": Persona(about="Cuts its streams short.", switches=(_fault("stream.cut"),)),
    "no-tools": Persona(about="Refuses tools.", switches=(_request(refuse_tools),)),
    "overloaded": Persona(about="Is busy two times of five.", switches=(_request(often_busy),)),
    "score-100": Persona(about="Passes all five tests of the agent suite."),
    "score-90": Persona(about="Passes all but JSON.", switches=(_fault("json.ignored"),)),
    "score-65": Persona(about="Passes all but result use.", switches=(_fault("result.ignored"),)),
    "score-50": Persona(
        about="Passes basic and multi-tool only.",
        switches=(_fault("result.ignored"), _fault("json.ignored"), _fault("stream.cut")),
    ),
    "score-30": Persona(
        about="Passes multi-tool and streaming only.",
        switches=(_fault("result.ignored"), _fault("json.ignored"), _body(drop_lone_call, PLAIN)),
    ),
    "null-calls": Persona(about="Answers `tool_calls: null` and nothing else.", switches=(_body(null_calls),)),
    "no-choices": Persona(about="Answers `choices: []`.", switches=(_body(no_choices),)),
    "json-list": Persona(about="Answers with a JSON list.", switches=(_body(wrapped_in_list),)),
    "html-page": Persona(about="Answers with a web page.", switches=(_body(html_page),)),
    "error-200": Persona(about="Answers 200 with an error inside.", switches=(_body(wrapped_error),)),
    "reasoner": Persona(about="Shows its reasoning beside the answer.", switches=(_body(shows_reasoning),)),
    "reasoner-wants-it-back": Persona(
        about="Shows its reasoning and wants it back.",
        switches=(_fault("reasoning.required_back"), _body(shows_reasoning)),
    ),
    "refuses-max-tokens": Persona(about="Wants max_completion_tokens.", switches=(_request(refuse_max_tokens),)),
    "refuses-temperature": Persona(about="Has one temperature only.", switches=(_request(refuse_temperature),)),
    "kimi-faithful": Persona(about="Writes call ids as Kimi models need them.", switches=(_body(kimi_ids),)),
    "text-embedding-small": Persona(about="Cannot chat at all.", switches=(_request(no_chat),)),
}
DEMO = (
    "faithful",
    "slow",
    "never-reads-results",
    "seven-of-ten",
    "text-caller",
    "stream-cutter",
    "no-tools",
    "overloaded",
)
"""Eight that differ visibly."""
SCORING = ("score-100", "score-90", "score-65", "score-50", "score-30")
MALFORMED = ("null-calls", "no-choices", "json-list", "html-page", "error-200")


def names() -> tuple[str, ...]:
    """The ids of all named personas."""
    return tuple(_NAMED)


def persona(model: str) -> Persona | None:
    """The persona of a model id, or None where nobody has that name."""
    if model in _NAMED:
        return _NAMED[model]
    if model.startswith("fault:"):
        return _faulty(model)
    if match := _FLAKY.fullmatch(model):
        return _flaky(int(match[1]), int(match[2]), match[3] or "text-caller")
    if match := _SLOW.fullmatch(model):
        return _slowed(float(match[1]), match[2] or "faithful")
    return None


def _faulty(model: str) -> Persona | None:
    _, code, *rest = model.split(":", 2)
    found = find_fault(code)
    if found is None:
        return None
    extra = (_body(shows_reasoning),) if code == "reasoning.required_back" else ()
    return Persona(about=found.about, switches=(found.switch(rest[0] if rest else ""), *extra))


def _flaky(good: int, of: int, other: str) -> Persona | None:
    bad = persona(other)
    if bad is None or not 0 <= good <= of or of == 0:
        return None
    about = f"Faithful {good} times of {of}; otherwise: {bad.about}"
    return Persona(about=about, switches=bad.switches, flakiness=Flakiness(good=good, of=of))


def _slowed(seconds: float, other: str) -> Persona | None:
    found = persona(other)
    if found is None:
        return None
    return Persona(about=found.about, switches=found.switches, flakiness=found.flakiness, latency=seconds)
