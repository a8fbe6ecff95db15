"""Flag > environment > config file > default, for every option of the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.core.secrets import Secret
from toolcert.settings import OPTIONS, Option, Settings, Source, resolve
from toolcert.settings.option import Address, Choice, Day, HeaderLine, InputFile, JsonBody, Number, Share, Switch, Whole
from toolcert.settings.precedence import misspelt_variables

RANK = ("flag", "environment", "file", "default")


SAMPLES: dict[type, list[str]] = {
    Share: ["1/8", "2/8", "3/8"],
    Switch: ["true", "false", "true"],
    Whole: ["3", "4", "5"],
    Day: ["2026-06-24", "2026-06-25", "2026-06-26"],
    Number: ["0.25", "0.5", "0.75"],
    Address: ["http://a.test/v1", "http://b.test/v1", "http://c.test/v1"],
    JsonBody: ['{"a": 1}', '{"a": 2}', '{"a": 3}'],
    HeaderLine: ["A: 1", "B: 2", "C: 3"],
}


def samples(option: Option, folder: Path) -> list[str]:
    """Three values an option can take, as one writes them."""
    if isinstance(option.kind, Choice):
        return [option.kind.words[0], option.kind.words[1], option.kind.words[-1]]
    if isinstance(option.kind, InputFile):
        return [write(folder / name) for name in ("one.txt", "two.txt", "three.txt")]
    return next((SAMPLES[kind] for kind in type(option.kind).__mro__ if kind in SAMPLES), ["one", "two", "three"])


def write(path: Path, text: str = "") -> str:
    path.write_text(text)
    return str(path)


def flag_words(option: Option, text: str) -> list[str]:
    if isinstance(option.kind, Switch):
        return [option.flag if text == "true" else f"--no-{option.name}"]
    return [option.flag, text]


def toml_value(option: Option, text: str) -> str:
    if isinstance(option.kind, Switch | Number):
        return text
    return json.dumps(text)


def through_click(option: Option, words: list[str]) -> Settings:
    """What a command that takes this option is given."""
    seen: list[Settings] = []

    @click.command(cls=SettingsCommand)
    @use(option.name)
    def command(settings: Settings) -> None:
        seen.append(settings)

    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return seen[0]


def shown(value: Any) -> Any:
    return value.reveal() if isinstance(value, Secret) else value


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("sources", [RANK[i:] for i in range(4)], ids=lambda sources: f"{sources[0]} wins")
@pytest.mark.parametrize("name", OPTIONS)
def test_precedence(name: str, sources: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strongest source that says something wins, through the real command line, environment and file."""
    option = OPTIONS[name]
    monkeypatch.chdir(tmp_path)
    flag, variable, key = samples(option, tmp_path)
    words = flag_words(option, flag) if "flag" in sources else []
    if "environment" in sources:
        monkeypatch.setenv(option.variable, variable)
    in_file = "file" in sources and option.in_file
    if in_file:
        write(tmp_path / "toolcert.toml", f"[defaults]\n{option.key} = {toml_value(option, key)}\n")
    resolved = through_click(option, words).resolved(option.key)
    winner = sources[0] if sources[0] != "file" or in_file else "default"
    expected = {
        "flag": option.read_text(flag),
        "environment": option.read_text(variable),
        "file": option.read_text(key),
        "default": option.fallback,
    }
    assert resolved.source == winner
    assert shown(resolved.value) == expected[winner]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("name", OPTIONS)
def test_keyword_argument_is_a_flag(name: str, tmp_path: Path) -> None:
    option = OPTIONS[name]
    value = option.read_text(samples(option, tmp_path)[0])
    resolved = resolve([name], {option.key: value}, environment={}).resolved(option.key)
    assert (shown(resolved.value), resolved.source) == (value, Source.FLAG)


def test_one_name_everywhere() -> None:
    option = OPTIONS["base-url"]
    assert (option.flag, option.variable, option.key) == ("--base-url", "TOOLCERT_BASE_URL", "base_url")


def test_short_flags_are_unique() -> None:
    shorts = [option.short for option in OPTIONS.values() if option.short]
    assert len(shorts) == len(set(shorts))


def test_none_is_not_given() -> None:
    settings = resolve(["model", "timeout"], {"model": None, "timeout": None}, environment={"TOOLCERT_TIMEOUT": "3"})
    assert settings.timeout == 3
    assert settings.model == ()


def test_lists_from_the_environment() -> None:
    environment = {"TOOLCERT_MODEL": "a*, re:^b", "TOOLCERT_HEADER": "A: 1, 2\nB: 3"}
    settings = resolve(["model", "header"], {}, environment=environment)
    assert settings.model == ("a*", "re:^b")
    assert settings.header == ("A: 1, 2", "B: 3")


def test_wrong_variable_is_named_with_what_was_expected() -> None:
    with pytest.raises(ConfigurationError, match=r"TOOLCERT_CONCURRENCY: expected a whole number at least 1 .*'many'"):
        resolve(["concurrency"], {}, environment={"TOOLCERT_CONCURRENCY": "many"})


def test_wrong_flag_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"--concurrency: .*, not '0'"):
        resolve(["concurrency"], {"concurrency": "0"}, environment={})


@pytest.mark.parametrize(
    ("option", "raw"),
    [
        ("base-url", "https://user:hunter2@host/v1"),
        ("base-url", "https://host/v1?api_key=hunter2"),
        ("header", "X-Api-Key: hunter2"),
        ("extra-body", '{"api_key": "hunter2"}'),
    ],
)
def test_a_refused_value_that_may_hold_a_secret_is_not_repeated(option: str, raw: str) -> None:
    key = option.replace("-", "_")
    with pytest.raises(UsageError, match=f"--{option}") as flag:
        resolve([option], {key: raw}, environment={})
    with pytest.raises(ConfigurationError, match="TOOLCERT_") as variable:
        resolve([option], {}, environment={f"TOOLCERT_{key.upper()}": raw})
    assert "hunter2" not in f"{flag.value} {variable.value}"


def test_an_empty_variable_is_no_value() -> None:
    assert resolve(["retries"], {}, environment={"TOOLCERT_RETRIES": ""}).retries == 2


def test_settings_never_show_a_key() -> None:
    settings = resolve(["api-key"], {"api_key": "sk-very-secret"}, environment={})
    assert "sk-very-secret" not in repr(dict(settings.items()))
    assert settings.api_key.reveal() == "sk-very-secret"


def test_an_option_the_command_does_not_take_is_our_mistake() -> None:
    with pytest.raises(AttributeError, match="suite"):
        _ = resolve(["model"], {}, environment={}).suite


def test_a_visible_key_is_warned_of_once_without_its_value() -> None:
    @click.command(cls=SettingsCommand)
    @use("api-key")
    def command(settings: Settings) -> None:
        pass

    stderr = CliRunner().invoke(command, ["--api-key", "sk-very-secret"]).stderr
    assert stderr.count("TOOLCERT_API_KEY") == 1
    assert "sk-very-secret" not in stderr


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("TOOLCERT_ITERATION", "TOOLCERT_ITERATIONS"),
        ("TOOLCERT_BASEURL", "TOOLCERT_BASE_URL"),
        ("TOOLCERT_ITERATIONS", None),
        ("TOOLCERT_RELEASE_CHANNEL", None),
        ("OTHER_ITERATION", None),
    ],
)
def test_a_variable_that_is_almost_one_of_ours_is_named(variable: str, meant: str | None) -> None:
    """Others may use the prefix for things of their own; a slip of the pen is told."""
    assert misspelt_variables({variable: "1"}) == ([(variable, meant)] if meant else [])


def test_a_command_warns_of_a_misspelt_variable() -> None:
    @click.command(cls=SettingsCommand)
    @use("iterations")
    def command(settings: Settings) -> None:
        click.echo(settings.iterations)

    result = CliRunner().invoke(command, [], env={"TOOLCERT_ITERATION": "3"})
    assert result.stdout == "5\n"
    assert "Did you mean TOOLCERT_ITERATIONS?" in result.stderr
