"""`toolcert models`, `endpoints` and `doctor`: what an endpoint serves, which have a name, why one does not work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from toolcert.cli.support.click_options import SettingsCommand, chosen_endpoints, endpoint_arguments, use
from toolcert.cli.support.exit import show_error
from toolcert.core.errors import ExitCode, NothingMeasuredError
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint
    from toolcert.core.targets import ModelInfo
    from toolcert.endpoints.doctor import Step
    from toolcert.reports.console.style import Line, Screen


_TOOLS = {True: "declared", False: "declared without", None: ""}
_CONNECTION_LIMITS = ("timeout", "connect-timeout", "retries")


@click.command(cls=SettingsCommand, short_help="List the models of an endpoint.")
@endpoint_arguments
@use(*names(CONNECTION), "model", "exclude", *_CONNECTION_LIMITS, "json")
def models(settings: Settings, endpoints: tuple[str, ...]) -> ExitCode:
    """List the models of an endpoint.

    \b
    toolcert models localhost:8000
    toolcert models openrouter --model 'qwen/*'
    toolcert models --base-url https://api.example.com/v1 --api-key-env MY_KEY --json -
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.api.endpoint import models_of_each
    from toolcert.reports.destinations import deliver_json

    chosen = chosen_endpoints(settings, endpoints)
    listings = list(zip(chosen, models_of_each(chosen), strict=True))
    answered = [(endpoint, found) for endpoint, found in listings if not isinstance(found, NothingMeasuredError)]
    failures = [found for _, found in listings if isinstance(found, NothingMeasuredError)]
    if len(chosen) == 1 and failures:
        raise failures[0]
    for failure in failures:
        show_error(failure)
    if settings.json:
        deliver_json({"endpoints": [_models_json(endpoint, found) for endpoint, found in answered]}, settings.json)
    else:
        for endpoint, found in answered:
            _show(endpoint, found)
    return ExitCode.OK if answered else ExitCode.NOTHING_MEASURED


def _show(endpoint: Endpoint, found: list[ModelInfo]) -> None:
    from toolcert.endpoints.model_selection import model_counts
    from toolcert.reports.console.style import Screen, table

    screen = Screen()
    able = sum(info.can_chat for info in found)
    rows = [(info.id, info.owned_by or "", _TOOLS[info.declares_tools], info.why_not) for info in found]
    head = screen.prose(f"{endpoint.spec.name}: {model_counts(len(found), able)}")
    screen.print([*head, *table(("MODEL", "OWNER", "TOOLS", "CANNOT CHAT BECAUSE"), rows, screen)])


def _models_json(endpoint: Endpoint, found: list[ModelInfo]) -> dict[str, Any]:
    fields = ("id", "owned_by", "label", "can_chat", "why_not", "declares_tools")
    return {
        "name": endpoint.spec.name,
        "dialect": endpoint.spec.dialect,
        "base_url": endpoint.spec.base_url,
        "models": [{field: getattr(info, field) for field in fields} for info in found],
    }


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


_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red"), "skipped": ("-", "dim")}


@click.command(cls=SettingsCommand, short_help="Find out why an endpoint does not work.")
@endpoint_arguments
@use(*names(CONNECTION), "model", "timeout", "connect-timeout", "read-timeout", "retries", "json")
def doctor(settings: Settings, endpoints: tuple[str, ...]) -> ExitCode:
    """Find out why an endpoint does not work.

    Looks at name resolution, TLS, the key, the model list, one chat, the clocks, one tool call and one stream;
    three short requests are sent. Exits with 3 if nothing could be measured, with 1 if a later step fails.

    \b
    toolcert doctor localhost:8000
    toolcert doctor --endpoint openrouter --model qwen/qwen3-coder
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.http.connection import run
    from toolcert.reports.destinations import deliver_json

    chosen = chosen_endpoints(settings, endpoints)
    reports = [(endpoint, run(_examine(endpoint, quiet=bool(settings.json)))) for endpoint in chosen]
    if settings.json:
        deliver_json({"endpoints": [_steps_json(endpoint, steps) for endpoint, steps in reports]}, settings.json)
    return max((_exit_code(steps) for _, steps in reports), default=ExitCode.OK)


async def _examine(endpoint: Endpoint, *, quiet: bool) -> list[Step]:
    from toolcert.endpoints.doctor import Doctor
    from toolcert.endpoints.registry import open_endpoint
    from toolcert.reports.console.style import Line, Screen
    from toolcert.reports.display_text import visible

    steps, screen = [], Screen()
    async with open_endpoint(endpoint.spec, endpoint.key) as session:
        if not quiet:
            screen.print([Line(visible(f"{endpoint.spec.name}  {session.dialect.spec.base_url}"), "bold")])
        async for step in Doctor(session, endpoint.model[0] if endpoint.model else None).examine():
            steps.append(step)
            if not quiet:
                screen.print(_lines(step, screen))
    return steps


def _lines(step: Step, screen: Screen) -> list[Line]:
    from toolcert.reports.console.style import Line

    mark, style = _MARKS[step.health]
    took = f"{step.seconds:6.2f} s" if step.health != "skipped" else " " * 8
    head = Line("  ").append(mark, style).append(f" {step.name:<15} {took} ")
    remedy = screen.entry(Line(" " * len(head)), step.remedy, "cyan") if step.remedy else []
    return [*screen.entry(head, step.detail), *remedy]


def _exit_code(steps: list[Step]) -> ExitCode:
    from toolcert.endpoints.doctor import ESSENTIAL

    bad = {step.name for step in steps if step.health == "failed"}
    if bad & ESSENTIAL:
        return ExitCode.NOTHING_MEASURED
    return ExitCode.FAILED if bad else ExitCode.OK


def _steps_json(endpoint: Endpoint, steps: list[Step]) -> dict[str, Any]:
    fields = ("name", "health", "detail", "seconds", "remedy")
    return {
        "name": endpoint.spec.name,
        "base_url": endpoint.spec.base_url,
        "steps": [{field: getattr(step, field) for field in fields} for step in steps],
    }
