"""The tools of a row: read, checked and hashed once for all rows that offer the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolcert.core.findings import Finding
from toolcert.core.values import Value
from toolcert.diagnose.judging import schema_fault
from toolcert.diagnose.registry import finding
from toolcert.verify.hashing import canonical, digest

MAX_TOOLSETS = 512
"""Distinct tool lists kept; beyond that the oldest is read again, so memory stays bounded."""
_decode = msgspec.json.Decoder().decode


class Toolset(Value):
    """The tools one or many rows offer, and what is wrong with them."""

    tools: Any = None
    """As written; not a list where `findings` say so. Shared between rows, never to be changed."""
    digest: str = ""
    names: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


NO_TOOLS = Toolset()


class Toolsets:
    """Toolsets by their text: a dataset repeats the same few over and over."""

    def __init__(self) -> None:
        self._known: dict[bytes, Toolset] = {}

    def read(self, text: bytes) -> Toolset:
        """The toolset written as `text`; raises what the JSON decoder raises."""
        known = self._known.get(text)
        if known is None:
            known = describe(_decode(text))
            if len(self._known) >= MAX_TOOLSETS:
                del self._known[next(iter(self._known))]
            self._known[text] = known
        return known


def describe(tools: Any) -> Toolset:
    """Hash and check a row's `tools`."""
    names = tuple(_names(tools)) if isinstance(tools, list) else ()
    return Toolset(tools=tools, digest=digest(canonical(tools)), names=names, findings=tuple(_problems(tools)))


def _names(tools: list[Any]) -> Iterator[str]:
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield function["name"]


def _problems(tools: Any) -> Iterator[Finding]:
    if tools is None:
        return
    if not isinstance(tools, list):
        yield finding("dataset.wrong_type", f"tools is {_type(tools)}, not a list")
        return
    seen: set[str] = set()
    for place, tool in enumerate(tools):
        yield from _tool_problems(f"tools[{place}]", tool, seen)


def _tool_problems(place: str, tool: Any, seen: set[str]) -> Iterator[Finding]:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict):
        yield finding("dataset.wrong_type", f"{place} has no object `function`")
        return
    name = function.get("name")
    if not isinstance(name, str) or not name:
        yield finding("dataset.wrong_type", f"{place}.function.name is {_type(name)}, not a name")
    elif name in seen:
        yield finding("dataset.duplicate_tool", f"{name} is offered twice")
    else:
        seen.add(name)
    fault = schema_fault(function.get("parameters"))
    if fault:
        yield finding("dataset.bad_schema", f"{name}: {fault}")


def _type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
