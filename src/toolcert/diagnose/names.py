"""Recognising the tool that a mangled name stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHORTEST_CUT = 4
"""A shorter stump ("get") names too many tools to name one."""
_NAMESPACE = re.compile(r"[.:/]|__")
_DECORATION = re.compile(r"[^0-9a-z]+")


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
    )


def _plain(name: str) -> str:
    """Letters and digits only: `get-weather`, `Get_Weather` and `getWeather` are one."""
    return _DECORATION.sub("", name.lower())


def _is_residue(rest: str, tool: str) -> bool:
    """What a parser left behind a name: markup, arguments, or the name again; never another word."""
    return not rest or not (rest[0].isalnum() or rest[0] in "_-") or rest.startswith(tool)
