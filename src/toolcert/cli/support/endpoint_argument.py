"""The argument `[ENDPOINT]...` and the endpoints it stands for, with the warnings that belong to it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from toolcert.cli.support.click_options import complete_from, endpoint_names
from toolcert.cli.support.exit import warn
from toolcert.settings import Settings

if TYPE_CHECKING:
    from toolcert.endpoints.spec import ChosenEndpoint


def endpoint_arguments(callback: Any) -> Any:
    """The argument `[ENDPOINT]...` of commands that talk to endpoints: names of toolcert.toml, presets or addresses."""
    argument = click.argument(
        "endpoints", nargs=-1, metavar="[ENDPOINT]...", shell_complete=complete_from(endpoint_names)
    )
    return argument(callback)


def chosen_endpoints(settings: Settings, endpoints: Sequence[str] = ()) -> list[ChosenEndpoint]:
    """The endpoints a command is to use."""
    from toolcert.endpoints.spec import choose_endpoints

    chosen = choose_endpoints(settings, endpoints, _ask_key if sys.stdin.isatty() and sys.stderr.isatty() else None)
    for choice in chosen:
        for variable in choice.ignored:
            warn(f"{variable} is set and not used: endpoint {choice.spec.name} was named on the command line.")
    return chosen


def _ask_key(endpoint: str) -> str:
    """A prompt that does not show what is typed."""
    return str(click.prompt(f"Key for {endpoint}", hide_input=True, err=True))
