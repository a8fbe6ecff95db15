"""`toolcert probe`: short conversations with every model at one or more endpoints."""

from __future__ import annotations

import click

from toolcert.cli.connecting import endpoint_arguments
from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import ASKING, CONNECTION, OUTPUT, PROBING, names


@click.command(cls=SettingsCommand)
@endpoint_arguments
@use(
    *names(CONNECTION, ASKING, PROBING, OUTPUT),
    "history",
    "save-history",
    "days",
)
def probe(endpoints: tuple[str, ...], settings: Settings) -> int:
    """Probe models: do they call tools, rightly, and how surely?

    ENDPOINT is an address, a preset (see `toolcert endpoints`) or a name from toolcert.toml.

    \b
    toolcert probe http://localhost:8000                 every model of a local server
    toolcert probe my-vllm -m 'qwen*' -n 20              some models, twenty times each
    toolcert probe openrouter groq -m '*llama*' --html r.html   the same model at two vendors
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.cli import probing

    if settings.list_probes:
        return probing.list_probes()
    return probing.run(endpoints, settings)
