"""`toolcert simulate`: serve models that behave well or badly, on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.exit import echo
from toolcert.core.errors import UsageError
from toolcert.settings.option import VariableName

if TYPE_CHECKING:
    from toolcert.simulate.vendor import Behaviour, Simulation


FACES = ("openai", "litellm", "watsonx")


@click.command(short_help="Serve simulated models, faithful and faulty, to test clients with.")
@click.option("--face", type=click.Choice(FACES), default="openai", show_default=True, help="Dialect to speak.")
@click.option(
    "--port", default=8088, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--model", "models", multiple=True, metavar="ID", help="Model to serve. Repeatable; a handful by default."
)
@click.option("--list", "listing", is_flag=True, help="List all models and faults there are; serve nothing.")
@click.option("--latency", default="0", show_default=True, metavar="SECONDS", help="0.2, 0.1-0.5 or 0.2~0.5 (a tail).")
@click.option("--chunk-gap", default=0.0, show_default=True, metavar="SECONDS", help="Pause between stream events.")
@click.option("--seed", default=1, show_default=True, help="Seed of all chance.")
@click.option("--key-env", metavar="VARIABLE", help="Demand the API key that this environment variable holds.")
@click.option("--rpm", type=click.IntRange(1), metavar="N", help="Answer 429 to more than N requests a minute.")
def simulate(
    *,
    face: str,
    port: int,
    host: str,
    models: tuple[str, ...],
    listing: bool,
    latency: str,
    chunk_gap: float,
    seed: int,
    key_env: str | None,
    rpm: int | None,
) -> None:
    """Serve simulated models, faithful and faulty, to test clients with.

    \b
    toolcert simulate                                        eight models that differ visibly
    toolcert simulate --model faithful --model fault:args.empty
    toolcert simulate --model flaky:7/10:text-caller --latency 0.1-0.5
    toolcert simulate --list                                 every model and fault there is
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    if listing:
        for line in _everything():
            echo(line)
        return
    behaviour: Behaviour = {"latency": latency, "chunk_gap": chunk_gap, "seed": seed, "rate_limit": rpm}
    key = _key(key_env) if key_env else None
    with _vendor(face, models or None, key, behaviour, host=host, port=port) as vendor:
        _serve(vendor)


def _vendor(
    face: str, models: Sequence[str] | None, key: str | None, behaviour: Behaviour, *, host: str, port: int
) -> Simulation:
    if face == "watsonx":
        from toolcert.simulate.watsonx import WatsonxVendor

        return WatsonxVendor(models, api_key=key, host=host, port=port, **behaviour)
    if face == "litellm":
        from toolcert.simulate.litellm_proxy import LiteLlmVendor

        return LiteLlmVendor(models, master_key=key, host=host, port=port, **behaviour)
    from toolcert.simulate import Vendor

    return Vendor(models, api_key=key, host=host, port=port, **behaviour)


def _key(variable: str) -> str:
    try:
        key = os.environ.get(VariableName().read(variable, Path()))
    except ValueError as error:
        raise UsageError(f"--key-env: {error}.") from None
    if not key:
        state = "not set" if key is None else "set but empty"
        raise UsageError(f"The environment variable {variable} is {state}.", remedy="Set it to the key to demand.")
    return key


def _everything() -> Iterator[str]:
    from toolcert.simulate.faults import all_faults
    from toolcert.simulate.persona import names, persona

    about = {name: found.about for name in names() if (found := persona(name))}
    about |= {fault.model: fault.about for fault in all_faults()}
    about["flaky:K/N:MODEL"] = "Faithful K times of N, otherwise like the model."
    about["slow:SECONDS:MODEL"] = "Like the model, later."
    width = max(map(len, about))
    return (f"{name:<{width}}  {text}" for name, text in about.items())


def _serve(vendor: Simulation) -> None:
    """Stay until interrupted."""
    import signal
    import threading

    ended = threading.Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wanted, lambda *_: ended.set())
    echo(f"Serving at {vendor.url} (Ctrl-C ends)")
    for line in vendor.hints():
        echo(f"  {line}")
    echo("Models:")
    for entry in vendor.listing():
        echo(f"  {entry['id']}")
    while not ended.wait(0.5):  # a plain wait would not let Windows see Ctrl-C
        pass
    echo(f"Answered {vendor.requests.count()} requests.")
