"""The command line's foundation: lazy commands, one-line errors, exit codes."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from support.patience import PATIENCE
from toolcert.cli.main import COMMANDS, Entry, LazyGroup, cli
from toolcert.core.errors import ExitCode, GateError, NothingMeasuredError, UsageError

HEAVY = (
    "aiohttp",
    "jsonschema_rs",
    "msgspec",
    "scipy",
    "numpy",
    "sqlalchemy",
    "jinja2",
    "rich",
    "uvloop",
    "yaml",
    "asyncio",
)
HELP_AND_MODULES = """
import sys
from toolcert.cli.main import cli
cli.main(["--help"], standalone_mode=False)
print(*sys.modules, file=sys.stderr)
"""
ENDLESS_OUTPUT = """
import click, sys
from toolcert.cli.main import cli, main
talker = click.Command("completion", callback=lambda: [click.echo("x" * 999) for _ in range(999)])
cli.get_command = lambda *_: talker
sys.argv = ["toolcert", "completion"]
main()
"""


def group_with(function: Callable[[], Any]) -> LazyGroup:
    """A group whose only command `go` runs `function`."""
    group = LazyGroup("toolcert", sections={"Test": {"go": Entry("unused:unused", "")}})
    command = click.Command("go", callback=function)
    group.get_command = lambda _ctx, _name: command  # type: ignore[method-assign] # the table imports modules only
    return group


def run(function: Callable[[], Any]) -> Result:
    return CliRunner().invoke(group_with(function), ["go"])


def raising(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


def test_help_imports_no_network_schema_or_science_library() -> None:
    done = subprocess.run([sys.executable, "-c", HELP_AND_MODULES], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "click" in loaded
    assert loaded.isdisjoint(HEAVY)
    for name in COMMANDS:
        assert name in done.stdout


def cpu_seconds(*arguments: str) -> float:
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="Windows does not account the CPU time of children")
def test_help_costs_at_most_six_times_a_bare_interpreter() -> None:
    """Interleaved, the best of each kept, and up to 25 rounds: shared machines make single measurements lie."""
    bare = helped = float("inf")
    for _ in range(25):
        bare = min(bare, cpu_seconds("-c", "pass"))
        helped = min(helped, cpu_seconds("-m", "toolcert", "--help"))
        if helped <= 6 * bare:
            return
    pytest.fail(f"toolcert --help takes {helped / bare:.1f} x of python -c pass")


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_of_the_table_is_the_commands_own(name: str) -> None:
    entry = COMMANDS[name]
    module, _, attribute = entry.target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert command.name == name
    assert command.get_short_help_str(limit=200) == entry.help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"], prog_name="toolcert")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: toolcert {name} ")
    first_words = " ".join(COMMANDS[name].help.split()[:2])
    assert first_words in " ".join(result.output.split())


def commands_below(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands_below(inner, click.Context(inner, context, info_name=name))


def test_examples_in_every_help_keep_their_lines() -> None:
    """Two backslashed letters instead of a backspace would run the examples together."""
    for command, context in commands_below(cli, click.Context(cli, info_name="toolcert")):
        assert "\\b" not in command.get_help(context), context.command_path


def test_user_error_is_a_line_a_remedy_and_an_exit_code() -> None:
    result = run(raising(UsageError("no endpoint was given.", remedy="name one.")))
    assert result.exit_code == 2
    assert result.stderr == "Error: no endpoint was given.\nRemedy: name one.\n"
    assert result.stdout == ""


@pytest.mark.parametrize(("error", "code"), [(NothingMeasuredError("x"), 3), (GateError("x"), 1)])
def test_exit_code_is_the_errors_own(error: Exception, code: int) -> None:
    assert run(raising(error)).exit_code == code


def test_unexpected_exception_is_our_bug_with_traceback() -> None:
    result = run(raising(ZeroDivisionError("oops")))
    assert result.exit_code == ExitCode.BUG
    assert "Traceback" in result.stderr
    assert "This is a bug in toolcert" in result.stderr


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), click.Abort()])
def test_interruption_is_130(interruption: BaseException) -> None:
    result = run(raising(interruption))
    assert result.exit_code == 130
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (ExitCode.FAILED, 1), (ExitCode.NOTHING_MEASURED, 3)])
def test_a_commands_return_value_is_the_exit_code(returned: ExitCode | None, code: int) -> None:
    assert run(lambda: returned).exit_code == code


def test_a_closed_pipe_ends_quietly() -> None:
    """`toolcert ... | head` neither shows a traceback nor looks like a failed check."""
    child = subprocess.Popen([sys.executable, "-c", ENDLESS_OUTPUT], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read(10)
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(timeout=PATIENCE) == 141


def test_mistyped_command_is_a_usage_error_that_suggests_the_nearest() -> None:
    result = CliRunner().invoke(cli, ["compleation"])
    assert result.exit_code == 2
    assert "Did you mean completion?" in result.stderr


def test_version() -> None:
    from toolcert.version import __version__

    assert CliRunner().invoke(cli, ["--version"]).output == f"toolcert, version {__version__}\n"


@pytest.mark.parametrize(("no_color", "colored"), [("1", False), ("", True)])
def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, no_color: str, colored: bool) -> None:
    """`NO_COLOR` set to anything but nothing keeps escape codes away, even on a terminal."""
    monkeypatch.setenv("NO_COLOR", no_color)
    group = group_with(raising(UsageError("wrong")))
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda _stream, color=None: color is False)
    result = CliRunner().invoke(group, ["go"], color=True)
    assert ("\x1b[" in result.stderr) is colored


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str) -> None:
    result = CliRunner().invoke(cli, ["completion", shell])
    assert result.exit_code == 0
    assert "_TOOLCERT_COMPLETE" in result.output


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        (["probe", "--suite"], "h", ["hello"]),
        (["probe", "--sort"], "sc", ["score"]),
        (["probe", "--probe"], "multi_", ["multi_tool", "multi_step"]),
        (["probe", "-e"], "open", ["openai", "openrouter"]),
        (["models"], "groq", ["groq"]),
    ],
)
def test_completion_knows_values(words: list[str], begun: str, offered: list[str]) -> None:
    completion = ShellComplete(cli, {}, "toolcert", "_TOOLCERT_COMPLETE")
    assert [item.value for item in completion.get_completions(words, begun)] == offered


def test_help_names_the_suites_there_are() -> None:
    from toolcert.probes.suites import SUITES
    from toolcert.settings import OPTIONS

    assert [word for word in re.findall(r"\w+", OPTIONS["suite"].help) if word in SUITES] == list(SUITES)


def test_completion_knows_the_commands() -> None:
    """The script asks the program itself, which answers from the table."""
    environment = os.environ | {"_TOOLCERT_COMPLETE": "bash_complete", "COMP_WORDS": "toolcert comp", "COMP_CWORD": "1"}
    answer = subprocess.run(
        [sys.executable, "-m", "toolcert"], env=environment, capture_output=True, text=True, check=True
    )
    assert "plain,completion" in answer.stdout


def redirected(words: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """The real command behind a redirection of the shell."""
    program = f"{sys.executable} -c 'from toolcert.cli.main import main; main()' {words} {redirection}"
    return subprocess.run(["sh", "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.sampled
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.parametrize("words", ["--help", "models --help", "findings", "endpoints", "endpoints --json -"])
def test_a_full_disk_under_our_output_is_no_bug(words: str) -> None:
    ended = redirected(words, "> /dev/full")
    assert ended.stderr.splitlines() == ["Error: cannot write to standard output: No space left on device."]
    assert ended.returncode == ExitCode.USAGE


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell's redirections")
def test_a_closed_output_is_told_before_anything_is_measured() -> None:
    ended = redirected("findings", ">&-")
    assert ended.stderr.startswith("Error: standard output is closed.\nRemedy: ")
    assert ended.returncode == ExitCode.USAGE
    assert redirected("findings", "2>&-").returncode == ExitCode.OK


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(13, "Permission denied", "run/records.jsonl"), "cannot open run/records.jsonl"),
        (IsADirectoryError(21, "Is a directory", os.curdir), "cannot read ."),
        (OSError(28, "No space left on device"), "cannot write"),
    ],
)
def test_what_the_system_refuses_is_no_bug(error: OSError, told: str) -> None:
    def refused() -> None:
        raise error

    result = CliRunner().invoke(group_with(refused), ["go"])
    assert result.stderr == f"Error: {told}: {error.strerror}.\n"
    assert result.exit_code == ExitCode.USAGE


def test_a_system_error_that_tells_nothing_is_a_bug() -> None:
    def broken() -> None:
        raise OSError("inexplicable")

    result = CliRunner().invoke(group_with(broken), ["go"])
    assert "inexplicable" in result.stderr
    assert result.exit_code == ExitCode.BUG


def test_help_is_also_a_word() -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["help"]).stdout == runner.invoke(cli, ["--help"]).stdout
    assert runner.invoke(cli, ["help", "models"]).stdout == runner.invoke(cli, ["models", "--help"]).stdout
    assert "No such command 'modls'. Did you mean models?" in runner.invoke(cli, ["help", "modls"]).stderr
