"""`toolcert completion`: the script a shell needs to complete our commands."""

from __future__ import annotations

import click

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
