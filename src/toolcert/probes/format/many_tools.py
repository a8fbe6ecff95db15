"""The right tool among 1, 10, 50 and 128."""

from __future__ import annotations

from itertools import product

import msgspec

from toolcert.core.requests import tool, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.probes.base import Concluded, Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.format.tool_limits import SIZE_LIMIT, schemas_of, size_of
from toolcert.probes.oracle import Feature, answered, carries, valid_calls, why_not_called
from toolcert.probes.refusal_pairs import works_once
from toolcert.probes.registry import probe
from toolcert.probes.sample_tools import STRING, WEATHER, parameters

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
    """So many tools, the weather in their middle."""
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
        """None when the right tool is called among so many."""
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
    """The result; where a few tools of as many bytes are refused as well, it names the bytes and not the number."""
    if not result.findings or result.findings[0].code != "schema.valid_rejected":
        return result
    size = size_of(tools)
    if await works_once(talk, lambda: talk.control([user("Say hello.")], tools=schemas_of(size))):
        return result
    (found,) = result.findings
    limit = finding(
        SIZE_LIMIT, f"{size} bytes are refused, with three tools as well: {found.evidence}", turn=found.turn
    )
    return msgspec.structs.replace(result, reason=f"refuses {size} bytes of schemas", findings=(limit,))
