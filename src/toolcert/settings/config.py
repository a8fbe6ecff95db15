"""What toolcert.toml says: defaults, named endpoints and prices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolcert.core.values import Value

FILE_NAME = "toolcert.toml"


class Price(Value):
    """What a model's tokens cost, per million, in whatever currency the user thinks in."""

    input: float
    output: float


class Config(Value):
    """The content of a configuration file, checked."""

    path: str = ""
    text: str = ""
    defaults: dict[str, Any] = {}
    endpoints: dict[str, dict[str, Any]] = {}
    prices: dict[str, Price] = {}

    def where(self, *keys: str) -> str:
        """File and line of a key."""
        from toolcert.settings.toml_lines import line_of

        return f"{self.path}:{line_of(self.text, keys)}"


def load_config(path: str | None = None) -> Config:
    """Read the given file, or toolcert.toml in the working directory, or nothing."""
    file = Path(path) if path is not None else Path(FILE_NAME)
    if path is None and not file.is_file():
        return Config()
    from toolcert.settings.config_file import read_config

    return read_config(file)
