"""What `toolcert init` does once its options are read."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from toolcert.core.errors import ExitCode, OutputError, UsageError
from toolcert.runs.files import write_whole
from toolcert.settings.addresses import clean_address
from toolcert.settings.config import FILE_NAME, load_config
from toolcert.settings.starter import KEY_VARIABLE, LOCAL, starter_text

GITHUB = Path(".github/workflows/tool-calling.yml")
GITLAB = Path(".gitlab-ci.yml")


def run(base_url: str | None, key_env: str, *, github: bool, gitlab: bool) -> int:
    """Write what is asked for, all of it or nothing."""
    wanted = {Path(FILE_NAME): starter_text(_address(base_url), key_env)}
    if github:
        wanted[GITHUB] = _workflow("github", key_env)
    if gitlab:
        wanted[GITLAB] = _workflow("gitlab", key_env)
    _refuse_existing(list(wanted))
    for path, text in wanted.items():
        write_whole(path, [text.encode()])
        click.echo(f"wrote {path}")
    load_config(FILE_NAME)  # what we wrote must be what we read
    click.echo("Next: toolcert doctor mine, then toolcert probe mine")
    return ExitCode.OK


def _address(base_url: str | None) -> str:
    if base_url is None:
        return LOCAL
    try:
        return clean_address(base_url)
    except ValueError as error:
        raise UsageError(f"--base-url {base_url}: {error}.") from None


def _refuse_existing(paths: list[Path]) -> None:
    existing = [str(path) for path in paths if path.exists()]
    if existing:
        raise OutputError(
            f"{', '.join(existing)} exists already; nothing was written.",
            remedy="Move it away first, or run this in another folder and copy what you need.",
        )


def _workflow(name: str, key_env: str) -> str:
    text = files("toolcert.cli").joinpath("workflows", f"{name}.yml").read_text("utf-8")
    return text.replace(KEY_VARIABLE, key_env or KEY_VARIABLE)
