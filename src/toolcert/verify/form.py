"""What a dataset is by its first bytes: one clear refusal, where every line would be a finding otherwise."""

from __future__ import annotations

import codecs
import json
import re
import shlex

from toolcert.core.errors import InputError
from toolcert.core.values import Value

STDIN = "-"
HEAD = 1 << 16
"""Bytes that are looked at."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"{\x00", b"\x00{", b"[\x00", b"\x00[")
_ARRAY = re.compile(r"\[\s*(\{|\]|$)")
_OPENED = re.compile(r'\{\s*\n\s*"')
"""How every printer of indented JSON begins an object."""


class Origin(Value):
    """Where the first bytes come from, as far as a remedy depends on it."""

    name: str
    unpack: str = ""
    """The command that unpacks an archive to standard output."""
    stream: bool = False
    """What can be read only once."""

    @property
    def shown(self) -> str:
        return "standard input" if self.name == STDIN else self.name

    def through(self, command: str) -> str:
        """How to put it through a command that reads a file or standard input."""
        if self.stream:
            return f"Pipe it through `{' | '.join(filter(None, [self.unpack, command]))}` first."
        file = shlex.quote(self.name)
        commands = f"{self.unpack} {file} | {command}" if self.unpack else f"{command} {file}"
        return f"{commands} > {shlex.quote(f'{self.name}.jsonl')}"


def refuse_other_forms(origin: Origin, head: bytes) -> None:
    """Say what a dataset is that is no JSONL; a line of JSONL that is wrong is a finding, and no matter of this."""
    if head.startswith(_UTF16):
        remedy = origin.through("iconv -f UTF-16 -t UTF-8")
        raise InputError(f"{origin.shown} is UTF-16, not UTF-8.", remedy=remedy)
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").lstrip()
    if _ARRAY.match(text) and not _first_line_is_json(text):
        raise _not_jsonl(origin, "one JSON array", "jq -c '.[]'")
    if text.startswith("{") and _goes_over_lines(text):
        raise _not_jsonl(origin, "JSON printed over several lines", "jq -c .")


def _not_jsonl(origin: Origin, what: str, command: str) -> InputError:
    return InputError(f"{origin.shown} is {what}, not JSONL (one request a line).", remedy=origin.through(command))


def _first_line_is_json(text: str) -> bool:
    """Whether the first line is whole, and another follows: then it is only a bad line of many."""
    line, _, rest = text.partition("\n")
    return bool(rest.strip()) and _end_of_value(line) == len(line.rstrip())


def _goes_over_lines(text: str) -> bool:
    """Whether the first value does not end on the line it begins on."""
    first = text.partition("\n")[0]
    return _end_of_value(first) is None and (_OPENED.match(text) is not None or _end_of_value(text) is not None)


def _end_of_value(text: str) -> int | None:
    """Where the JSON value at the start of `text` ends; None where there is none, or it goes on."""
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        return None
