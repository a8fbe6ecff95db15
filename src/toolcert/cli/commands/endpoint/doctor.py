"""`toolcert doctor`: why an endpoint does not work, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcert.cli.support.click_options import SettingsCommand, chosen_endpoints, endpoint_arguments, use
from toolcert.core.errors import ExitCode
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint
    from toolcert.endpoints.doctor import Step
    from toolcert.reports.console.style import Line, Screen

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red"), "skipped": ("-", "dim")}


@click.command(cls=SettingsCommand, short_help="Find out why an endpoint does not work.")
@endpoint_arguments
@use(*names(CONNECTION), "model", "timeout", "connect-timeout", "read-timeout", "retries", "json")
def doctor(settings: Settings, endpoints: tuple[str, ...]) -> ExitCode:
    """Find out why an endpoint does not work.

    Looks at name resolution, TLS, the key, the model list, one chat, the clocks, one tool call and one stream;
    three short requests are sent. Exits with 3 where nothing could be measured, with 1 where a later step fails.

    \b
    toolcert doctor localhost:8000
    toolcert doctor --endpoint openrouter --model qwen/qwen3-coder
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.http.connection import run
    from toolcert.reports.destinations import deliver_json

    chosen = chosen_endpoints(settings, endpoints)
    reports = [(endpoint, run(_examine(endpoint, quiet=bool(settings.json)))) for endpoint in chosen]
    if settings.json:
        deliver_json({"endpoints": [_as_json(endpoint, steps) for endpoint, steps in reports]}, settings.json)
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


def _as_json(endpoint: Endpoint, steps: list[Step]) -> dict[str, Any]:
    fields = ("name", "health", "detail", "seconds", "remedy")
    return {
        "name": endpoint.spec.name,
        "base_url": endpoint.spec.base_url,
        "steps": [{field: getattr(step, field) for field in fields} for step in steps],
    }
