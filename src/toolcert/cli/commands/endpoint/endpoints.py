"""`toolcert endpoints`: the names that can be given wherever an endpoint is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.settings import Settings

PRESET = "preset"


class Known(NamedTuple):
    """An endpoint that has a name."""

    name: str
    origin: str
    dialect: str
    address: str
    key: str
    note: str

    @property
    def remark(self) -> str:
        """The line below the entry: the file it comes from, an unusual dialect, and the note of a preset."""
        dialect = "" if self.dialect in ("openai", self.name) else f"{self.dialect} dialect."
        origin = "" if self.origin == PRESET else f"From {self.origin}."
        return " ".join(part for part in (origin, dialect, self.note) if part)


@click.command(cls=SettingsCommand, short_help="List the endpoints that are known by name.")
@use("json")
def endpoints(settings: Settings) -> None:
    """List the endpoints that are known by name.

    Those of toolcert.toml come first, then the presets. Nothing is sent.
    """
    from toolcert.reports.console.style import Screen, table
    from toolcert.reports.destinations import deliver_json

    known = [*_configured(settings), *_presets()]
    if settings.json:
        deliver_json({"endpoints": [entry._asdict() for entry in known]}, settings.json)
        return
    screen = Screen()
    rows = [(entry.name, entry.address, entry.key) for entry in known]
    lines = table(("NAME", "ADDRESS", "KEY"), rows, screen, notes=[entry.remark for entry in known])
    screen.print(lines, screen.prose("Any other server: give its address, or write it into toolcert.toml."))


def _configured(settings: Settings) -> Iterator[Known]:
    from toolcert.endpoints.presets import Preset, presets

    for name, table in settings.config.endpoints.items():
        preset = presets().get(table.get("preset", ""), Preset())
        yield Known(
            name=name,
            origin=settings.config.where("endpoints", name),
            dialect=table.get("dialect", preset.dialect),
            address=table.get("base_url") or preset.base_url or "",
            key=_key_of(table) or _usual_key(preset.key_env),
            note="",
        )


def _presets() -> Iterator[Known]:
    from toolcert.endpoints.presets import presets

    for name, preset in presets().items():
        yield Known(
            name=name,
            origin=PRESET,
            dialect=preset.dialect,
            address=preset.base_url or "",
            key=_usual_key(preset.key_env),
            note=preset.note,
        )


def _key_of(table: dict[str, Any]) -> str:
    if "api_key_env" in table:
        return _variable(table["api_key_env"])
    return f"file {table['api_key_file']}" if "api_key_file" in table else ""


def _usual_key(variables: tuple[str, ...]) -> str:
    """The variable that is set, or the usual one."""
    if not variables:
        return ""
    return _variable(next((name for name in variables if os.environ.get(name)), variables[0]))


def _variable(name: str) -> str:
    return f"{name} (set)" if os.environ.get(name) else name
