"""An option: its one name, the names derived from it, and the kinds of value it may take."""

from __future__ import annotations

import json
import os
import re
import sys
from keyword import iskeyword
from pathlib import Path
from typing import Any, Protocol

import msgspec

from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_LARGEST = sys.float_info.max
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_KEYS_IN_BODIES = frozenset({"api_key", "apikey", "api-key", "authorization", "password", "access_token"})
"""Names of secrets that some gateways take in the body. Not every name in `key` is one: prompt_cache_key is not."""


class Kind(Protocol):
    """A type of value; `read` raises a ValueError that says what is expected."""

    @property
    def metavar(self) -> str:
        """How the help shows a value of this kind."""

    def read(self, raw: Any, folder: Path) -> Any:
        """The value that `raw` (text, or a TOML value) means; relative files start at `folder`."""


class Text:
    """Any text that is not empty."""

    def __init__(self, metavar: str = "TEXT") -> None:
        self.metavar = metavar

    def read(self, raw: Any, folder: Path) -> str:  # noqa: ARG002 - signature of Kind
        if not isinstance(raw, str) or not raw.strip():
            raise ValueError("expected text")
        return raw.strip()


class Choice(Text):
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        super().__init__("|".join(words))
        self.words = words

    def read(self, raw: Any, folder: Path) -> str:
        text = super().read(raw, folder).lower()
        if text not in self.words:
            raise ValueError(f"expected one of {', '.join(self.words)}")
        return text


class Share(Text):
    """One of several shards, such as `2/8`."""

    def __init__(self) -> None:
        super().__init__("I/N")

    def read(self, raw: Any, folder: Path) -> str:
        from toolcert.core.cases import Shard

        return str(Shard.parse(super().read(raw, folder)))


class Number:
    """A number within bounds."""

    def __init__(self, low: float | None = None, high: float | None = None, metavar: str = "NUMBER") -> None:
        self.low = low
        self.high = high
        self.metavar = metavar

    def read(self, raw: Any, folder: Path) -> float:  # noqa: ARG002 - signature of Kind
        return self._within(self._number(raw))

    def _number(self, raw: Any) -> float:
        if isinstance(raw, bool) or not isinstance(raw, str | int | float):
            raise ValueError(self._expected())  # noqa: TRY004 - one exception says "wrong value"
        try:
            return float(raw)
        except (ValueError, OverflowError):
            raise ValueError(self._expected()) from None

    def _within(self, value: float) -> float:
        low = -_LARGEST if self.low is None else self.low
        high = _LARGEST if self.high is None else self.high
        if not low <= value <= high:  # also false for NaN; infinity would not survive the manifest's JSON
            raise ValueError(self._expected())
        return value

    def _expected(self, noun: str = "a number") -> str:
        bounds = [f"at least {self.low:g}"] if self.low is not None else []
        bounds += [f"at most {self.high:g}"] if self.high is not None else []
        return f"expected {noun} {' and '.join(bounds)}".rstrip()


class Whole(Number):
    """A whole number within bounds."""

    def __init__(self, low: int | None = None, high: int | None = None, metavar: str = "N") -> None:
        super().__init__(low, high, metavar)

    def read(self, raw: Any, folder: Path) -> int:
        if isinstance(raw, float) and not raw.is_integer():
            raise ValueError(self._expected())
        super().read(raw, folder)
        return int(raw)  # not by way of a float, which would round a large seed

    def _number(self, raw: Any) -> float:
        value = super()._number(raw)
        if isinstance(raw, str) and not raw.strip().lstrip("+-").isdigit():
            raise ValueError(self._expected())
        return value

    def _expected(self, noun: str = "a whole number") -> str:
        return super()._expected(noun)


class Day(Text):
    """A date."""

    def __init__(self) -> None:
        super().__init__("YYYY-MM-DD")

    def read(self, raw: Any, folder: Path) -> str:
        from datetime import date

        text = raw.isoformat() if isinstance(raw, date) else super().read(raw, folder)
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            raise ValueError("expected a date such as 2026-06-24") from None


class Floor(Number):
    """What figures must reach: one number, or figures by name as in `schema=0.98,p95<2s`."""

    def read(self, raw: Any, folder: Path) -> Any:
        return raw.strip() if isinstance(raw, str) and {*raw} & {*"=<>"} else super().read(raw, folder)

    def _expected(self, noun: str = "a number") -> str:
        return f"{super()._expected(noun)}, or a figure by name such as schema=0.98 or p95<2s"


class Duration(Number):
    """A time: seconds, or a number with s, m or h behind it."""

    def __init__(self, low: float | None = None) -> None:
        super().__init__(low, metavar="TIME")

    def _number(self, raw: Any) -> float:
        text = raw.strip().lower() if isinstance(raw, str) else raw
        unit = text[-1:] if isinstance(text, str) and text[-1:] in _SECONDS else ""
        return super()._number(text[:-1] if unit else text) * _SECONDS.get(unit, 1.0)

    def _expected(self, noun: str = "a time such as 90s, 10m or 1h, of") -> str:
        return super()._expected(noun).replace(", of at least", ", at least") + (" s" if self.low is not None else "")


class Switch:
    """Yes or no."""

    metavar = ""

    def read(self, raw: Any, folder: Path) -> bool:  # noqa: ARG002 - signature of Kind
        if isinstance(raw, bool):
            return raw
        word = raw.strip().lower() if isinstance(raw, str) else None
        if word not in _TRUE | _FALSE:
            raise ValueError("expected true or false")
        return word in _TRUE


class InputFile(Text):
    """A file to read; it must exist."""

    def __init__(self, metavar: str = "FILE") -> None:
        super().__init__(metavar)

    def read(self, raw: Any, folder: Path) -> str:
        path = folder / Path(text_of_path(raw)).expanduser()
        if not path.is_file():
            raise ValueError("expected a file that exists")
        return str(path)


class OutputFile(Text):
    """A file to write, or `-` for stdout."""

    def __init__(self, metavar: str = "FILE") -> None:
        super().__init__(metavar)

    def read(self, raw: Any, folder: Path) -> str:
        return super().read(text_of_path(raw), folder)


class Address(Text):
    """A web address; `https://` is added to a bare host, `http://` to a local one."""

    def __init__(self) -> None:
        super().__init__("URL")

    def read(self, raw: Any, folder: Path) -> str:
        from toolcert.settings.web_address import clean_address

        return clean_address(super().read(raw, folder))


class JsonBody:
    """A JSON object, as text, as `@file`, or as a TOML table."""

    metavar = "JSON|@FILE"

    def read(self, raw: Any, folder: Path) -> dict[str, Any]:
        if not isinstance(raw, str):
            text = self._encode(raw)
        else:
            text = self._load(raw[1:], folder) if raw.startswith("@") else raw
        body = self._parse(text)
        if not isinstance(body, dict):
            raise ValueError("expected a JSON object")  # noqa: TRY004 - one exception says "wrong value"
        for name in body:
            if name.lower() in _KEYS_IN_BODIES:
                raise ValueError(f"a request body must not carry a credential ({name}): runs keep what they send")
        return body

    @staticmethod
    def _encode(table: Any) -> str:
        try:
            return json.dumps(table, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"expected a JSON object ({error})") from None

    @staticmethod
    def _load(name: str, folder: Path) -> str:
        try:
            return (folder / Path(name).expanduser()).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"cannot read {name}: {error}") from None

    @staticmethod
    def _parse(text: str) -> Any:
        from toolcert.core.text.json_text import parse_json

        try:
            parse_json(text)  # says what is wrong; it takes numbers that cannot be sent
            return msgspec.json.decode(text)
        except ValueError as error:
            raise ValueError(f"expected a JSON object ({error})") from None


class HeaderLine(Text):
    """One `Name: value` line."""

    def __init__(self) -> None:
        super().__init__("'NAME: VALUE'")

    def read(self, raw: Any, folder: Path) -> str:
        from toolcert.settings.credentials import split_header

        line = super().read(raw, folder)
        split_header(line)
        return line


def text_of_path(raw: Any) -> str:
    if not isinstance(raw, str | os.PathLike) or not str(raw):
        raise ValueError("expected the path of a file")
    return os.fspath(raw)


_VARIABLE_NAME = lazy_pattern("[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LONGEST_WORD = 16


class KeyFile(InputFile):
    """A file to read a key from, or a pipe such as `<(pass show key)`."""

    def read(self, raw: Any, folder: Path) -> str:
        path = folder / Path(text_of_path(raw)).expanduser()
        return str(path) if path.is_fifo() else super().read(raw, folder)


class VariableName(Text):
    """The name of an environment variable; the key itself, which people write here by mistake, is refused."""

    def __init__(self) -> None:
        super().__init__("VARIABLE")

    def read(self, raw: Any, folder: Path) -> str:
        name = super().read(raw, folder)
        if not _VARIABLE_NAME.fullmatch(name) or (name not in os.environ and _looks_like_key(name)):
            raise ValueError("expected the NAME of the environment variable that holds the key, not the key")
        return name


def _looks_like_key(name: str) -> bool:
    """Whether a part of the name is long and mixes kinds of characters, as keys do and names of variables do not."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return any(
        len(word) >= _LONGEST_WORD and sum(any(map(kind, word)) for kind in kinds) > 1 for word in name.split("_")
    )


PREFIX = "TOOLCERT_"


class Option(Value):
    """One setting: a flag, an environment variable, a key of toolcert.toml and a keyword argument."""

    name: str
    """In the flag's form: `base-url`."""
    help: str
    group: str
    """Its heading in the help."""
    kind: Kind = Text()
    default: Any = None
    multiple: bool = False
    separator: str = ","
    """Between the values of a repeatable option in an environment variable."""
    secret: bool = False
    """Its value is never shown or stored, and not allowed in toolcert.toml."""
    per_endpoint: bool = False
    """Allowed in an [endpoints.NAME] table."""
    short: str = ""
    """A one-letter flag such as `-m`."""
    in_file: bool = True
    """Allowed in toolcert.toml."""

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        return PREFIX + self.key.upper().rstrip("_")

    @property
    def key(self) -> str:
        key = self.name.replace("-", "_")
        return f"{key}_" if iskeyword(key) else key  # `for_` is how Python spells such an argument

    @property
    def fallback(self) -> Any:
        """The value if it is given nowhere."""
        return () if self.multiple and self.default is None else self.default

    def read(self, raw: Any, folder: Path = Path()) -> Any:
        """The value that `raw` means; a ValueError says what is expected."""
        if not self.multiple:
            return self.kind.read(raw, folder)
        items = raw if isinstance(raw, list | tuple) else [raw]
        return tuple(self.kind.read(item, folder) for item in items)

    def read_text(self, text: str) -> Any:
        """The value of an environment variable."""
        if not self.multiple:
            return self.read(text)
        return self.read([part for part in text.split(self.separator) if part.strip()])


def may_carry_secret(option: Option) -> bool:
    """Whether a wrong value must not be shown: it may be a key, or hold one."""
    return option.secret or isinstance(option.kind, Address | HeaderLine | JsonBody | VariableName)
