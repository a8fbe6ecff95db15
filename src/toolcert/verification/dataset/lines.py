"""The lines of a dataset as requests, each with its toolset, its notes and its problems."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import msgspec

from toolcert.core.findings import Finding
from toolcert.core.requests import SharedTools, function_of, named_functions
from toolcert.core.text.json_text import MAX_DEPTH, nested_deeper_than
from toolcert.core.text.json_value import canonical
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose.checks.registry import finding
from toolcert.diagnose.judgement import schema_fault
from toolcert.verification.dataset.expectation import Notes, read_notes
from toolcert.verification.dataset.source import Source
from toolcert.verification.digest import digest

_START = 1 << 10
_WHOLE = (1 << 64) - 1
_FULL = 0.85
"""The table grows above this load: then the search for a free slot takes too long."""


class SeenRows:
    """Counts occurrences of keys and remembers the first line of each (open addressing over their hashes)."""

    def __init__(self) -> None:
        self._digests = array("Q", bytes(8 * _START))
        self._lines = array("I", bytes(4 * _START))
        self._used = 0
        self._repeats: dict[int, int] = {}
        """Occurrences of those digests that came more than once: few, so a dictionary may hold them."""

    def occurrence(self, key: str, line: int) -> tuple[int, int]:
        """Which occurrence of `key` this is, from 1, and the line of the first one."""
        digest = hash(key) & _WHOLE or 1  # zero marks a free slot
        slot = self._slot(digest)
        if self._digests[slot]:
            self._repeats[digest] = self._repeats.get(digest, 1) + 1
            return self._repeats[digest], self._lines[slot]
        self._digests[slot], self._lines[slot] = digest, line
        self._used += 1
        if self._used > _FULL * len(self._digests):
            self._grow()
        return 1, line

    def _slot(self, digest: int) -> int:
        digests, mask = self._digests, len(self._digests) - 1
        slot = digest & mask
        while digests[slot] and digests[slot] != digest:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        digests, lines = self._digests, self._lines
        self._digests = array("Q", bytes(2 * 8 * len(digests)))
        self._lines = array("I", bytes(2 * 4 * len(lines)))
        for known, line in zip(digests, lines, strict=True):
            if known:
                slot = self._slot(known)
                self._digests[slot], self._lines[slot] = known, line


MAX_TOOLSETS = 512
"""Distinct tool lists that are kept; an older one is parsed again, so memory stays bounded."""


class Toolset(Value):
    """The tools one or many rows offer, and what is wrong with them."""

    tools: Any = None
    """As written; `findings` says if it is not a list. Rows share it, so it must not be changed."""
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
            tools = _decode(text)
            known = describe(SharedTools(tools) if isinstance(tools, list) else tools)
            if len(self._known) >= MAX_TOOLSETS:
                del self._known[next(iter(self._known))]
            self._known[text] = known
        return known


def describe(tools: Any) -> Toolset:
    """Hash and check a row's `tools`."""
    names = tuple([function["name"] for function in named_functions(tools)]) if isinstance(tools, list) else ()
    return Toolset(tools=tools, digest=digest(canonical(tools)), names=names, findings=tuple(_problems(tools)))


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
    function = function_of(tool)
    if function is None:
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
        code, why = fault
        yield finding(code, f"{name}: {why}")


def _type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


OWN_KEY = "toolcert"
_EXCERPT = 120
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NO_NOTES = Notes()
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_value = msgspec.json.Decoder().decode
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "stream": ((bool,), "a boolean"),
    "temperature": ((int, float), "a number"),
    "top_p": ((int, float), "a number"),
    "max_tokens": ((int,), "a whole number"),
    "max_completion_tokens": ((int,), "a whole number"),
    "seed": ((int,), "a whole number"),
    "model": ((str,), "a string"),
    "stream_options": ((dict,), "an object"),
    "response_format": ((dict,), "an object"),
    "parallel_tool_calls": ((bool,), "a boolean"),
    "tool_choice": ((str, dict), "a string or an object"),
}


class Line(Value):
    """One line of a dataset: a request that can be sent, or the reason why there is none."""

    index: int
    """Its number in the file, from 1."""
    body: JsonObject | None = None
    """The request without the key `toolcert`; rows share `tools`, so it must not be changed."""
    toolset: Toolset = NO_TOOLS
    notes: Notes = _NO_NOTES
    findings: tuple[Finding, ...] = ()
    text: bytes = b""
    """The line itself if it cannot be asked; it then identifies the row."""


class Dataset:
    """A dataset file, its problems and its digest."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._toolsets = Toolsets()

    def lines(self) -> Iterator[Line]:
        """Every line in order, read when it is asked for."""
        read = self.read
        for index, text in self.source.lines():
            yield read(index, text)

    def read(self, index: int, text: bytes) -> Line:
        """Parse one line; its problems are in its findings."""
        try:
            fields = _split(text)
        except msgspec.ValidationError as error:
            return _not_object(index, text, str(error))
        except _NOT_JSON as error:
            return _refused(index, text, "dataset.not_json", str(error))
        try:
            return self._row(index, text, fields)
        except _NOT_JSON as error:
            return _refused(index, text, "dataset.not_json", str(error))

    def _row(self, index: int, text: bytes, fields: dict[str, msgspec.Raw]) -> Line:
        problems: list[Finding] = []
        notes = _read_notes(fields.pop(OWN_KEY), problems) if OWN_KEY in fields else _NO_NOTES
        body, toolset = self._decode_fields(fields)
        problems += toolset.findings
        problems += _wrong_types(body)
        missing = _no_messages(body.get("messages"))
        if missing is not None:
            return Line(index=index, text=text, notes=notes, findings=(missing, *problems))
        problems += _message_problems(body["messages"])
        return Line(index=index, body=body, toolset=toolset, notes=notes, findings=tuple(problems))

    def _decode_fields(self, fields: dict[str, msgspec.Raw]) -> tuple[JsonObject, Toolset]:
        """Parse the body; rows with the same tools share one list."""
        body: JsonObject = {}
        toolset = NO_TOOLS
        for name, raw in fields.items():
            if name == "tools":
                toolset = self._toolsets.read(bytes(raw))
                body[name] = toolset.tools
            else:
                body[name] = _decode(bytes(raw))
        return body, toolset


def _decode(text: bytes) -> Any:
    return _decode_value(_not_too_deep(text))


def _not_too_deep(text: bytes) -> bytes:
    if nested_deeper_than(MAX_DEPTH, text):
        raise msgspec.DecodeError(f"nested deeper than {MAX_DEPTH} levels")
    return text


def _not_object(index: int, text: bytes, error: str) -> Line:
    """The finding for a line that does not begin like an object: other JSON, or no JSON."""
    try:
        _decode(text)
    except _NOT_JSON as reason:
        return _refused(index, text, "dataset.not_json", str(reason))
    return _refused(index, text, "dataset.not_object", error)


def _refused(index: int, text: bytes, code: str, error: str) -> Line:
    excerpt = text[:_EXCERPT].decode("utf-8", "replace").strip()
    return Line(index=index, text=text, findings=(finding(code, f"{error}: {excerpt}"),))


def _read_notes(raw: msgspec.Raw, problems: list[Finding]) -> Notes:
    try:
        return read_notes(_not_too_deep(bytes(raw)))
    except msgspec.ValidationError as error:
        problems.append(finding("dataset.wrong_type", f"{OWN_KEY}: {error}"))
        return _NO_NOTES


def _no_messages(messages: Any) -> Finding | None:
    if isinstance(messages, list):
        return None if messages else finding("dataset.no_messages", "messages is empty")
    if messages is None:
        return finding("dataset.no_messages", "messages is absent or null")
    return finding("dataset.wrong_type", "messages is not a list")


def _wrong_types(body: JsonObject) -> list[Finding]:
    found = []
    for name, value in body.items():
        wanted = _TYPES.get(name)
        if wanted is not None and value is not None and type(value) not in wanted[0]:
            found.append(finding("dataset.wrong_type", f"{name} is not {wanted[1]}"))
    return found


def _message_problems(messages: list[Any]) -> list[Finding]:
    found = []
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            found.append(finding("dataset.wrong_type", f"messages[{place}] is not an object"))
        elif not isinstance(message.get("role"), str):
            found.append(finding("dataset.wrong_type", f"messages[{place}].role is not a string"))
    return found
