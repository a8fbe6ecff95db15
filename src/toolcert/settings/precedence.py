"""Decides which value of an option wins: flag, environment, configuration file, default."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.core.secrets import Secret
from toolcert.core.text.spelling import close_names
from toolcert.core.values import Value
from toolcert.settings.config import Config, load_config
from toolcert.settings.option import PREFIX, Option, may_carry_secret
from toolcert.settings.options import OPTIONS


class Source(StrEnum):
    """Where a value comes from, the strongest first."""

    FLAG = "flag"
    """A flag of the command line, or a keyword argument of the library."""
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


class Resolved(Value):
    """A value and where it came from."""

    value: Any
    source: Source
    where: str
    """`--base-url`, `TOOLCERT_BASE_URL`, `toolcert.toml:12` or `default`."""


class Settings:
    """The resolved options of one command, by keyword name: `settings.base_url`."""

    def __init__(self, values: Mapping[str, Resolved], config: Config, environment: Mapping[str, str]) -> None:
        self._values = values
        self.config = config
        self.environment = environment

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        return self.resolved(key).value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def resolved(self, key: str) -> Resolved:
        """The value with its source; AttributeError when the command does not take this option."""
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError(f"this command does not use the option {key!r}") from None

    def given(self, key: str) -> bool:
        """Whether a flag, a variable or the file sets it."""
        return key in self._values and self._values[key].source is not Source.DEFAULT

    def items(self) -> Iterable[tuple[str, Resolved]]:
        return self._values.items()


def resolve(
    names: Iterable[str],
    given: Mapping[str, Any],
    *,
    environment: Mapping[str, str] | None = None,
    config: Config | None = None,
) -> Settings:
    """The settings for the options `names`; `given` holds flags or keyword arguments by keyword name.

    A keyword argument of None counts as not given.
    """
    environment = os.environ if environment is None else environment
    if config is None:
        config = load_config(_one(OPTIONS["config"], given, environment, Config()).value)
    values = {OPTIONS[name].key: _one(OPTIONS[name], given, environment, config) for name in names}
    return Settings(values, config, environment)


def misspelt_variables(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Variables that are almost those of an option, each with the name that was probably meant."""
    known = [option.variable for option in OPTIONS.values()]
    unknown = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    near = ((name, close_names(name, known, cutoff=0.85)) for name in unknown)
    return [(name, meant[0]) for name, meant in near if meant]


# Flag > variable > file > default. An empty variable counts as not set: CI systems pass unset secrets that way.
def _one(option: Option, given: Mapping[str, Any], environment: Mapping[str, str], config: Config) -> Resolved:
    if given.get(option.key) is not None:
        return _resolved(option, _from_flag(option, given[option.key]), Source.FLAG, option.flag)
    if environment.get(option.variable):
        return _resolved(option, _from_variable(option, environment), Source.ENVIRONMENT, option.variable)
    if option.key in config.defaults:
        value = config.defaults[option.key]
        return Resolved(value=value, source=Source.FILE, where=config.where("defaults", option.key))
    return Resolved(value=option.fallback, source=Source.DEFAULT, where="default")


def _resolved(option: Option, value: Any, source: Source, where: str) -> Resolved:
    """The value; a secret is wrapped at once, so that nothing that holds settings can show it."""
    return Resolved(value=Secret(value, source=where) if option.secret else value, source=source, where=where)


def _from_flag(option: Option, raw: Any) -> Any:
    try:
        return option.read(raw.reveal() if isinstance(raw, Secret) else raw)
    except ValueError as error:
        raise UsageError(f"{option.flag}: {error}{_shown(option, raw)}.") from None


def _from_variable(option: Option, environment: Mapping[str, str]) -> Any:
    raw = environment[option.variable]
    try:
        return option.read_text(raw)
    except ValueError as error:
        raise ConfigurationError(f"{option.variable}: {error}{_shown(option, raw)}.") from None


def _shown(option: Option, raw: Any) -> str:
    """The wrong value for the message, unless it may be a secret."""
    if may_carry_secret(option):
        return ""
    written = raw if isinstance(raw, list | tuple) else [raw]
    return f", not {' and '.join(map(repr, written))}"
