"""Judging the calls of an answer against the tools that were offered, once for everybody who asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcert.core.replies import Reply, ToolCall
from toolcert.core.requests import Request
from toolcert.core.schema import Bucket, Judgement, SchemaJudge, Validator
from toolcert.core.values import Value
from toolcert.diagnose.argtext import Damage, damage_of
from toolcert.diagnose.names import meant_tool

UNKNOWN_NAME = "UnknownName"
NO_SCHEMA = "NoSchema"

_judge = SchemaJudge()
_FOUND_VALID = Judgement(ok=True)


class CallJudgement(Value):
    """What is to be said about one call: its name, its arguments, and the buckets it counts in."""

    position: int
    call: ToolCall
    known: bool
    """Whether the name is exactly that of an offered tool."""
    meant: str | None = None
    """The offered tool whose name was mangled, where it is plain which one."""
    judgement: Judgement = _FOUND_VALID
    """The arguments against the schema; of an unknown tool, whether they are JSON at all."""
    damage: Damage | None = None
    """How arguments that do not parse are broken."""
    parameters: Any = None
    """The schema the arguments were judged by."""
    buckets: tuple[str, ...] = ()
    """InvalidJson, UnknownName, SchemaMismatch.<keyword>, NoSchema, BadSchema, Empty, DoubleEncoded, NotString."""
    valid: bool | None = True
    """None where the tool's own schema is broken, so that nothing can be said."""


class Offer:
    """The tools of a request by name, with those schemas compiled that were needed."""

    __slots__ = ("_others", "_validators", "parameters")

    def __init__(self, request: Request) -> None:
        self.parameters = offered_tools(request)
        self._others = _second_offers(request)
        self._validators: dict[str, Validator] = {}

    def validator(self, name: str) -> Validator:
        """The compiled schema of an offered tool."""
        found = self._validators.get(name)
        if found is None:
            found = self._validators[name] = _judge.compile(self.parameters[name])
        return found

    def judge(self, name: str, arguments: Any) -> tuple[Any, Judgement]:
        """The parameters a call of an offered tool is judged by, and the judgement.

        Which of two namesakes a model meant nobody knows; offering both is the request's fault, so the kinder counts.
        """
        parameters, judgement = self.parameters[name], self.validator(name).judge(arguments)
        for other in self._others.get(name, ()) if not judgement.ok else ():
            kinder = _judge.judge(other, arguments)
            if kinder.ok or (kinder.ok is None and judgement.ok is False):
                parameters, judgement = other, kinder
        return parameters, judgement


def judge_calls(request: Request, reply: Reply, offer: Offer | None = None) -> tuple[CallJudgement, ...]:
    """One judgement for each call of the answer, in order; `offer` is for those who judge many answers by one."""
    if not reply.tool_calls:
        return ()
    offer = offer or Offer(request)
    return tuple([_judge_call(position, call, offer) for position, call in enumerate(reply.tool_calls)])


def schema_fault(parameters: Any) -> str:
    """Why a tool's schema cannot be used; empty where it can."""
    return _judge.compile(parameters).fault


def offered_tools(request: Request) -> dict[str, Any]:
    """The parameters of every offered function by its name; of two namesakes, those of the first."""
    offered: dict[str, Any] = {}
    for name, parameters in _functions(request):
        offered.setdefault(name, parameters)
    return offered


def _second_offers(request: Request) -> dict[str, list[Any]]:
    """The other parameters of functions whose name is offered more than once."""
    met: set[str] = set()
    others: dict[str, list[Any]] = {}
    for name, parameters in _functions(request):
        if name in met:
            others.setdefault(name, []).append(parameters)
        met.add(name)
    return others


def _functions(request: Request) -> Iterator[tuple[str, Any]]:
    for tool in request.tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield function["name"], function.get("parameters")


def _judge_call(position: int, call: ToolCall, offer: Offer) -> CallJudgement:
    name = call.name
    if not isinstance(name, str) or name not in offer.parameters:
        return _judge_unknown(position, call, offer.parameters)
    parameters, judgement = offer.judge(name, call.arguments)
    if judgement.ok and judgement.bucket is None and parameters:
        return CallJudgement(position=position, call=call, known=True, judgement=judgement, parameters=parameters)
    return CallJudgement(
        position=position,
        call=call,
        known=True,
        judgement=judgement,
        damage=_damage(call, judgement),
        parameters=parameters,
        buckets=_buckets(judgement, parameters),
        valid=judgement.ok,
    )


def _judge_unknown(position: int, call: ToolCall, offered: dict[str, Any]) -> CallJudgement:
    meant = meant_tool(call.name, offered)
    judgement = _judge.judge(offered.get(meant) if meant else None, call.arguments)
    return CallJudgement(
        position=position,
        call=call,
        known=False,
        meant=meant,
        judgement=judgement,
        damage=_damage(call, judgement),
        parameters=offered.get(meant) if meant else None,
        buckets=(UNKNOWN_NAME,),
        valid=False,
    )


def _damage(call: ToolCall, judgement: Judgement) -> Damage | None:
    return damage_of(call.arguments) if judgement.bucket is Bucket.INVALID_JSON else None


def _buckets(judgement: Judgement, parameters: Any) -> tuple[str, ...]:
    if judgement.bucket is None:
        return () if parameters else (NO_SCHEMA,)
    if judgement.bucket is not Bucket.SCHEMA_MISMATCH:
        return (str(judgement.bucket),)
    keywords = dict.fromkeys(violation.keyword for violation in judgement.violations)
    return tuple(f"{Bucket.SCHEMA_MISMATCH}.{keyword}" for keyword in keywords)
