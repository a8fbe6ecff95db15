"""toolcert.toml: what it may hold, and how each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcert.core.errors import ConfigurationError
from toolcert.settings import Config, load_config, resolve
from toolcert.settings.toml_lines import line_of, lines_of

GOOD = """
# a comment
[defaults]
concurrency = 4
model = ["gpt-*", "re:^qwen"]

[endpoints.my-vllm]
base_url = "localhost:8000/v1"
api_key_env = "VLLM_KEY"
header = { X-Team = "tools", X-Api-Key = "${TEAM_KEY}" }
extra_body = { top_k = 5 }
timeout = 30

[prices."org/model-1"]
input = 2.5
output = 10
"""


def config(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "toolcert.toml"
    path.write_text(text)
    return load_config(str(path))


def test_good_file(tmp_path: Path) -> None:
    loaded = config(tmp_path, GOOD)
    assert loaded.defaults == {"concurrency": 4, "model": ("gpt-*", "re:^qwen")}
    endpoint = loaded.endpoints["my-vllm"]
    assert endpoint["base_url"] == "http://localhost:8000/v1"
    assert endpoint["header"] == ("X-Team: tools", "X-Api-Key: ${TEAM_KEY}")
    assert endpoint["extra_body"] == {"top_k": 5}
    assert endpoint["timeout"] == 30.0
    assert loaded.prices["org/model-1"][1] == 10
    assert loaded.where("endpoints", "my-vllm", "timeout").endswith("toolcert.toml:12")


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("[defaults]\n\nconcurency = 3\n", 3, r"defaults\.concurency: no such key\. Did you mean concurrency\?"),
        ("[defaults]\nbase-url = 'http://a'\n", 2, r"Did you mean base_url\?"),
        ("[default]\nmodel = 'a'\n", 1, r"default: no such key\. Did you mean defaults\?"),
        ("[defaults]\nconcurrency = '4x'\n", 2, r"defaults\.concurrency: expected a whole number at least 1"),
        ("[defaults]\ntimeout = true\n", 2, "expected a number"),
        ("[defaults]\nyes = 'maybe'\n", 2, "expected true or false"),
        ("[defaults]\nkeep = 'some'\n", 2, "expected one of raw, assembled, verdicts"),
        ("[defaults]\napi_key = 'sk-1'\n", 2, "use api_key_env"),
        ("[endpoints.a]\nbase_url = 'ftp://x'\n", 2, "expected an http:// or https:// address"),
        ("[endpoints.a]\nbase_url = 'http://u:p@x'\n", 2, "must not carry a user name or password"),
        ("[endpoints.a]\nsuite = 'full'\n", 2, r"endpoints\.a\.suite: no such key"),
        ("[endpoints.a]\nheader = ['X-Api-Key: sk-1']\n", 2, "put it into a variable"),
        ("[endpoints]\na = 3\n", 2, r"expected a table \[endpoints\.a\]"),
        ("endpoints.a.rpm = 0\n", 1, r"endpoints\.a\.rpm: expected a whole number at least 1"),
        ("[defaults]\nca_bundle = 'nowhere.pem'\n", 2, "expected a file that exists"),
        ("[prices.m]\ninput = -1\noutput = 1\n", 2, "at least 0"),
        ("[prices.m]\ninput = 1\n", 1, r"prices\.m\.output: expected the price"),
        ('[prices."a.b"]\ninput = 1\noutput = 1\ncached = 1\n', 4, r"cached: no such key"),
    ],
)
def test_mistakes_are_told_with_file_line_and_key(tmp_path: Path, text: str, line: int, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"toolcert\.toml:{line}: .*{complaint}"):
        config(tmp_path, text)


def test_text_that_is_not_toml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"toolcert\.toml: not valid TOML: .*line 2"):
        config(tmp_path, "[defaults]\nmodel = \n")


def test_a_file_that_is_nested_too_deeply_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"toolcert\.toml: nested too deeply"):
        config(tmp_path, f"x = {'[' * 5000}{']' * 5000}")


def test_no_file_is_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config() == Config()


def test_a_named_file_must_exist() -> None:
    with pytest.raises(ConfigurationError, match="TOOLCERT_CONFIG: expected a file that exists"):
        resolve(["model"], {}, environment={"TOOLCERT_CONFIG": "/nowhere/toolcert.toml"})


def test_files_are_sought_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("x")
    loaded = config(tmp_path, "[endpoints.a]\nca_bundle = 'ca.pem'\n")
    assert loaded.endpoints["a"]["ca_bundle"] == str(tmp_path / "ca.pem")


def test_lines_are_found_in_arrays_of_tables_and_behind_quoted_keys() -> None:
    text = '[[runs]]\nname = "a"\n[[runs]]\nname = "b"\n[runs.more]\nx = 1\n["a.b"]\n"c.d" = 2\n'
    assert lines_of(text)["runs", 1, "name"] == 4
    assert line_of(text, ("runs", 1, "more", "x")) == 6
    assert line_of(text, ("a.b", "c.d", "deeper")) == 8
    assert line_of(text, ("elsewhere",)) == 1
