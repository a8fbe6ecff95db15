"""A scenario: a probe written as data."""

from __future__ import annotations

import re
from typing import Any

from toolcert.core.values import JsonObject, Value


class Accepted(Value):
    """What one argument may be."""

    one_of: tuple[Any, ...] = ()
    """Exact values; text is compared without letter case."""
    contains: str | None = None
    pattern: str | None = None
    optional: bool = False

    def takes(self, given: Any) -> bool:
        """Whether a value given in a call is accepted."""
        if self.contains is not None:
            return self.contains.casefold() in str(given).casefold()
        if self.pattern is not None:
            return re.search(self.pattern, str(given)) is not None
        return any(_same(given, wanted) for wanted in self.one_of)


class ExpectedCall(Value):
    """A call that must come; arguments that are not named may be anything the schema allows."""

    name: str
    arguments: dict[str, Accepted] = {}


class ExpectedText(Value):
    """What the text must and must not hold, without letter case."""

    contains: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def lacking(self, text: str) -> str:
        """What is wrong with a text; empty when nothing is."""
        folded = text.casefold()
        if any(word.casefold() not in folded for word in self.contains):
            return "the expected text is not in the answer"
        if self.any_of and not any(word.casefold() in folded for word in self.any_of):
            return "none of the expected texts is in the answer"
        if any(word.casefold() in folded for word in self.lacks):
            return "the answer holds a text that it must not hold"
        return ""


class Scenario(Value):
    """Messages, tools, and what must come of them."""

    name: str
    messages: tuple[JsonObject, ...]
    title: str = ""
    meaning: str = ""
    tools: tuple[JsonObject, ...] = ()
    parameters: JsonObject = {}
    """More fields of the request: tool_choice, temperature, ..."""
    calls: tuple[ExpectedCall, ...] | None = None
    """None where calls do not matter; empty where there must be none."""
    any_order: bool = True
    extra_calls: bool = False
    text: ExpectedText | None = None
    results: JsonObject = {}
    """Tool to its answer; with it the calls are answered, and the text is that of the next turn."""
    needs: tuple[str, ...] = ()


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    if isinstance(wanted, str) and isinstance(given, (str, int, float)):
        # A number may be wanted as text, because a placeholder is one; the schema judges the type.
        return str(given).strip().casefold() == wanted.strip().casefold()
    return bool(given == wanted)
