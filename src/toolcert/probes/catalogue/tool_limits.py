"""Limits of what can be offered: the number of tools, the length of their names, the bytes of their schemas."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import product

import msgspec

from toolcert.core.requests import tool, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import (
    Concluded,
    Conversation,
    ProbeResult,
    ScriptedProbe,
    failed,
    not_applicable,
    passed,
    probe,
)
from toolcert.probes.oracle import Feature, answered, carries, judgeable, valid_calls, why_not_called
from toolcert.probes.refusal_pairs import is_refusal, works_once
from toolcert.probes.sample_tools import SEARCH, STRING, WEATHER, described, parameters

SIZES = (1, 10, 50, 128)
_VERBS = (
    "archive",
    "approve",
    "assign",
    "cancel",
    "close",
    "copy",
    "delete",
    "export",
    "lock",
    "merge",
    "rename",
    "split",
)
_THINGS = (
    "account",
    "batch",
    "contract",
    "device",
    "invoice",
    "label",
    "order",
    "policy",
    "queue",
    "shipment",
    "ticket",
)


def _filler() -> list[JsonObject]:
    names = ((verb, thing) for thing, verb in product(_THINGS, _VERBS))
    return [tool(f"{verb}_{thing}", f"{verb} the {thing}".capitalize(), parameters(id=STRING)) for verb, thing in names]


FILLER = _filler()


def toolbox(size: int) -> list[JsonObject]:
    """This many tools, with the weather tool in the middle."""
    others = FILLER[: size - 1]
    return [*others[: size // 2], WEATHER, *others[size // 2 :]]


@probe
class ManyTools(ScriptedProbe):
    """The basic question with more and more tools to choose from."""

    name = "many_tools"
    group = "format"
    title = "Finds its tool among up to 128"
    meaning = "Large toolboxes can be offered whole."
    needs = ("basic",)
    requests = len(SIZES)
    order = 100

    async def run(self, talk: Conversation) -> ProbeResult:
        reached = 0
        for size in SIZES:
            result = await self._among(talk, size)
            if result is not None:
                return msgspec.structs.replace(result, detail={"works_with": reached, "fails_with": size})
            reached = size
        return passed(called=True, works_with=reached)

    async def _among(self, talk: Conversation, size: int) -> ProbeResult | None:
        """None if the right tool is called among this many."""
        city = talk.nonce(f"city {size}")
        feature = Feature(what=f"{size} tools", code="schema.valid_rejected", instead={"tools": [WEATHER]})
        try:
            turn = await answered(talk, [user(f"Get the weather in {city}.")], feature=feature, tools=toolbox(size))
        except Concluded as conclusion:
            return await _unless_too_large(talk, conclusion.result, toolbox(size))
        if any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return None
        return failed(f"fails among {size} tools: {why_not_called(turn, 'get_weather')}", called=False)


async def _unless_too_large(talk: Conversation, result: ProbeResult, tools: list[JsonObject]) -> ProbeResult:
    """The result; if three tools are refused for as many bytes, and only then, it names these and not the number."""
    if not result.findings or result.findings[0].code != "schema.valid_rejected":
        return result

    async def takes_three(size: int) -> bool:
        return await works_once(talk, lambda: talk.control([user("Say hello.")], tools=schemas_of(size)))

    size = size_of(tools)
    if await takes_three(size) or not await takes_three(0):
        return result
    (found,) = result.findings
    limit = finding(
        SIZE_LIMIT, f"{size} bytes are refused, with three tools as well: {found.evidence}", turn=found.turn
    )
    return msgspec.structs.replace(result, reason=f"refuses {size} bytes of schemas", findings=(limit,))


_NAMES = "schema.name_rejected"
SIZE_LIMIT = "schema.size_limit"
LONGEST = 64
"""Characters of a tool's name that the protocol allows."""
_USUAL = 30
"""Characters that every server is expected to take; longer names come from servers that put their own in front."""
_NAME = "get_weather_of_a_city_from_the_nearest_station_of_the_wide_network"


def named_weather(length: int) -> JsonObject:
    """The weather tool under a name of this length."""
    function = WEATHER["function"]
    return tool(_NAME[: length - 1] + "x", function["description"], function["parameters"])


async def _largest(works: Callable[[int], Awaitable[bool]], taken: int, refused: int, near: int) -> tuple[int, int]:
    """A size that is taken and one that is refused, at most `near` apart, found by halving."""
    while refused - taken > near:
        middle = (taken + refused) // 2
        if await works(middle):
            taken = middle
        else:
            refused = middle
    return taken, refused


@probe
class LongNames(ScriptedProbe):
    """The basic question with a tool whose name has 64 characters; the same tool with a short name is the control."""

    name = "long_names"
    group = "format"
    title = "Takes tool names of 64 characters"
    meaning = "Tools of other servers keep their names, with the name of their server in front."
    needs = ("basic",)
    order = 110

    async def run(self, talk: Conversation) -> ProbeResult:
        city = talk.nonce("city")
        messages, offered = [user(f"Get the weather in {city}.")], named_weather(LONGEST)
        feature = Feature(what=f"tool names of {LONGEST} characters", code=_NAMES, instead={"tools": [WEATHER]})
        try:
            turn = await judgeable(talk, await talk.ask(messages, tools=[offered]), feature=feature)
        except Concluded as conclusion:
            if not any(found.code == _NAMES for found in conclusion.result.findings):
                raise

            async def works(length: int) -> bool:
                return await works_once(talk, lambda: talk.control(messages, tools=[named_weather(length)]))

            longest, _ = await _largest(works, _USUAL, LONGEST, 1)
            return msgspec.structs.replace(
                conclusion.result,
                reason=f"refuses tool names of more than {longest} characters",
                detail={"longest_name": longest},
            )
        name = offered["function"]["name"]
        if any(carries(call, city=city) for call in valid_calls(turn, name)):
            return passed(called=True)
        return failed(f"fails with a name of {LONGEST} characters: {why_not_called(turn, name)}", called=False)


KILOBYTES = (16, 64)
"""What a few, and what many servers' tools bring along together."""
_NEAR = 4
_WORDS = "The usual rules of the company apply to every entry, also to those that were made in an earlier year. "


def text_of(size: int) -> str:
    """This many bytes of plain words."""
    return (_WORDS * (size // len(_WORDS) + 1))[:size]


def size_of(tools: list[JsonObject]) -> int:
    """The bytes of the schemas in a request."""
    return len(msgspec.json.encode(tools))


def schemas_of(size: int) -> list[JsonObject]:
    """Three tools, the weather among them, whose schemas have this many bytes together."""
    return _filled(text_of(max(0, size - size_of(_filled("")))))


def _filled(text: str) -> list[JsonObject]:
    return [WEATHER, SEARCH, tool("file_entry", "File an entry.", parameters(text=described(text)))]


@probe
class SchemaSize(ScriptedProbe):
    """Three tools with more and more bytes of schemas; the same bytes in the message are the control.

    So a limit on schemas is distinguished from a short context window, and from a limit on the number of tools.
    """

    name = "schema_size"
    group = "format"
    title = f"Takes {KILOBYTES[-1]} KB of tool schemas"
    meaning = "The tools of several servers can be offered together, with all their descriptions."
    needs = ("basic",)
    requests = len(KILOBYTES)
    order = 120

    async def run(self, talk: Conversation) -> ProbeResult:
        reached = 0
        for kilobytes in KILOBYTES:
            result = await self._with(talk, kilobytes, reached)
            if result is not None:
                return result
            reached = kilobytes
        return passed(called=True, kilobytes=reached)

    async def _with(self, talk: Conversation, kilobytes: int, reached: int) -> ProbeResult | None:
        """None if the right tool is called with this many bytes of schemas."""
        city, size = talk.nonce(f"city {kilobytes}"), kilobytes << 10
        question = f"Get the weather in {city}."
        turn = await talk.ask([user(question)], tools=schemas_of(size))
        small: JsonObject = {"messages": [user(f"{text_of(size)}\n\n{question}")], "tools": schemas_of(0)}
        if is_refusal(turn) and not await works_once(talk, lambda: talk.control(**small)):
            return not_applicable(f"takes no request of {kilobytes} KB at all")
        feature = Feature(what=f"{kilobytes} KB of schemas", code=SIZE_LIMIT, instead=small)
        try:
            turn = await judgeable(talk, turn, feature=feature)
        except Concluded as conclusion:
            if not any(found.code == SIZE_LIMIT for found in conclusion.result.findings):
                raise
            return await self._limited(talk, conclusion.result, question, reached, kilobytes)
        if any(carries(call, city=city) for call in valid_calls(turn, "get_weather")):
            return None
        return failed(f"fails with {kilobytes} KB of schemas: {why_not_called(turn, 'get_weather')}", called=False)

    async def _limited(
        self, talk: Conversation, result: ProbeResult, question: str, reached: int, refused: int
    ) -> ProbeResult:
        async def works(kilobytes: int) -> bool:
            return await works_once(talk, lambda: talk.control([user(question)], tools=schemas_of(kilobytes << 10)))

        taken, refused = await _largest(works, reached, refused, _NEAR)
        (found,) = result.findings
        evidence = f"{taken} KB are taken and {refused} KB refused, with three tools: {found.evidence}"
        return msgspec.structs.replace(
            result,
            reason=f"refuses more than about {taken} KB of schemas",
            findings=(finding(SIZE_LIMIT, evidence, turn=found.turn),),
            detail={"takes_kilobytes": taken, "refuses_kilobytes": refused},
        )
