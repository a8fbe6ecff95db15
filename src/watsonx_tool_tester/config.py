"""All settings: name, environment variable, default, and how a text is read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from dotenv import dotenv_values

from toolcert.core.errors import ConfigurationError
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.endpoints.dialects.watsonx import DEFAULT_VERSION

RELIABILITY_THRESHOLD = PROBE_THRESHOLD
"""Calling and handling count as reliable from this rate on."""
SORTS = ("name", "tool_call_time", "response_time", "total_time")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_OWN_NAMES = {
    "--base-url": "--watsonx-url",
    "--iam-url": "WATSONX_IAM_URL",
    "--project-id": "--watsonx-project-id",
}
"""toolcert's names of settings, and the names they have here."""
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


def in_own_names(advice: str) -> str:
    """Replace the option names of toolcert in a remedy by those of this tool."""
    return re.sub(r"(?<![\w-])--[a-z-]+", lambda flag: _OWN_NAMES.get(flag[0], flag[0]), advice)


class ClientType(StrEnum):
    """Where the models are."""

    WATSONX = "watsonx"
    LITELLM = "litellm"


def _flag(text: str) -> bool:
    if text.lower() not in _TRUE | _FALSE:
        raise ValueError("expected true or false")
    return text.lower() in _TRUE


def _flag_or_path(text: str) -> str | bool:
    return _flag(text) if text.lower() in _TRUE | _FALSE else text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("expected a whole number of at least 1")
    return int(text)


def _positive_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError("expected a number of seconds above 0")
    return seconds


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        found = next((word for word in words if word.lower() == text.lower()), None)
        if found is None:
            raise ValueError(f"expected one of {', '.join(words)}")
        return found

    return read


class Setting(NamedTuple):
    """One setting; `read` raises ValueError with the expected form."""

    name: str
    variables: tuple[str, ...]
    default: Any = None
    read: Callable[[str], Any] = str


SETTINGS = (
    Setting("client_type", ("WATSONX_TOOL_CLIENT",), ClientType.WATSONX, _one_of(*ClientType)),
    Setting("watsonx_url", ("WATSONX_URL",)),
    Setting("watsonx_apikey", ("WATSONX_APIKEY",)),
    Setting("watsonx_project_id", ("WATSONX_PROJECT_ID",)),
    Setting("watsonx_region", ("WATSONX_REGION",)),
    Setting("watsonx_api_version", ("WATSONX_API_VERSION",), DEFAULT_VERSION),
    Setting("watsonx_iam_url", ("WATSONX_IAM_URL",)),
    Setting("litellm_url", ("LITELLM_URL",), "http://localhost:8000"),
    Setting("litellm_token", ("LITELLM_TOKEN",)),
    Setting("ca_bundle", ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")),
    Setting("model", ("WATSONX_TOOL_MODEL",)),
    Setting("exclude_models", ("WATSONX_TOOL_EXCLUDE",), (), _words),
    Setting("exclude_file", ("WATSONX_TOOL_EXCLUDE_FILE",)),
    Setting("sort", ("WATSONX_TOOL_SORT",), "name", _one_of(*SORTS)),
    Setting("iterations", ("WATSONX_TOOL_ITERATIONS",), 5, _positive),
    Setting("timeout", ("WATSONX_TOOL_TIMEOUT",), None, _positive_seconds),
    Setting("concurrency", ("WATSONX_TOOL_CONCURRENCY",), None, _positive),
    Setting("temperature", ()),
    Setting("max_tokens", ()),
    Setting("debug", ("WATSONX_TOOL_DEBUG",), False, _flag),
    Setting("log_level", ("LOG_LEVEL",), "WARNING", _one_of(*LOG_LEVELS)),
    Setting("log_dir", ("WATSONX_TOOL_LOG_DIR",), "tool_test_logs"),
    Setting("output", ("WATSONX_TOOL_OUTPUT",)),
    Setting("html_output", ("WATSONX_TOOL_HTML_OUTPUT",), False, _flag_or_path),
    Setting("save_history", ("WATSONX_TOOL_SAVE_HISTORY",), False, _flag),
    Setting("history_dir", ("WATSONX_TOOL_HISTORY_DIR",), "reports/history"),
    Setting("history_days", ("WATSONX_TOOL_HISTORY_DAYS",), 90, _positive),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
_OLDER_NAMES = {"test_iterations": "iterations", "sort_key": "sort", "output_file": "output"}
"""Names that the older package's own Config has for the same settings."""
_UNUSED = frozenset({"watsonx_model_spec_version"})
"""Accepted and without effect: the listing of models has no version of its own here."""


def _alias(name: str) -> Any:
    """An attribute that reads and writes another one."""
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value))


class Config:
    """The settings of a test; those not given come from the environment, `.env` or the defaults."""

    client_type: ClientType
    watsonx_url: str | None
    watsonx_apikey: str | None
    watsonx_project_id: str | None
    watsonx_region: str | None
    watsonx_api_version: str
    watsonx_iam_url: str | None
    litellm_url: str
    litellm_token: str | None
    ca_bundle: str | None
    model: str | None
    exclude_models: list[str]
    exclude_file: str | None
    sort: str
    iterations: int
    timeout: float | None
    concurrency: int | None
    temperature: float | None
    max_tokens: int | None
    debug: bool
    log_level: str
    log_dir: str
    output: str | None
    html_output: str | bool
    save_history: bool
    history_dir: str
    history_days: int
    test_iterations = _alias("iterations")
    sort_key = _alias("sort")
    output_file = _alias("output")

    def __init__(self, **given: Any) -> None:
        given = {_OLDER_NAMES.get(name, name): value for name, value in given.items() if name not in _UNUSED}
        unknown = sorted(set(given) - set(_BY_NAME))
        if unknown:
            raise ConfigurationError(f"there is no setting {', '.join(unknown)}.")
        self.sources: dict[str, str] = {}
        """Where each setting that is not at its default came from."""
        environment = _environment()
        for setting in SETTINGS:
            setattr(self, setting.name, self._resolve(setting, given.get(setting.name), environment))
        self.client_type = ClientType(self.client_type)
        self.exclude_models = list(self.exclude_models)

    def _resolve(self, setting: Setting, given: Any, environment: Mapping[str, str]) -> Any:
        if given is not None:
            self.sources[setting.name] = f"the setting {setting.name}"
            return given
        for variable in setting.variables:
            if environment.get(variable):
                self.sources[setting.name] = variable
                return _read(setting, variable, environment[variable].strip())
        return setting.default

    @property
    def html_path(self) -> str | None:
        """The path of the HTML report."""
        if self.html_output is True:
            return self.output
        return self.html_output or None

    @property
    def json_path(self) -> str | None:
        """The path of the JSON report; `--html-output` without a path takes `--output` for the HTML report."""
        return None if self.html_output is True else self.output

    @property
    def keeps_logs(self) -> bool:
        """Whether the log folder is used."""
        return self.debug or "log_dir" in self.sources

    @property
    def file_log_level(self) -> str:
        """What the log file holds: a folder that was asked for without a level gets what a reader expects there."""
        return self.log_level if "log_level" in self.sources else "INFO"

    @property
    def tests_some_models(self) -> bool:
        """Whether a choice among the listed models is made."""
        return bool(self.model or self.exclude_models or self.exclude_file)

    def __repr__(self) -> str:
        return f"Config({self.client_type}, {len(self.sources)} settings given)"


def load_config_from_env() -> Config:
    """The settings of the environment, `.env` and the defaults."""
    return Config()


def _environment() -> dict[str, str]:
    """`.env` of the working directory, overridden by the environment."""
    file = Path(".env")
    try:
        values = dotenv_values(file, encoding="utf-8-sig") if file.is_file() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f".env cannot be read: {error}.") from None
    return {name: value for name, value in values.items() if value} | {n: v for n, v in os.environ.items() if v}


def _read(setting: Setting, variable: str, text: str) -> Any:
    try:
        return setting.read(text)
    except ValueError as error:
        raise ConfigurationError(f"{variable}={text}: {error}.", remedy=f"Correct or unset {variable}.") from None
