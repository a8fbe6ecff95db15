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
    candidates = [tool for tool in offered if tool and _is_mangled(name.strip(), tool)]
    if len(candidates) > 1:
        longest = max(candidates, key=len)
        candidates = [longest] if all(longest.startswith(other) for other in candidates) else []
    return candidates[0] if candidates else None


def _is_mangled(name: str, tool: str) -> bool:
    return (
        _plain(name) == _plain(tool)
        or tool in _NAMESPACE.split(name)
        or (name.startswith(tool) and _is_residue(name[len(tool) :], tool))
        or (len(name) >= _SHORTEST_CUT and tool.startswith(name))
    )


def _plain(name: str) -> str:
    """Letters and digits only: `get-weather`, `Get_Weather` and `getWeather` are one."""
    return _DECORATION.sub("", name.lower())


def _is_residue(rest: str, tool: str) -> bool:
    """What a parser left behind a name: markup, arguments, or the name again; never another word."""
    return not (rest[0].isalnum() or rest[0] == "_") or rest.startswith(tool)
