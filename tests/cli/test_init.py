"""`toolcert init`: a configuration that is true, workflows that run, nothing overwritten."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from toolcert.cli.commands.setup import starter_text
from toolcert.cli.main import cli
from toolcert.settings import OPTIONS
from toolcert.settings.config import load_config
from toolcert.settings.option import InputFile

ROOT = Path(__file__).resolve().parents[2]
COMMENTED = re.compile(r"^# (\w+ = .*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def init(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["init", *words])
    return done.exit_code, done.output


def active() -> str:
    """The starter's [defaults] with every option taken out of its comment."""
    text = starter_text()
    return COMMENTED.sub(r"\1", text[text.index("[defaults]") : text.index("# What a million")])


def test_every_option_that_may_stand_in_a_file_is_there() -> None:
    keys = set(tomllib.loads(active())["defaults"])
    assert keys == {option.key for option in OPTIONS.values() if option.in_file and not option.secret}


def test_defaults_are_the_defaults() -> None:
    shown = tomllib.loads(active())["defaults"]
    with_default = [option for option in OPTIONS.values() if option.key in shown and option.default is not None]
    assert with_default
    assert [shown[option.key] for option in with_default] == [option.default for option in with_default]


def test_every_example_is_a_value_its_option_takes() -> None:
    """Uncommented as it stands, the file is accepted; files that must exist are made first."""
    for option in OPTIONS.values():
        if isinstance(option.kind, InputFile):
            Path(option.kind.metavar).touch()
    Path("all.toml").write_text(active())
    assert load_config("all.toml").defaults["iterations"] == 5


def test_what_was_written_is_read_back() -> None:
    code, said = init("--base-url", "api.vendor.example/v1", "--api-key-env", "MY_KEY")
    assert code == 0, said
    config = load_config()
    assert config.endpoints == {"mine": {"base_url": "https://api.vendor.example/v1", "api_key_env": "MY_KEY"}}
    assert config.defaults == {}
    assert not Path(".github").exists()


def test_nothing_is_overwritten_and_nothing_is_half_done() -> None:
    Path(".gitlab-ci.yml").write_text("mine: {}\n")
    code, said = init("--gitlab")
    assert code == 2
    assert ".gitlab-ci.yml exists already" in said
    assert Path(".gitlab-ci.yml").read_text() == "mine: {}\n"
    assert not Path("toolcert.toml").exists()


def test_a_wrong_address_is_said_before_anything_is_written() -> None:
    code, said = init("--base-url", "ftp://x")
    assert code == 2
    assert "ftp://x" in said
    assert not Path("toolcert.toml").exists()


@pytest.mark.parametrize(
    ("flag", "file"), [("--github", ".github/workflows/tool-calling.yml"), ("--gitlab", ".gitlab-ci.yml")]
)
def test_workflows_are_yaml_and_name_the_key(flag: str, file: str) -> None:
    assert init(flag, "--api-key-env", "MY_KEY")[0] == 0
    text = Path(file).read_text()
    assert yaml.safe_load(text)
    assert "MY_KEY" in text
    assert "VENDOR_KEY" not in text


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_the_guide_shows_the_workflows_as_they_are_written(name: str) -> None:
    workflow = (ROOT / "src/toolcert/cli/workflows" / f"{name}.yml").read_text("utf-8")
    assert f"```yaml\n{workflow}```" in (ROOT / "docs/guides/ci.md").read_text("utf-8")


def test_the_commands_of_the_workflows_exist_with_their_options() -> None:
    github = yaml.safe_load((ROOT / "src/toolcert/cli/workflows/github.yml").read_text("utf-8"))
    gitlab = yaml.safe_load((ROOT / "src/toolcert/cli/workflows/gitlab.yml").read_text("utf-8"))
    arguments = github["jobs"]["probe"]["steps"][1]["with"]["arguments"]
    for line in (arguments, gitlab["tool-calling"]["script"][-1].removeprefix("toolcert ")):
        words = shlex.split(line)
        done = CliRunner().invoke(cli, [*words, "--help"])
        assert done.exit_code == 0
        assert all(f"{word} " in done.output for word in words if word.startswith("--")), done.output
