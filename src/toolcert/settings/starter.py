"""A first toolcert.toml, written from the table of options so that it stays true."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from toolcert.settings.kinds import Address, Choice, HeaderLine, JsonBody, Number, Switch
from toolcert.settings.option import Option
from toolcert.settings.options import OPTIONS

WIDTH = 100
KEY_VARIABLE = "VENDOR_KEY"
LOCAL = "http://localhost:8000/v1"
_HEAD = """\
# Settings of toolcert. Say `toolcert probe mine`, or give the endpoint below a name of your own.
# A flag beats the environment, the environment beats this file, this file beats the default.
# Lines that begin with `# name =` are options: take the sign away and change the value. One that has no default shows
# what a value looks like. Options marked (*) may also stand in the table of an endpoint."""


def starter_text(base_url: str = LOCAL, key_env: str = "") -> str:
    """The whole file; only the endpoint is active, everything else is a comment."""
    key = f"api_key_env = {json.dumps(key_env)}" if key_env else f'# api_key_env = "{KEY_VARIABLE}"'
    lines = [
        *_HEAD.splitlines(),
        "",
        "[endpoints.mine]",
        f"base_url = {json.dumps(base_url)}",
        "# The name of the variable that holds the key; a key itself does not belong in a file that is shared.",
        key,
        "",
        "[defaults]",
        *_defaults(),
        "",
        "# What a million tokens cost, to see what a run cost.",
        '# [prices."vendor/large"]',
        "# input = 3.0",
        "# output = 15.0",
    ]
    return "\n".join(lines) + "\n"


def _defaults() -> Iterator[str]:
    options = [option for option in OPTIONS.values() if option.in_file and not option.secret]
    for group, members in groupby(sorted(options, key=_place), lambda option: option.group):
        yield from ("", f"# ---- {group}")
        for option in members:
            yield from _option(option)


def _place(option: Option) -> int:
    """Groups in the order of the table, each in one piece."""
    groups = list(dict.fromkeys(one.group for one in OPTIONS.values()))
    return groups.index(option.group)


def _option(option: Option) -> Iterator[str]:
    mark = " (*)" if option.per_endpoint else ""
    yield from textwrap.wrap(option.help + mark, WIDTH, initial_indent="# ", subsequent_indent="# ")
    yield f"# {option.key} = {_toml(_value(option))}"


def _value(option: Option) -> Any:
    """The default, or an example of what could stand there."""
    if option.default is not None:
        return option.default
    example = _example(option)
    return [example] if option.multiple else example


def _example(option: Option) -> Any:
    kind = option.kind
    if isinstance(kind, Switch):
        return True
    if isinstance(kind, Number):
        return max(1, int(kind.low or 0))
    if isinstance(kind, Choice):
        return kind.words[0]
    if isinstance(kind, JsonBody):
        return {"top_k": 20}
    examples = {Address: "https://api.example.com/v1", HeaderLine: "Name: value"}
    return next((text for known, text in examples.items() if isinstance(kind, known)), kind.metavar.partition("|")[0])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)
