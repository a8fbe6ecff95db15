"""Does the model go on with results: in its answer, and in the next of several steps?"""

from __future__ import annotations

import msgspec

from toolcert.core.findings import Finding
from toolcert.core.requests import tool, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import CallJudgement, finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, probe
from toolcert.probes.follow_up import always, next_turn, same_call
from toolcert.probes.oracle import (
    answered,
    arguments_of,
    calls_of,
    carries,
    equals,
    mentions,
    valid_calls,
    why_not_called,
)
from toolcert.probes.sample_tools import WEATHER, described, parameters
from toolcert.probes.text_oracle import says_number


@probe
class ResultUse(ScriptedProbe):
    """The tool names its weather station, which cannot be guessed."""

    name = "result_use"
    group = "calling"
    title = "Uses what the tool returned"
    meaning = "The answer is built on the tool's result and not on what the model believes."
    requests = 2
    order = 30

    def __init__(self, city: str | None = None) -> None:
        self._city = city

    async def run(self, talk: Conversation) -> ProbeResult:
        city, station = self._city or talk.nonce("city"), talk.nonce("station")
        prompt = f"Get the weather in {city} with get_weather, then tell me the temperature and the station name."
        messages = [user(prompt)]
        turn = await answered(talk, messages, tools=[WEATHER])
        if not any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return failed(why_not_called(turn, "get_weather"), called=False)

        def result(call: CallJudgement) -> str:
            report = {"temperature": 21, "conditions": "clear", "station": station}
            return msgspec.json.encode({"city": arguments_of(call).get("city", city)} | report).decode()

        _, second = await next_turn(talk, messages, turn, result, tools=[WEATHER])
        return judge_use(turn, second, station)


def judge_use(first: Turn, second: Turn, secret: str) -> ProbeResult:
    """Whether the second answer holds the value that only the tool knew."""
    if mentions(second, secret):
        return passed(called=True, handled=True)
    if any(same_call(call, before) for call in calls_of(second) for before in calls_of(first)):
        reason, code = "makes the same call again instead of using its result", "result.repeat_call"
    else:
        reason, code = "does not use the tool's result", "result.ignored"
    evidence = second.text or f"{len(second.answer.tool_calls)} calls, no text"
    return failed(reason, finding(code, evidence, turn=second.index), called=True, handled=False)


TOOLS = [
    tool("get_total", "Get the total of an order.", parameters(order_id=described("Id of the order"))),
    tool("get_user", "Find a user by name.", parameters(name=described("Name of the user"))),
    tool("get_orders", "List the orders of a user.", parameters(user_id=described("Id of the user"))),
]


class Step(msgspec.Struct, frozen=True):
    """One link of the chain: the call it wants and what the tool answers."""

    tool: str
    wanted: dict[str, str]
    result: JsonObject


@probe
class MultiStep(ScriptedProbe):
    """From a name to an id, from that to another, from that to a sum."""

    name = "multi_step"
    group = "calling"
    title = "Carries results from step to step"
    meaning = "Tasks of several dependent steps can be left to the model."
    needs = ("basic",)
    requests = 4
    order = 60

    async def run(self, talk: Conversation) -> ProbeResult:
        person, total = talk.nonce("person"), f"{talk.number('total')}.50"
        steps = _steps(talk, person, total)
        prompt = (
            f"First call get_user for {person} to find the user_id. Then call get_orders with that user_id. "
            "Then call get_total with the order_id and tell me the total."
        )
        messages = [user(prompt)]
        turn = await answered(talk, messages, tools=TOOLS)
        for number, step in enumerate(steps):
            if reason := _wrong_step(turn, step):
                findings = _repeated(turn, steps[:number])
                return failed(f"step {number + 1}: {reason}", *findings, called=number > 0, handled=False, steps=number)
            messages, turn = await next_turn(talk, messages, turn, always(step.result), tools=TOOLS)
        return _judge_total(turn, total, len(steps))


def _steps(talk: Conversation, person: str, total: str) -> list[Step]:
    user_id, order_id = f"u-{talk.number('user')}", f"o-{talk.number('order')}"
    return [
        Step(tool="get_user", wanted={"name": person}, result={"user_id": user_id}),
        Step(tool="get_orders", wanted={"user_id": user_id}, result={"order_id": order_id}),
        Step(tool="get_total", wanted={"order_id": order_id}, result={"total": total}),
    ]


def _wrong_step(turn: Turn, step: Step) -> str:
    if any(equals(call, **step.wanted) for call in valid_calls(turn, step.tool)):
        return ""
    return why_not_called(turn, step.tool)


def _repeated(turn: Turn, done: list[Step]) -> tuple[Finding, ...]:
    for call in calls_of(turn):
        if any(call.call.name == step.tool and equals(call, **step.wanted) for step in done):
            return (_repeat_finding(call, turn),)
    return ()


def _repeat_finding(call: CallJudgement, turn: Turn) -> Finding:
    return finding("result.repeat_call", f"{call.call.name} again", turn=turn.index, call=call.position)


def _judge_total(turn: Turn, total: str, steps: int) -> ProbeResult:
    if says_number(turn.text, total):
        return passed(called=True, handled=True, steps=steps)
    found = finding("result.ignored", turn.text or "no text", turn=turn.index)
    return failed("the last result is not in the answer", found, called=True, handled=False, steps=steps)
