"""`toolcert dataset`: what a dataset holds, and what is wrong with it."""

from __future__ import annotations

import click

from toolcert.core.errors import ExitCode


@click.group(short_help="Check or describe a dataset of requests.")
def dataset() -> None:
    """Check or describe a dataset of requests; nothing is sent."""


@dataset.command(short_help="List what is wrong with a dataset, line by line.")
@click.argument("file")
@click.option("--strict", is_flag=True, help="Warnings fail the check too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
def check(file: str, strict: bool, as_json: bool) -> int:
    """List what is wrong with a dataset, line by line; exit 1 where a line cannot be asked.

    FILE is JSONL, plain, gzip or zstd; - is stdin.
    """
    from toolcert.cli import describing

    return describing.check(file, strict=strict, as_json=as_json)


@dataset.command(short_help="Describe a dataset: rows, tools, tokens, schema features, duplicates.")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
def stats(file: str, as_json: bool) -> int:
    """Describe a dataset: rows, tools, tokens, schema features, duplicates.

    FILE is JSONL, plain, gzip or zstd; - is stdin.
    """
    from toolcert.cli import describing

    describing.stats(file, as_json=as_json)
    return ExitCode.OK
