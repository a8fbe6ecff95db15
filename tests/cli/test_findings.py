"""`toolcert findings`: the whole catalogue, an area of it, one code in words, and a hint for a slip."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from toolcert.cli.main import cli
from toolcert.diagnose import catalogue, kind_of


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["findings", *arguments])


def test_all_codes_are_listed_with_severity_and_title() -> None:
    result = run()
    assert result.exit_code == 0
    for kind in catalogue():
        line = next(line for line in result.stdout.splitlines() if line.strip().startswith(kind.code + " "))
        assert kind.severity.value in line
        assert line.endswith(kind.title)


def test_one_area_is_listed_alone() -> None:
    lines = [line.split()[0] for line in run("usage").stdout.splitlines() if line.startswith("  ")]
    assert lines == ["usage.arithmetic", "usage.missing", "usage.prompt_tokens_differ"]


@pytest.mark.parametrize("code", ["finish.stop_with_calls", "nondeterministic", "FINISH.Stop_With_Calls"])
def test_one_code_is_explained(code: str) -> None:
    kind = kind_of(code.lower())
    words = " ".join(run(code).stdout.split())
    for text in (kind.code, kind.severity.value, kind.title, kind.meaning, kind.cause, kind.remedy, *kind.seen_in):
        assert " ".join(text.split()) in words
    assert f"#{kind.anchor}" in words


def test_a_keyword_is_explained_by_the_schema_entry() -> None:
    assert kind_of("args.schema").title in run("args.schema.enum").stdout


@pytest.mark.parametrize(
    ("slip", "suggestion"), [("finish.stop_with_call", "finish.stop_with_calls"), ("one_piece", "stream.one_piece")]
)
def test_a_slip_gets_a_suggestion_and_exit_code_2(slip: str, suggestion: str) -> None:
    result = run(slip)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert suggestion in result.stderr


def test_nonsense_gets_no_suggestion() -> None:
    result = run("qqqqqq")
    assert result.exit_code == 2
    assert "Did you mean" not in result.stderr


def test_a_shell_completes_codes() -> None:
    completion = ShellComplete(cli, {}, "toolcert", "_TOOLCERT_COMPLETE")
    offered = [item.value for item in completion.get_completions(["findings"], "finish.a")]
    assert offered == ["finish.absent"]
