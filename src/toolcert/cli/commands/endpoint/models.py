"""`toolcert models`: the models that an endpoint lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        deliver_json({"endpoints": [_as_json(endpoint, found) for endpoint, found in answered]}, settings.json)
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


def _as_json(endpoint: Endpoint, found: list[ModelInfo]) -> dict[str, Any]:
    fields = ("id", "owned_by", "label", "can_chat", "why_not", "declares_tools")
    return {
        "name": endpoint.spec.name,
        "dialect": endpoint.spec.dialect,
        "base_url": endpoint.spec.base_url,
        "models": [{field: getattr(info, field) for field in fields} for info in found],
    }
