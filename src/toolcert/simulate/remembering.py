"""Thoughts kept for a while: a run asks many models the same, and thinking is what costs."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.brain import Thought, think

_KEPT = 2048
_MATTERS = ("messages", "tools", "tool_choice", "parallel_tool_calls", "response_format")
_thoughts: OrderedDict[bytes, Thought] = OrderedDict()


def thought_about(body: JsonObject) -> Thought:
    """What the model thinks of a request: the same whenever it is asked the same."""
    key = msgspec.json.encode([body.get(name) for name in _MATTERS])
    known = _thoughts.get(key)
    if known is None:
        known = _thoughts[key] = think(body)
        if len(_thoughts) > _KEPT:
            _thoughts.popitem(last=False)
    return known
