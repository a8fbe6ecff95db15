"""`toolcert init`: a first configuration, and a workflow if wanted."""

from __future__ import annotations

import click


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
    from toolcert.cli import starting

    return starting.run(base_url, api_key_env, github=github, gitlab=gitlab)
