"""`toolcert models`: the models that an endpoint lists."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.endpoint_argument import chosen_endpoints, endpoint_arguments
from toolcert.cli.support.exit import show_error
from toolcert.cli.support.table import write_json, write_table
from toolcert.core.errors import ExitCode, NothingMeasuredError
from toolcert.settings import Settings
from toolcert.settings.options import CONNECTION, names

if TYPE_CHECKING:
    from toolcert.core.targets import ModelInfo
    from toolcert.endpoints.spec import ChosenEndpoint

_TOOLS = {True: "declared", False: "declared without", None: ""}
_REACHING = ("timeout", "connect-timeout", "retries")


@click.command(cls=SettingsCommand, short_help="List the models of an endpoint.")
@endpoint_arguments
@use(*names(CONNECTION), "model", "exclude", *_REACHING, "json")
def models(settings: Settings, endpoints: tuple[str, ...]) -> ExitCode:
    """List the models of an endpoint.

    \b
    toolcert models localhost:8000
    toolcert models openrouter --model 'qwen/*'
    toolcert models --base-url https://api.example.com/v1 --api-key-env MY_KEY --json -
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.http.connection import run

    chosen = chosen_endpoints(settings, endpoints)
    listings = run(_list_all(chosen))
    answered = [(choice, _wanted(choice, found)) for choice, found in listings if not isinstance(found, Exception)]
    failures = [found for _, found in listings if isinstance(found, NothingMeasuredError)]
    if len(chosen) == 1 and failures:
        raise failures[0]
    for failure in failures:
        show_error(failure)
    if settings.json:
        write_json(settings.json, {"endpoints": [_as_json(choice, found) for choice, found in answered]})
    else:
        for choice, found in answered:
            _show(choice, found)
    return ExitCode.OK if answered else ExitCode.NOTHING_MEASURED


async def _list_all(
    chosen: list[ChosenEndpoint],
) -> list[tuple[ChosenEndpoint, list[ModelInfo] | NothingMeasuredError]]:
    return list(zip(chosen, await asyncio.gather(*(_list(choice) for choice in chosen)), strict=True))


async def _list(choice: ChosenEndpoint) -> list[ModelInfo] | NothingMeasuredError:
    from toolcert.endpoints.registry import open_endpoint

    try:
        async with open_endpoint(choice.spec, choice.key) as session:
            return await session.models()
    except NothingMeasuredError as error:
        return error


def _wanted(choice: ChosenEndpoint, found: list[ModelInfo]) -> list[ModelInfo]:
    from toolcert.settings.patterns import Patterns

    wanted, unwanted = Patterns(choice.model), Patterns(choice.exclude)
    return [info for info in found if (not wanted or wanted.match(info.id)) and not unwanted.match(info.id)]


def _show(choice: ChosenEndpoint, found: list[ModelInfo]) -> None:
    from toolcert.endpoints.model_selection import told_models

    able = sum(info.can_chat for info in found)
    click.echo(f"{choice.spec.name}: {told_models(len(found), able)}")
    rows = [(info.id, info.owned_by or "", _TOOLS[info.declares_tools], info.why_not) for info in found]
    write_table(("MODEL", "OWNER", "TOOLS", "CANNOT CHAT BECAUSE"), rows)


def _as_json(choice: ChosenEndpoint, found: list[ModelInfo]) -> dict[str, Any]:
    fields = ("id", "owned_by", "label", "can_chat", "why_not", "declares_tools")
    return {
        "name": choice.spec.name,
        "dialect": choice.spec.dialect,
        "base_url": choice.spec.base_url,
        "models": [{field: getattr(info, field) for field in fields} for info in found],
    }
