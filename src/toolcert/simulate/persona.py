"""The models of a simulated vendor: each has a name, a description, and the faults that are switched on.

A model id is one of the names below, or
  fault:CODE[:OPTION]        the faithful model with one fault of the catalogue
  streamed:CODE[:OPTION]     the same fault, in streams only
  flaky:K/N[:PERSONA]        K of N answers are faithful, the others are the persona's (text-caller unless named)
  slow:SECONDS[:PERSONA]     the persona, answering later
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.values import JsonObject, Value
from toolcert.simulate.chat_completion import pieces
from toolcert.simulate.faults import find_fault
from toolcert.simulate.faults.base import PLAIN, STREAM, Stage, Switch, calls, message, say
from toolcert.simulate.faults.calls import kimi_ids
from toolcert.simulate.faults.text import THOUGHTS, recalled
from toolcert.simulate.traffic import Ask, Raw, error, rate_limited


def refuse_tools(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses requests with tools."""
    if not body.get("tools"):
        return body
    return error(400, f"The model `{ask.model}` does not support tools.", param="tools", code="unsupported_parameter")


def refuse_max_tokens(body: JsonObject, _ask: Ask) -> JsonObject | Raw:
    """Accepts only the newer name of the token limit."""
    if "max_tokens" not in body:
        return body
    text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return error(400, text, param="max_tokens", code="unsupported_parameter")


def refuse_temperature(body: JsonObject, _ask: Ask) -> JsonObject | Raw:
    """Accepts only the default temperature."""
    heat = body.get("temperature")
    if heat is None or heat == 1:
        return body
    text = (
        f"Unsupported value: 'temperature' does not support {heat} with this model. Only the default (1) is supported."
    )
    return error(400, text, param="temperature", code="unsupported_value")


def no_chat(_body: JsonObject, ask: Ask) -> Raw:
    """Refuses chat: the model makes embeddings."""
    return error(404, f"The model `{ask.model}` is not a chat model and is not supported here.", param="model")


def often_busy(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Answers two of five requests with 429."""
    return rate_limited(0.1) if ask.number % 5 in (1, 2) else body


def drop_lone_call(body: JsonObject, _ask: Ask) -> JsonObject:
    """Describes a single call instead of making it."""
    return say(body, "I would use a tool for that.") if len(calls(body)) == 1 else body


def null_calls(body: JsonObject, _ask: Ask) -> JsonObject:
    """Sends null for content and calls."""
    return say(body, None, tool_calls=None)


def shows_reasoning(body: JsonObject, ask: Ask) -> JsonObject:
    """Adds reasoning to the answer and its tokens to the usage; reads the reasoning that is sent back."""
    message(body)["reasoning_content"] = THOUGHTS
    if message(body).get("content"):
        message(body)["content"] += recalled(ask)
    spent = len(pieces(THOUGHTS))
    usage = body["usage"]
    usage["completion_tokens"] += spent
    usage["total_tokens"] += spent
    usage["completion_tokens_details"]["reasoning_tokens"] = spent
    return body


_NUMBER = re.compile(r"\d{1,4}(?:\.\d+)?")
_QUEUEING = 0.1
"""Seconds that `fault:load.queueing` takes longer for each other request in flight."""
_FLAKY = re.compile(r"flaky:(\d+)/(\d+)(?::(.+))?")
_SLOW = re.compile(r"slow:(\d+(?:\.\d+)?)(?::(.+))?")


class Flakiness(Value):
    """`good` of every `of` answers are faithful; the seed decides which."""

    good: int
    of: int

    def fails(self, number: int, seed: str) -> bool:
        """Whether the answer with this number is a faulty one."""
        block, place = divmod(number, self.of)
        return place in random.Random(f"{seed}/{block}").sample(range(self.of), self.of - self.good)


class Persona(Value):
    """How one model behaves."""

    about: str
    switches: tuple[Switch, ...] = ()
    flakiness: Flakiness | None = None
    latency: float = 0.0
    """Seconds of delay in addition to the vendor's."""
    chunk_gap: float = 0.0
    queueing: float = 0.0
    """Seconds of delay for each other request in flight."""


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
    "no-choices": Persona(about="Answers `choices: []`.", switches=(_fault("envelope.not_openai", "choices"),)),
    "json-list": Persona(about="Answers with a JSON list.", switches=(_fault("envelope.not_openai", "list"),)),
    "html-page": Persona(about="Answers with a web page.", switches=(_fault("envelope.not_openai", "html"),)),
    "error-200": Persona(about="Answers 200 with an error inside.", switches=(_fault("envelope.not_openai"),)),
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
"""The personas a vendor serves by default."""
SCORING = ("score-100", "score-90", "score-65", "score-50", "score-30")
MALFORMED = ("null-calls", "no-choices", "json-list", "html-page", "error-200")


def names() -> tuple[str, ...]:
    """The ids of all named personas."""
    return tuple(_NAMED)


def persona(model: str) -> Persona | None:
    """The persona of a model id, or None if there is none."""
    if model in _NAMED:
        return _NAMED[model]
    if model.startswith("fault:"):
        return _faulty(model)
    if model.startswith("streamed:"):
        return _streamed(_faulty(model))
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
    option = rest[0] if rest else ""
    seconds = _NUMBER.match(option)
    queueing = 0.0 if code != "load.queueing" else float(seconds[0]) if seconds else _QUEUEING
    return Persona(about=found.about, switches=(found.switch(option), *extra), queueing=queueing)


def _streamed(found: Persona | None) -> Persona | None:
    """The persona that is faithful if it does not stream."""
    if found is None:
        return None
    switches = tuple(msgspec.structs.replace(switch, modes=STREAM) for switch in found.switches)
    return Persona(about=f"In streams only: {found.about}", switches=switches)


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


_ACCEPTS_ALL = "fault:model.unknown_accepted"
_CREATED = 1_750_000_000


class Models:
    """The models of a vendor, with the number of requests to each."""

    def __init__(self, served: Sequence[str] | Mapping[str, str] | None, seed: int) -> None:
        given = DEMO if served is None else served
        aliases = dict(given) if isinstance(given, Mapping) else {model: model for model in given}
        self._served = {model: _known(name) for model, name in aliases.items()}
        self._lenient = next((model for model, name in aliases.items() if name == _ACCEPTS_ALL), None)
        self._seed = seed
        self._asked: Counter[tuple[str, bool]] = Counter()
        self._numbers: Counter[str] = Counter()

    def find(self, model: str) -> Persona | None:
        """The persona of a model id, which need not be listed."""
        return self._served.get(model) or persona(model) or self._lenient_one(model)

    def _lenient_one(self, model: str) -> Persona | None:
        """The persona that answers for unknown ids: they must contain its own id, or it must be the only model."""
        known = self._lenient is not None and (self._lenient in model or len(self._served) == 1)
        return self._served[self._lenient] if known and self._lenient else None

    def listing(self) -> list[JsonObject]:
        """The entries of the model list."""
        return [
            {"id": model, "object": "model", "created": _CREATED, "owned_by": "simulated"} for model in self._served
        ]

    def number(self, model: str) -> int:
        """Count a request to the model; returns how many came before it."""
        self._numbers[model] += 1
        return self._numbers[model] - 1

    def switches(self, ask: Ask, found: Persona) -> tuple[Switch, ...]:
        """The faults that apply to this answer; a flaky model is faithful at times.

        First turns and turns after a result are counted apart, so that `flaky:45/50` makes
        exactly 45 good calls in 50 conversations, however the requests interleave.
        """
        if found.flakiness is None:
            return found.switches
        key = (ask.model, ask.after_result)
        number = self._asked[key]
        self._asked[key] += 1
        return found.switches if found.flakiness.fails(number, f"{self._seed}/{ask.model}") else ()


def _known(name: str) -> Persona:
    found = persona(name)
    if found is None:
        raise UsageError(
            f"There is no simulated model {name!r}.",
            remedy=f"Choose from {', '.join(names())}, fault:CODE, streamed:CODE, flaky:K/N:PERSONA or "
            "slow:SECONDS:PERSONA.",
        )
    return found
