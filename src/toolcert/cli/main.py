"""The command `toolcert`: a click group that imports a command only when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import click

from toolcert.cli.support.exit import OutputClosed, run_guarded, show_error, wants_color
from toolcert.core.errors import ExitCode, UsageError
from toolcert.core.text.spelling import did_you_mean
from toolcert.version import __version__


class Entry(NamedTuple):
    """Where a command lives and what it does."""

    target: str
    """`module:attribute`, imported when the command is called."""
    help: str


def _section(**commands: tuple[str, str]) -> dict[str, Entry]:
    """Commands, each with its module below `cli/commands` and its short help."""
    return {name: Entry(f"toolcert.cli.commands.{module}:{name}", text) for name, (module, text) in commands.items()}


SECTIONS: dict[str, dict[str, Entry]] = {
    "Measure": _section(
        probe=("measurement.probe", "Probe models: do they call tools correctly, and how reliably?"),
        verify=("measurement.verify", "Replay a dataset of requests against one model."),
        load=(
            "measurement.load",
            "Do calls that work alone break under load, and from how many requests at a time on?",
        ),
        replay=("measurement.replay", "Send one row of a run again and show both answers."),
        daily=("measurement.daily", "Probe, add to the history and publish: the daily run."),
        demo=("measurement.demo", "Probe simulated models, and a real small one, on this machine."),
    ),
    "Read results": _section(
        compare=("results.compare", "Is this vendor the same as the baseline, and how sure are we?"),
        merge=("results.runs", "Join the runs of all shards into one."),
        diff=("results.diff", "What changed from one run to another, and is it chance?"),
        bless=("results.compare", "Keep a run as a named baseline to compare with."),
        runs=("results.runs", "List runs, newest first: verdict, target, counts, cost, state."),
        report=("results.report", "Write reports about a finished run, in any format."),
        show=("results.case", "Show one row of a run: request, answer, findings, curl."),
        view=("results.report", "Look at runs in the browser: live, searchable, case by case."),
        mark=("results.case", "Mark a case of a run as known, or its finding as wrong."),
        dataset=("results.dataset", "Check or describe a dataset of requests."),
        history=("results.history", "What was measured before, what changed, what drifts."),
        findings=("results.findings", "Explain the findings, or one of them by its code."),
    ),
    "Endpoints": _section(
        models=("endpoint", "List the models of an endpoint."),
        endpoints=("endpoint", "List the endpoints that are known by name."),
        doctor=("endpoint", "Find out why an endpoint does not work."),
    ),
    "Set up": _section(
        init=("setup", "Write a commented toolcert.toml, and a CI workflow if wanted."),
        simulate=("simulate", "Serve simulated models, faithful and faulty, to test clients with."),
        completion=("setup", "Print the script that completes toolcert commands."),
    ),
}
"""All commands, so that `toolcert --help` need not import one. To add one: write its module and enter it here.

The short help must equal the command's own; a test compares them.
"""
COMMANDS: dict[str, Entry] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


_HELP = "help"


class LazyGroup(click.Group):
    """Takes its commands from a table; an error ends as one line and an exit code."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, Entry]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._entries = {name: entry for section in sections.values() for name, entry in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command), entry.target
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name == _HELP and name not in self._entries:
            return self._resolve_help(ctx, args[1:])
        if name not in self._entries and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command {name!r}. {did_you_mean(name, self._entries)}".rstrip(), ctx)
        return super().resolve_command(ctx, args)

    def _resolve_help(self, ctx: click.Context, words: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """`toolcert help` and `toolcert help COMMAND`, as other programs have them."""
        if not words:
            click.echo(ctx.get_help(), color=ctx.color)  # noqa: TID251 - our own text
            ctx.exit()
        return self.resolve_command(ctx, [*words, "--help"])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the commands by section, from the table alone, so that no command is imported for it."""
        for title, section in self._sections.items():
            if section:
                with formatter.section(title):
                    formatter.write_dl([(name, entry.help) for name, entry in section.items()])

    def invoke(self, ctx: click.Context) -> Any:
        _need_folder()
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # click would end with 1, which here means that a check failed.
            raise OutputClosed from None
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        def call() -> Any:
            return super(LazyGroup, self).main(args, prog_name, complete_var, standalone_mode=False, **extra)

        if not standalone_mode:
            return call()
        sys.exit(run_guarded(call))


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=LazyGroup, sections=SECTIONS, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="toolcert")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Can I trust this model, at this endpoint, to call tools?"""
    ctx.color = wants_color()


def main() -> None:
    """Entry point of the console script."""
    _need_output()
    _survive_narrow_encodings()
    cli(prog_name="toolcert")


def _need_output() -> None:
    """Fail if stdout is closed, as a shell does with `>&-`: the result would be lost."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
    if sys.stdout is None:
        show_error(
            UsageError("standard output is closed.", remedy="Write `> /dev/null` if you do not want the output.")
        )
        sys.exit(int(ExitCode.USAGE))


def _need_folder() -> None:
    """Refuse to start in a folder that was deleted: every relative path would fail, each with another message."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise UsageError("the working folder no longer exists.", remedy="Change to another one: cd ~") from None


def _survive_narrow_encodings() -> None:
    """Print a placeholder for a character that the terminal cannot show, instead of ending with an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
