"""Where credentials come from: keys, and headers that take theirs from a variable. Only the source is ever shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from toolcert.core.errors import ConfigurationError
from toolcert.core.secrets import Secret, names_secret
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value

_NAME = lazy_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = lazy_pattern(r"\$\{(\w+)\}|\$(\w+)")
_CREDENTIAL = lazy_pattern(
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
    if names_secret(name) and not _VARIABLE.search(value):
        raise ValueError(f"header {name} looks like a credential; put it into a variable: '{name}: ${{MY_VARIABLE}}'")
    return name, value


def names_credential(name: str) -> bool:
    """Whether an option or a field of a body of this name usually carries a secret."""
    return _CREDENTIAL.search(name) is not None


def expand(value: str, environment: Mapping[str, str]) -> str:
    """`value` with each $VARIABLE replaced; KeyError names one that is not set."""
    return _VARIABLE.sub(lambda match: environment[match[1] or match[2]], value)


def variables_in(value: str) -> list[str]:
    """The names of the variables that `value` takes something from."""
    return [match[1] or match[2] for match in _VARIABLE.finditer(value)]


KEY_VARIABLE = "TOOLCERT_API_KEY"


class KeySources(Value):
    """Where to look for the key of one endpoint."""

    flag: Secret | None = None
    """Given on the command line or by the caller of the library."""
    prompt: bool = False
    variable: str | None = None
    """The variable that the user named; it must be set."""
    file: str | None = None
    usual: tuple[str, ...] = ()
    """Variables of the preset, used if they are set."""


def find_key(
    sources: KeySources, environment: Mapping[str, str], ask: Callable[[], str] | None = None
) -> Secret | None:
    """The key: as given, from the prompt, the named variable or file, the usual variable, or TOOLCERT_API_KEY."""
    if sources.flag is not None:
        return clean_key(sources.flag.reveal(), sources.flag.source)
    if sources.prompt:
        return _from_prompt(ask)
    if sources.variable is not None:
        return _from_variable(sources.variable, environment)
    if sources.file is not None:
        return _from_file(sources.file)
    for variable in (*sources.usual, KEY_VARIABLE):
        if environment.get(variable):
            return clean_key(environment[variable], variable)
    return None


def _from_prompt(ask: Callable[[], str] | None) -> Secret:
    if ask is None:
        raise ConfigurationError("the key can be asked for only on a terminal.", remedy=f"Set {KEY_VARIABLE} instead.")
    return clean_key(ask(), "the prompt")


def _from_variable(variable: str, environment: Mapping[str, str]) -> Secret:
    value = environment.get(variable)
    if not value:
        state = "not set" if value is None else "set but empty"
        raise ConfigurationError(
            f"the environment variable {variable}, which should hold the key, is {state}.",
            remedy=f"Set it: export {variable}=...",
        )
    return clean_key(value, variable)


def _from_file(name: str) -> Secret:
    try:
        text = _piped(name) if Path(name).is_fifo() else Path(name).read_text("utf-8")
        return clean_key(text, f"the file {name}")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the key file {name} cannot be read: {error}.") from None


@cache
def _piped(name: str) -> str:
    """The content of a pipe, kept because it can be read only once and several endpoints may need it."""
    return Path(name).read_text("utf-8")


def clean_key(value: str, source: str) -> Secret:
    """The key without white space around it; one that is empty or cannot be a key is refused."""
    value = value.strip()
    if not value:
        raise ConfigurationError(f"the key from {source} is empty.")
    refuse_strange_characters(value, source)
    return Secret(value, source=source)


def refuse_strange_characters(value: str, source: str) -> None:
    """Refuse characters that no key has: a server might echo them in an encoding in which we would not erase them."""
    if not (value.isascii() and value.isprintable()):
        raise ConfigurationError(f"the key from {source} has characters that no key has; was it copied whole?")
