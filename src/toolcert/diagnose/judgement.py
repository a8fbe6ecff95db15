"""The judgement of each call against the offered tools: its name, its arguments, and how broken ones are broken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from toolcert.core.exchanges import Reply, ToolCall
from toolcert.core.requests import Request, named_functions
from toolcert.core.schema.judge import Bucket, Judgement, SchemaJudge, Validator
from toolcert.core.text.json_text import NotJson, leading_json
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value

_BETWEEN = lazy_pattern(r"[\s,;]*")
_TOKEN = lazy_pattern(r'"(?:[^"\\]|\\.)*"|"|[\[\]{}]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
_OPEN_ESCAPE = lazy_pattern(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")
_OPEN_SCALAR = lazy_pattern(r"(?<![\w.+-])(?:-?\d[\d.eE+-]*|-|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)$")
_ENDINGS = ("", "null", ":null", '"":null')
"""Endings that may complete a prefix: nothing, a value, a colon and a value, the next member."""


class Rules(StrEnum):
    """Whose rules decide what a valid call is."""

    OURS = "ours"
    OLDER = "older"
    """Only finish_reason `tool_calls` counts as calling; empty arguments and broken schemas make a call invalid."""


class Damage(StrEnum):
    """What happened to arguments that do not parse."""

    TRUNCATED = "truncated"
    """The text ends before the JSON does; what there is of it is well-formed."""
    DOUBLED = "doubled"
    """The same JSON several times, one after the other."""
    GLUED = "glued"
    """Several different JSON objects, one after the other."""
    BROKEN = "broken"
    """Anything else."""


def damage_of(text: object) -> Damage:
    """What is wrong with `text`, which is known not to be JSON."""
    if not isinstance(text, str):
        return Damage.BROKEN
    values, rest = _leading_values(text)
    if len(values) > 1 and not rest:
        return Damage.DOUBLED if all(value == values[0] for value in values) else Damage.GLUED
    if values and rest.startswith("{"):
        return Damage.GLUED
    return Damage.TRUNCATED if not values and is_unterminated(text) else Damage.BROKEN


def is_unterminated(text: str) -> bool:
    """Whether `text` is the beginning of a JSON object or array whose end is missing."""
    text = text.strip()
    stack, in_string = _open_parts(text)
    if not text.startswith(("{", "[")) or not stack:
        return False
    closing = "".join(reversed(stack))
    if in_string:
        text = _OPEN_ESCAPE.sub("", text) + '"'
    candidates = [text + ending + closing for ending in _ENDINGS]
    stump = text.rstrip(",") if text.endswith(",") else _OPEN_SCALAR.sub("null", text)
    candidates.append(stump + closing)
    return any(_is_json(candidate) for candidate in candidates)


def _leading_values(text: str) -> tuple[list[dict[str, object]], str]:
    """The objects that `text` begins with, and what is left behind them."""
    values: list[dict[str, object]] = []
    position = _skip(text, 0)
    while text.startswith("{", position):
        try:
            value, position = leading_json(text, position)
        except NotJson:
            break
        values.append(value)
        position = _skip(text, position)
    return values, text[position:]


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _open_parts(text: str) -> tuple[list[str], bool]:
    """The brackets still to be closed, and whether the text ends inside a string."""
    stack: list[str] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == '"':
            return stack, True
        if mark in _CLOSERS:
            stack.append(_CLOSERS[mark])
        elif mark in ("}", "]") and (not stack or stack.pop() != mark):
            return [], False
    return stack, False


def _is_json(text: str) -> bool:
    try:
        _, end = leading_json(text)
    except NotJson:
        return False
    return end == len(text)


_SHORTEST_CUT = 4
"""A shorter stump ("get") names too many tools to name one."""
_NAMESPACE = lazy_pattern(r"[.:/]|__")
_DECORATION = lazy_pattern(r"[^0-9a-z]+")
_FORMAT_WORDS = (
    r"(?:json|commentary|analysis|final|assistant|constrain|response|functions?|tool_?calls?|arguments|args)+"
)
_RESIDUE = lazy_pattern(rf"{_FORMAT_WORDS}|[_:#-]?\d{{1,3}}")
"""What a parser leaves behind a name when it cuts in the wrong place: a word of the format, or a counter."""
_PREFIX = lazy_pattern(r"(?:functions?|tools?|assistant|commentary|call)+")


def meant_tool(name: object, offered: Iterable[str]) -> str | None:
    """The one offered tool whose name was prefixed, cut, extended or respelt into `name`."""
    if not isinstance(name, str) or not name.strip():
        return None
    name, tools = name.strip(), [tool for tool in offered if tool]
    whole = [tool for tool in tools if _holds(name, tool)]
    if whole:
        return max(whole, key=len)
    cut = [tool for tool in tools if len(name) >= _SHORTEST_CUT and tool.startswith(name)]
    return cut[0] if len(cut) == 1 else None


def _holds(name: str, tool: str) -> bool:
    """Whether the whole name of the tool is in there, in some spelling."""
    return (
        _plain(name) == _plain(tool)
        or tool in _NAMESPACE.split(name)
        or (name.startswith(tool) and _is_residue(name[len(tool) :], tool))
        or (name.endswith(tool) and _PREFIX.fullmatch(name.removesuffix(tool)) is not None)
    )


def _plain(name: str) -> str:
    """Letters and digits only: `get-weather`, `Get_Weather` and `getWeather` are one."""
    return _DECORATION.sub("", name.lower())


def _is_residue(rest: str, tool: str) -> bool:
    """What a parser left behind a name: markup, arguments, a word of the format, or the name again."""
    if not rest or not (rest[0].isalnum() or rest[0] in "_-") or rest.startswith(tool):
        return True
    return _RESIDUE.fullmatch(rest) is not None


UNKNOWN_NAME = "UnknownName"
NO_SCHEMA = "NoSchema"

_judge = SchemaJudge()
_FOUND_VALID = Judgement(ok=True)


class CallJudgement(Value):
    """The judgement of one call: its name, its arguments, and the buckets it counts in."""

    position: int
    call: ToolCall
    known: bool
    """Whether the name is exactly that of an offered tool."""
    meant: str | None = None
    """The offered tool whose name was mangled, where only one fits."""
    judgement: Judgement = _FOUND_VALID
    """The arguments against the schema; of an unknown tool, whether they are JSON at all."""
    damage: Damage | None = None
    """How arguments that do not parse are broken."""
    parameters: Any = None
    """The schema the arguments were judged by."""
    buckets: tuple[str, ...] = ()
    """Values of `Bucket`, and UnknownName, NoSchema, SchemaMismatch.<keyword>."""
    valid: bool | None = True
    """None where the tool's own schema is broken, so that nothing can be judged."""


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

        If two tools share a name, which one was meant is unknown: the request's fault, so the milder judgement counts.
        """
        parameters, judgement = self.parameters[name], self.validator(name).judge(arguments)
        for other in self._others.get(name, ()) if not judgement.ok else ():
            kinder = _judge.judge(other, arguments)
            if kinder.ok or (kinder.ok is None and judgement.ok is False):
                parameters, judgement = other, kinder
        return parameters, judgement


def judge_calls(request: Request, reply: Reply, offer: Offer | None = None) -> tuple[CallJudgement, ...]:
    """One judgement for each call of the answer, in order; pass `offer` to judge many answers to the same tools."""
    if not reply.tool_calls:
        return ()
    offer = offer or Offer(request)
    return tuple([_judge_call(position, call, offer) for position, call in enumerate(reply.tool_calls)])


SCHEMA_FINDINGS = {Bucket.BAD_SCHEMA: "dataset.bad_schema", Bucket.TOO_COMPLEX: "dataset.schema_too_complex"}


def schema_fault(parameters: Any) -> tuple[str, str] | None:
    """The finding about a tool's schema that cannot be used, and why; None where it can."""
    fault = _judge.fault(parameters)
    return None if fault is None else (SCHEMA_FINDINGS[fault[0]], fault[1])


def offered_tools(request: Request) -> dict[str, Any]:
    """The parameters of every offered function by its name; of two with the same name, those of the first."""
    offered: dict[str, Any] = {}
    for function in named_functions(request.tools):
        offered.setdefault(function["name"], function.get("parameters"))
    return offered


def _second_offers(request: Request) -> dict[str, list[Any]]:
    """The other parameters of functions whose name is offered more than once."""
    met: set[str] = set()
    others: dict[str, list[Any]] = {}
    for function in named_functions(request.tools):
        if function["name"] in met:
            others.setdefault(function["name"], []).append(function.get("parameters"))
        met.add(function["name"])
    return others


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
