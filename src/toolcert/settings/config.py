"""toolcert.toml: defaults, named endpoints and prices. A mistake is reported with its line and the nearest key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolcert.core.errors import ConfigurationError
from toolcert.core.text.spelling import did_you_mean
from toolcert.core.values import Value
from toolcert.settings.option import Option
from toolcert.settings.options import BY_KEY, ENDPOINT_KEYS
from toolcert.settings.toml_lines import line_of

FILE_NAME = "toolcert.toml"


class Config(Value):
    """The content of a configuration file, checked."""

    path: str = ""
    text: str = ""
    defaults: dict[str, Any] = {}
    endpoints: dict[str, dict[str, Any]] = {}
    prices: dict[str, tuple[float, float]] = {}
    """Model to the price of a million tokens in and out, in US dollars."""

    def where(self, *keys: str) -> str:
        """File and line of a key."""
        from toolcert.settings.toml_lines import line_of

        return f"{self.path}:{line_of(self.text, keys)}"


def load_config(path: str | None = None) -> Config:
    """Read the given file, or toolcert.toml in the working directory, or nothing."""
    file = Path(path) if path is not None else Path(FILE_NAME)
    if path is None and not file.is_file():
        return Config()

    return read_config(file)


_TABLES = ("defaults", "endpoints", "prices")


def read_config(file: Path) -> Config:
    """The content of a configuration file."""
    import tomllib

    try:
        text = file.read_text("utf-8-sig")
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file}: not valid TOML: {error}.") from None
    except RecursionError:
        raise ConfigurationError(f"{file}: nested too deeply.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {error}.") from None
    return _Reader(str(file), text).read(document)


class _Reader:
    """Checks a parsed document; every error names its line."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._folder = Path(path).parent

    def read(self, document: Mapping[str, Any]) -> Config:
        self._known((), document, _TABLES)
        tables = {name: self._table((name,), document.get(name, {})) for name in _TABLES}
        return Config(
            path=self._path,
            text=self._text,
            defaults=self._options(("defaults",), tables["defaults"], _default_keys()),
            endpoints={name: self._endpoint(name, table) for name, table in tables["endpoints"].items()},
            prices={model: self._price(model, table) for model, table in tables["prices"].items()},
        )

    def _endpoint(self, name: str, table: Any) -> dict[str, Any]:
        keys = ("endpoints", name)
        return self._options(keys, self._table(keys, table), ENDPOINT_KEYS)

    def _options(self, keys: tuple[str, ...], table: Mapping[str, Any], allowed: Iterable[str]) -> dict[str, Any]:
        if "api_key" in table:
            raise self._error(
                (*keys, "api_key"), "a key does not belong in a file that others may read; use api_key_env"
            )
        self._known(keys, table, allowed)
        return {key: self._value((*keys, key), BY_KEY[key], raw) for key, raw in table.items()}

    def _value(self, keys: tuple[str, ...], option: Option, raw: Any) -> Any:
        # A TOML table is the natural way to write headers; the option itself takes lines.
        if option.name == "header" and isinstance(raw, dict):
            raw = [f"{name}: {value}" for name, value in raw.items()]
        try:
            return option.read(raw, self._folder)
        except ValueError as error:
            raise self._error(keys, str(error)) from None

    def _price(self, model: str, table: Any) -> tuple[float, float]:
        keys = ("prices", model)
        figures = self._table(keys, table)
        self._known(keys, figures, ("input", "output"))
        return self._amount(keys, figures, "input"), self._amount(keys, figures, "output")

    def _amount(self, keys: tuple[str, ...], figures: Mapping[str, Any], name: str) -> float:
        amount = figures.get(name)
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not amount >= 0:
            raise self._error((*keys, name), "expected the price of a million tokens, a number of at least 0")
        return float(amount)

    def _table(self, keys: tuple[str, ...], value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._error(keys, f"expected a table [{'.'.join(keys)}]")
        return value

    def _known(self, keys: tuple[str, ...], table: Mapping[str, Any], allowed: Iterable[str]) -> None:
        allowed = sorted(allowed)
        for key in table:
            if key not in allowed:
                meant = did_you_mean(key.replace("-", "_"), allowed, cutoff=0.5)
                raise self._error((*keys, key), f"no such key. {meant or 'Known here: ' + ', '.join(allowed)}")

    def _error(self, keys: tuple[str, ...], complaint: str) -> ConfigurationError:
        return ConfigurationError(f"{self._path}:{line_of(self._text, keys)}: {'.'.join(keys)}: {complaint}")


def _default_keys() -> list[str]:
    return [option.key for option in BY_KEY.values() if option.in_file]
