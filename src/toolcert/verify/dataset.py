"""The rows of a dataset, pulled one by one: strict in what it reports, not in what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolcert.core.findings import Finding
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose.registry import finding
from toolcert.verify.expectations import Notes, read_notes
from toolcert.verify.source import Source
from toolcert.verify.toolset import NO_TOOLS, Toolset, Toolsets

OWN_KEY = "toolcert"
_EXCERPT = 120
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NO_NOTES = Notes()
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode = msgspec.json.Decoder().decode
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
    """The request without our own key; `tools` is shared between rows and never to be changed."""
    toolset: Toolset = NO_TOOLS
    notes: Notes = _NO_NOTES
    findings: tuple[Finding, ...] = ()
    text: bytes = b""
    """The line itself where it cannot be asked; identifies it."""


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
        """One line; whatever is wrong with it is in its findings."""
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
        """The body, its tools shared with all rows that offer the same."""
        body: JsonObject = {}
        toolset = NO_TOOLS
        for name, raw in fields.items():
            if name == "tools":
                toolset = self._toolsets.read(bytes(raw))
                body[name] = toolset.tools
            else:
                body[name] = _decode(raw)
        return body, toolset


def _not_object(index: int, text: bytes, error: str) -> Line:
    """A line that begins like something else than an object: if it is JSON at all, it is none."""
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
        return read_notes(raw)
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
