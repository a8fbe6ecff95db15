"""What a dataset is by its first bytes: one clear refusal, where every line would be a finding otherwise."""

from __future__ import annotations

import codecs
import json
import re
import shlex

from toolcert.core.errors import InputError

STDIN = "-"
HEAD = 1 << 16
"""Bytes that are looked at."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"{\x00", b"\x00{", b"[\x00", b"\x00[")
_ARRAY = re.compile(r"\[\s*(\{|\]|$)")
_OPENED = re.compile(r'\{\s*\n\s*"')
"""How every printer of indented JSON begins an object."""


def refuse_other_forms(name: str, head: bytes) -> None:
    """Say what a dataset is that is no JSONL; a line of JSONL that is wrong is a finding, and no matter of this."""
    if head.startswith(_UTF16):
        raise InputError(f"{_shown(name)} is UTF-16, not UTF-8.", remedy=_through("iconv -f UTF-16 -t UTF-8", name))
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").lstrip()
    if _ARRAY.match(text) and not _first_line_is_json(text):
        raise _not_jsonl(name, "one JSON array", "jq -c '.[]'")
    if text.startswith("{") and _goes_over_lines(text):
        raise _not_jsonl(name, "JSON printed over several lines", "jq -c .")


def _not_jsonl(name: str, what: str, command: str) -> InputError:
    return InputError(f"{_shown(name)} is {what}, not JSONL (one request a line).", remedy=_through(command, name))


def _shown(name: str) -> str:
    return "standard input" if name == STDIN else name


def _through(command: str, name: str) -> str:
    if name == STDIN:
        return f"Pipe it through `{command}` first."
    return f"{command} {shlex.quote(name)} > {shlex.quote(f'{name}.jsonl')}"


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
