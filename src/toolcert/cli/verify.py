"""`toolcert verify`: a dataset of requests replayed against one model."""

from __future__ import annotations

import click

from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import ASKING, CONNECTION, OUTPUT, VERIFYING, names

_LEFT_OUT = frozenset({"exclude", "all-models"})


@click.command(cls=SettingsCommand, short_help="Replay a dataset of requests against one model.")
@click.argument("dataset", required=False, metavar="[DATASET]")
@click.option("--from", "earlier", metavar="RUN", help="Judge a finished run or results.jsonl again; nothing is sent.")
@click.option(
    "--rules",
    type=click.Choice(["ours", "older"]),
    default="ours",
    help="With --from: our rules, or those of the older verifiers.",
)
@click.option("--resume", is_flag=True, help="Take up the run in --output; this is so anyway unless --fresh is given.")
@use(*(name for name in names(CONNECTION, ASKING, VERIFYING, OUTPUT) if name not in _LEFT_OUT), "fail-under", "fail-on")
def verify(dataset: str | None, earlier: str | None, rules: str, resume: bool, settings: Settings) -> int:
    """Replay a dataset of requests against one model, and judge every answer.

    DATASET is a JSONL file of chat completions bodies, one a line; gzip and zstd are read as they are, - is stdin.

    \b
    toolcert verify requests.jsonl --base-url https://api.vendor.example/v1 -m model -o run
    toolcert verify requests.jsonl -e my-vllm -m model --sample 200 --seed 1 --fail-under schema=0.98
    toolcert verify --from run                           judge again after a rule changed
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.cli import verifying

    return verifying.run(dataset, settings, earlier=earlier, rules=rules, resume=resume)
