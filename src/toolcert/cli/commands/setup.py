"""`toolcert init`: a first toolcert.toml and a CI workflow. `toolcert completion`: the script of a shell."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from toolcert.cli.support.exit import echo
from toolcert.core.errors import ExitCode, OutputError, UsageError
from toolcert.runs.files import write_whole
from toolcert.settings.config import FILE_NAME, load_config
from toolcert.settings.option import Address, Choice, HeaderLine, JsonBody, Number, Option, Switch
from toolcert.settings.options import OPTIONS
from toolcert.settings.web_address import clean_address


@click.command(short_help="Write a commented toolcert.toml, and a CI workflow if wanted.")
@click.option("--base-url", metavar="URL", help="Address of your endpoint; a local server otherwise.")
@click.option("--api-key-env", metavar="VARIABLE", default="", help="The variable that holds its key.")
@click.option("--github", is_flag=True, help="Also write .github/workflows/tool-calling.yml.")
@click.option("--gitlab", is_flag=True, help="Also write .gitlab-ci.yml.")
def init(base_url: str | None, api_key_env: str, github: bool, gitlab: bool) -> int:
    """Write a commented toolcert.toml to this folder, and a workflow for CI if wanted.

    Every option is in the file, with its default, as a comment. Nothing that exists is overwritten.

    \b
    toolcert init --base-url https://api.vendor.example/v1 --api-key-env VENDOR_KEY --github
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return write_files(base_url, api_key_env, github=github, gitlab=gitlab)


GITHUB = Path(".github/workflows/tool-calling.yml")
GITLAB = Path(".gitlab-ci.yml")


def write_files(base_url: str | None, key_env: str, *, github: bool, gitlab: bool) -> int:
    """Write the wanted files, or none if one of them exists."""
    wanted = {Path(FILE_NAME): starter_text(_address(base_url), key_env)}
    if github:
        wanted[GITHUB] = _workflow("github", key_env)
    if gitlab:
        wanted[GITLAB] = _workflow("gitlab", key_env)
    _refuse_existing(list(wanted))
    for path, text in wanted.items():
        write_whole(path, [text.encode()])
        echo(f"wrote {path}")
    load_config(FILE_NAME)  # a file that we cannot read ourselves would be a bug: find it now
    echo("Next: toolcert doctor mine, then toolcert probe mine")
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
            remedy="Move it away first, or run `toolcert init` in another folder and copy what you need.",
        )


def _workflow(name: str, key_env: str) -> str:
    text = files("toolcert.cli").joinpath("workflows", f"{name}.yml").read_text("utf-8")
    return text.replace(EXAMPLE_KEY_VARIABLE, key_env or EXAMPLE_KEY_VARIABLE)


WIDTH = 100
EXAMPLE_KEY_VARIABLE = "VENDOR_KEY"
LOCAL = "http://localhost:8000/v1"
_HEAD = """\
# Settings of toolcert. Say `toolcert probe mine`, or give the endpoint below a name of your own.
# A flag beats the environment, the environment beats this file, this file beats the default.
# Lines that begin with `# name =` are options: take the sign away and change the value. One that has no default shows
# what a value looks like. Options marked (*) may also stand in the table of an endpoint."""


def starter_text(base_url: str = LOCAL, key_env: str = "") -> str:
    """The whole file; only the endpoint is active, everything else is a comment."""
    key = f"api_key_env = {json.dumps(key_env)}" if key_env else f'# api_key_env = "{EXAMPLE_KEY_VARIABLE}"'
    lines = [
        *_HEAD.splitlines(),
        "",
        "[endpoints.mine]",
        f"base_url = {json.dumps(base_url)}",
        "# The name of the variable that holds the key; a key itself does not belong in a file that is shared.",
        key,
        "",
        "[defaults]",
        *_default_lines(),
        "",
        "# What a million tokens cost, to see what a run cost.",
        '# [prices."vendor/large"]',
        "# input = 3.0",
        "# output = 15.0",
    ]
    return "\n".join(lines) + "\n"


def _default_lines() -> Iterator[str]:
    options = [option for option in OPTIONS.values() if option.in_file and not option.secret]
    for group, members in groupby(sorted(options, key=_group_index), lambda option: option.group):
        yield from ("", f"# ---- {group}")
        for option in members:
            yield from _option_lines(option)


def _group_index(option: Option) -> int:
    """The place of the option's group in the table, so that sorting keeps each group together."""
    groups = list(dict.fromkeys(one.group for one in OPTIONS.values()))
    return groups.index(option.group)


def _option_lines(option: Option) -> Iterator[str]:
    mark = " (*)" if option.per_endpoint else ""
    yield from textwrap.wrap(option.help + mark, WIDTH, initial_indent="# ", subsequent_indent="# ")
    yield f"# {option.key} = {_toml(_shown_value(option))}"


def _shown_value(option: Option) -> Any:
    """The default, or an example of a value."""
    if option.default is not None:
        return option.default
    example = _example(option)
    return [example] if option.multiple else example


def _example(option: Option) -> Any:
    kind = option.kind
    if isinstance(kind, Switch):
        return True
    if isinstance(kind, Number):
        return max(1, int(kind.low or 0))
    if isinstance(kind, Choice):
        return kind.words[0]
    if isinstance(kind, JsonBody):
        return {"top_k": 20}
    examples = {Address: "https://api.example.com/v1", HeaderLine: "Name: value"}
    return next((text for known, text in examples.items() if isinstance(kind, known)), kind.metavar.partition("|")[0])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)


VARIABLE = "_TOOLCERT_COMPLETE"


@click.command(short_help="Print the script that completes toolcert commands.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes toolcert commands.

    \b
    bash:  toolcert completion bash > ~/.local/share/bash-completion/completions/toolcert
    zsh:   toolcert completion zsh  > ~/.zfunc/_toolcert
    fish:  toolcert completion fish > ~/.config/fish/completions/toolcert.fish
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from click.shell_completion import get_completion_class

    from toolcert.cli.main import cli

    script = get_completion_class(shell)
    assert script is not None, shell
    click.echo(script(cli, {}, "toolcert", VARIABLE).source())  # noqa: TID251 - our own text, tabs included
