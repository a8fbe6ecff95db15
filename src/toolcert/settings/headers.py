"""Extra request headers: their lines, their variables, and which of them carry a credential."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_CREDENTIAL = re.compile(
    r"(^|[-_])(authori[sz]ation|cookie|secret|token|password|passwd|sig|(api)?-?_?key)$", re.IGNORECASE
)


def split_header(line: str) -> tuple[str, str]:
    """Name and value of a `Name: value` line; ValueError where it is none, or shows a credential.

    The lines are kept in run logs, so a credential must come from a variable: `X-Api-Key: ${MY_KEY}`.
    """
    name, colon, value = line.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name):
        raise ValueError("expected 'Name: value'")
    if not value.isprintable():
        raise ValueError(f"the value of header {name} has characters that no header may have")
    if names_credential(name) and not _VARIABLE.search(value):
        raise ValueError(f"header {name} looks like a credential; put it into a variable: '{name}: ${{MY_VARIABLE}}'")
    return name, value


def names_credential(name: str) -> bool:
    """Whether a header or query parameter of this name usually carries a secret."""
    return _CREDENTIAL.search(name) is not None


def expand(value: str, environment: Mapping[str, str]) -> str:
    """`value` with each $VARIABLE replaced; KeyError names one that is not set."""
    return _VARIABLE.sub(lambda match: environment[match[1] or match[2]], value)


def variables_in(value: str) -> list[str]:
    """The names of the variables that `value` takes something from."""
    return [match[1] or match[2] for match in _VARIABLE.finditer(value)]
