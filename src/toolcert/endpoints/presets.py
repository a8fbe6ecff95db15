"""The well-known endpoints of presets.toml."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from toolcert.core.values import Value

FILE = Path(__file__).with_name("presets.toml")


class Preset(Value, forbid_unknown_fields=True):
    """What is usual for one vendor or server."""

    dialect: str = "openai"
    base_url: str | None = None
    key_env: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    """Option key to the environment variable it is usually kept in."""
    note: str = ""


@cache
def presets() -> dict[str, Preset]:
    """All presets by name, in the order of the file."""
    import tomllib

    return msgspec.convert(tomllib.loads(FILE.read_text("utf-8")), dict[str, Preset])
