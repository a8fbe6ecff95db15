"""A scenario: a probe written as data, its placeholders, and the probe that plays it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.text.json_value import same_value
from toolcert.core.text.spelling import close_names
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import CallJudgement
from toolcert.probes.base import Conversation, ProbeResult, Turn, failed, passed
from toolcert.probes.follow_up import next_turn
from toolcert.probes.oracle import TOOLS, answered, arguments_of, calls_of, why_not_called
from toolcert.probes.text_oracle import holds
from toolcert.settings.toml_lines import Place


class Accepted(Value):
    """What one argument may be."""

    one_of: tuple[Any, ...] = ()
    """Exact values; text is compared without letter case."""
    contains: str | None = None
    pattern: str | None = None
    optional: bool = False

    def takes(self, given: Any) -> bool:
        """Whether a value given in a call is accepted."""
        if self.contains is not None:
            return self.contains.casefold() in str(given).casefold()
        if self.pattern is not None:
            return re.search(self.pattern, str(given)) is not None
        return any(_same(given, wanted) for wanted in self.one_of)


class ExpectedCall(Value):
    """A call that must come; arguments that are not named may be anything the schema allows."""

    name: str
    arguments: dict[str, Accepted] = {}


class ExpectedText(Value):
    """What the text must and must not hold: letters without case and typography, numbers in any notation."""

    contains: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def lacking(self, text: str) -> str:
        """What is wrong with a text; empty when nothing is."""
        if not all(holds(text, wanted) for wanted in self.contains):
            return "the expected text is not in the answer"
        if self.any_of and not any(holds(text, wanted) for wanted in self.any_of):
            return "none of the expected texts is in the answer"
        if any(holds(text, unwanted) for unwanted in self.lacks):
            return "the answer holds a text that it must not hold"
        return ""


class Scenario(Value):
    """Messages, tools, and what is expected of the answer."""

    name: str
    messages: tuple[JsonObject, ...]
    title: str = ""
    meaning: str = ""
    tools: tuple[JsonObject, ...] = ()
    parameters: JsonObject = {}
    """More fields of the request: tool_choice, temperature, ..."""
    calls: tuple[ExpectedCall, ...] | None = None
    """None if calls do not matter; empty if there must be none."""
    any_order: bool = True
    extra_calls: bool = False
    text: ExpectedText | None = None
    results: JsonObject = {}
    """Tool to its answer; with it the calls are answered, and the text is that of the next turn."""
    needs: tuple[str, ...] = ()


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and isinstance(given, str | int | float) and not isinstance(given, bool):
        # A number may be wanted as text, because a placeholder is one; the schema judges the type.
        return str(given).strip().casefold() == wanted.strip().casefold()
    return same_value(given, wanted)


KINDS = ("word", "number")
_PLACEHOLDER = re.compile(rf"\{{\{{\s*({'|'.join(KINDS)})(?:\s*:\s*([\w -]+?))?\s*\}}\}}")
_SIMILAR = re.compile(r"\{\{\s*(\w+)\s*(?::[^{}]*)?\}\}")


class Source(Protocol):
    """Where words and numbers come from."""

    def nonce(self, label: str = "") -> str: ...
    def number(self, label: str = "") -> int: ...


def fill(text: str, source: Source) -> str:
    """`text` with a word or number in each place."""

    def replace(match: re.Match[str]) -> str:
        label = match[2] or ""
        return source.nonce(label) if match[1] == "word" else str(source.number(label))

    return _PLACEHOLDER.sub(replace, text)


def misspelt(value: Any, place: Place = ()) -> Iterator[tuple[Place, str, str]]:
    """Places inside `value` that hold almost a placeholder, with what is written there and what was probably meant.

    Other texts in double braces are left alone: prompts may mention templates.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from misspelt(inner, (*place, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from misspelt(inner, (*place, position))
    elif isinstance(value, str):
        for match in _SIMILAR.finditer(value):
            near = close_names(match[1].lower(), KINDS)
            if near and _PLACEHOLDER.fullmatch(match[0]) is None:
                yield place, match[0], near[0]


class ScenarioProbe:
    """Asks what the scenario says and judges by what it expects."""

    group = "scenario"
    order = 100
    may_be_cut = False

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.name = scenario.name
        self.title = scenario.title or scenario.name
        self.meaning = scenario.meaning or "The user's own expectation is met."
        self.needs = scenario.needs
        self.requests = 2 if scenario.results else 1

    @property
    def digest(self) -> str:
        """Tells one version of the scenario from another."""
        return hashlib.blake2b(msgspec.json.encode(self.scenario), digest_size=8).hexdigest()

    async def run(self, talk: Conversation) -> ProbeResult:
        scenario = filled(self.scenario, talk)
        messages = list(scenario.messages)
        parameters = dict(scenario.parameters) | ({"tools": list(scenario.tools)} if scenario.tools else {})
        turn = await answered(talk, messages, feature=TOOLS if scenario.tools else None, **parameters)
        result = judge_calls_of(turn, scenario)
        if result.outcome is Outcome.PASSED and scenario.results and turn.answer.called:
            _, turn = await next_turn(talk, messages, turn, _answers(scenario), **parameters)
        if result.outcome is not Outcome.PASSED or scenario.text is None:
            return result
        wrong = scenario.text.lacking(turn.text)
        handled = not wrong if scenario.results else None
        return (
            failed(wrong, called=result.called, handled=handled)
            if wrong
            else passed(called=result.called, handled=handled)
        )


def filled(scenario: Scenario, talk: Conversation) -> Scenario:
    """The scenario with words and numbers that cannot be guessed in place of `{{word}}` and `{{number:label}}`."""
    return msgspec.json.decode(fill(msgspec.json.encode(scenario).decode(), talk), type=Scenario)


def judge_calls_of(turn: Turn, scenario: Scenario) -> ProbeResult:
    """Whether the calls are the expected ones, each valid, in order or in any, and no others."""
    calls = calls_of(turn)
    if scenario.calls is None:
        return passed(called=bool(calls))
    if invalid := next((call for call in calls if not call.valid), None):
        return failed(why_not_called(turn, str(invalid.call.name)), called=False)
    unmet = _unpaired(calls, scenario.calls) if scenario.any_order else _out_of_order(calls, scenario.calls)
    if unmet is not None:
        return failed(why_not_called(turn, unmet.name), called=False)
    extra = len(calls) - len(scenario.calls)
    if extra > 0 and not scenario.extra_calls:
        return failed("calls more than expected" if scenario.calls else "calls where no call is expected", called=True)
    return passed(called=True if scenario.calls else None)


def _unpaired(calls: Sequence[CallJudgement], expected: Sequence[ExpectedCall]) -> ExpectedCall | None:
    """The first expected call for which none is left, however they are paired: one may fit several expectations."""
    taken: dict[int, int] = {}

    def find(wanted: int, tried: set[int]) -> bool:
        for number, call in enumerate(calls):
            if number in tried or not _meets(call, expected[wanted]):
                continue
            tried.add(number)
            if number not in taken or find(taken[number], tried):
                taken[number] = wanted
                return True
        return False

    return next((entry for wanted, entry in enumerate(expected) if not find(wanted, set())), None)


def _out_of_order(calls: Sequence[CallJudgement], expected: Sequence[ExpectedCall]) -> ExpectedCall | None:
    """The first expected call that does not come after the one before it; what lies between counts as extra."""
    left = iter(calls)
    return next((entry for entry in expected if not any(_meets(call, entry) for call in left)), None)


def _meets(call: CallJudgement, expected: ExpectedCall) -> bool:
    if call.call.name != expected.name:
        return False
    given = arguments_of(call)
    return all(
        accepted.takes(given[name]) if name in given else accepted.optional
        for name, accepted in expected.arguments.items()
    )


def _answers(scenario: Scenario) -> Callable[[CallJudgement], str]:
    def answer(call: CallJudgement) -> str:
        result = scenario.results.get(str(call.call.name), {"error": "no such tool"})
        return result if isinstance(result, str) else msgspec.json.encode(result).decode()

    return answer
