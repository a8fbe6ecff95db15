"""A scenario as a probe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from toolcert.core.outcomes import Outcome
from toolcert.diagnose import CallJudgement
from toolcert.probes.asking import TOOLS, answered
from toolcert.probes.base import Conversation, ProbeResult, Turn, failed, passed
from toolcert.probes.history import next_turn
from toolcert.probes.oracle import arguments_of, calls_of, why_not_called
from toolcert.probes.scenarios.placeholders import fill
from toolcert.probes.scenarios.values import ExpectedCall, Scenario


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
    """The scenario with words and numbers that nobody can guess in place of `{{word}}` and `{{number:label}}`."""
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
    """The first expected call for which none is left, however they are paired: one may meet several expectations."""
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
