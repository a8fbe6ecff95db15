"""The tools a row offers, compiled once for all rows that offer the same, and the judgement of calls to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolcert.compare.resultrows import Call
from toolcert.core.replies import Reply, ToolCall
from toolcert.core.requests import Request
from toolcert.core.schema import SchemaJudge, Validator
from toolcert.diagnose.judging import UNKNOWN_NAME, CallJudgement, judge_calls, offered_tools
from toolcert.verify.hashing import canonical, digest

_MAX_OFFERS = 1024
_decode = msgspec.json.Decoder().decode


class Offer:
    """One list of tools; a tool's schema is compiled when the tool is first called."""

    __slots__ = ("_compile", "_digest", "_validators", "parameters", "tools")

    def __init__(self, tools: Any, compile_schema: Callable[[Any], Validator]) -> None:
        self.tools = tools
        self._digest: str | None = None
        self.parameters = offered_tools(Request(body={"tools": tools}))
        self._compile = compile_schema
        self._validators: dict[str, Validator] = {}

    @property
    def count(self) -> int:
        """How many tools are offered."""
        return len(self.tools) if isinstance(self.tools, list) else 0

    @property
    def digest(self) -> str | None:
        """What content hashes take in place of the tools."""
        if self._digest is None and self.tools:
            self._digest = digest(canonical(self.tools))
        return self._digest

    def judge(self, call: Call) -> tuple[bool | None, tuple[str, ...]]:
        """Whether the call is valid, and the buckets it counts in."""
        name = call.function.name
        if not isinstance(name, str) or name not in self.parameters:
            return False, (UNKNOWN_NAME,)
        validator = self._validators.get(name)
        if validator is None:
            validator = self._validators[name] = self._compile(self.parameters[name])
        judgement = validator.judge(call.function.arguments)
        if judgement.ok and judgement.bucket is None and self.parameters[name]:
            return True, ()
        judged = self.explain(call)
        return judged.valid, judged.buckets

    def explain(self, call: Call) -> CallJudgement:
        """The same by the rules everybody shares, with all details."""
        made = ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        return judge_calls(Request(body={"tools": self.tools}), Reply(tool_calls=(made,)))[0]


class Offers:
    """Offers by their text: a dataset repeats the same few over and over."""

    def __init__(self) -> None:
        self._known: dict[bytes, Offer] = {}
        self._judge = SchemaJudge()

    def read(self, text: bytes) -> Offer:
        """The tools written as `text`."""
        known = self._known.get(text)
        if known is None:
            known = Offer(_decode(text) if text else None, self._judge.compile)
            if len(self._known) >= _MAX_OFFERS:
                del self._known[next(iter(self._known))]
            self._known[text] = known
        return known
