"""A run folder is data, and a project folder is trusted as far as SECURITY.md says: neither takes a key elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.rows import row, write_rows
from support.scripted import Answer, Received, Scripted, completion
from support.terminal import run_at_terminal
from support.terminal import run_here as run
from toolcert.core.errors import ExitCode

KEY = "sk-of-the-user-0123456789"
OPENAI = {"OPENAI_API_KEY": KEY}

ADAPTER = """
from pathlib import Path
from toolcert.verification.adapters.base import ModelAdapter

Path({mark!r}).write_text("loaded")

class Mine(ModelAdapter):
    model_patterns = ()
"""


@pytest.fixture
def stranger() -> Iterator[Scripted]:
    """A server that is not the vendor's: it must not see a key."""

    def respond(received: Received) -> Answer:
        return Answer({"data": [{"id": "m"}]}) if received.path.endswith("/models") else completion()

    with Scripted(respond) as server:
        yield server


def saw_key(server: Scripted) -> bool:
    return any(KEY in value for received in server.received for value in received.headers.values())


@pytest.fixture
def finished(tmp_path: Path, stranger: Scripted) -> Path:
    """A finished run, as somebody sent it."""
    write_rows(tmp_path / "d.jsonl", [row(1)])
    made = run("verify", "d.jsonl", "--base-url", stranger.url, "-m", "m", "-q", "-o", "run", cwd=tmp_path)
    assert made.returncode == ExitCode.OK, made.stderr
    stranger.received.clear()
    return tmp_path / "run"


def change_manifest(folder: Path, **endpoint: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["endpoints"][0] |= endpoint
    (folder / "manifest.json").write_text(json.dumps(manifest))


def name_adapter(folder: Path) -> tuple[str, Path]:
    """Let the manifest name an adapter, and write the file; its reference, and what exists once it was loaded."""
    mark = folder.parent / "loaded"
    file = folder / "adapter.py"
    file.write_text(ADAPTER.format(mark=str(mark)))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["parameters"]["adapter"] = f"{file}:Mine"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return f"{file}:Mine", mark


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words",
    [
        ["verify", "--from", "run"],
        ["verify", "--from", "run", "--csv", "rows.csv", "--html", "page.html"],
        ["replay", "run", "1", "--base-url", "URL"],
        ["report", "run", "--html", "page.html"],
        ["show", "run", "1"],
        ["compare", "--baseline", "run", "--vendor", "run"],
    ],
)
def test_code_that_a_run_names_is_never_loaded(finished: Path, stranger: Scripted, words: list[str]) -> None:
    _, mark = name_adapter(finished)
    result = run(*(stranger.url if word == "URL" else word for word in words), cwd=finished.parent)
    assert not mark.exists()
    assert result.returncode in (ExitCode.OK, ExitCode.USAGE), result.stderr
    if words[0] in ("verify", "replay"):
        assert result.returncode == ExitCode.USAGE
        assert "code that a run names is not loaded" in result.stderr
        assert stranger.received == []


@pytest.mark.heavy
@pytest.mark.parametrize("words", [["verify", "--from", "run", "--csv", "-"], ["replay", "run", "1"]])
def test_an_adapter_that_the_user_gives_again_is_used(finished: Path, stranger: Scripted, words: list[str]) -> None:
    reference, mark = name_adapter(finished)
    where = ["--base-url", stranger.url] if words[0] == "replay" else []
    result = run(*words, *where, "--adapter", reference, cwd=finished.parent)
    assert result.returncode == ExitCode.OK, result.stderr
    assert mark.exists()


HOSTILE = {"key_env": "OPENAI_API_KEY", "headers": {"X-More": "${OTHER_API_KEY}"}}
OTHER = {"OTHER_API_KEY": KEY}


def test_without_a_terminal_nothing_goes_to_an_endpoint_that_only_the_run_names(
    finished: Path, stranger: Scripted
) -> None:
    change_manifest(finished, **HOSTILE)
    result = run("replay", "run", "1", cwd=finished.parent, **OPENAI, **OTHER)
    assert result.returncode == ExitCode.USAGE
    assert stranger.root.removeprefix("http://") in result.stderr
    assert "OPENAI_API_KEY and OTHER_API_KEY" in result.stderr
    assert KEY not in result.stderr
    assert stranger.received == []


@pytest.mark.heavy
@pytest.mark.parametrize(("answer", "sent"), [("n", 0), ("", 0), ("y", 1)])
def test_at_a_terminal_host_and_variables_are_shown_and_asked_for(
    finished: Path, stranger: Scripted, answer: str, sent: int
) -> None:
    change_manifest(finished, **HOSTILE)
    code, shown = run_at_terminal("replay", "run", "1", answer=answer, cwd=finished.parent, **OPENAI, **OTHER)
    assert f"{stranger.root.removeprefix('http://')}, with OPENAI_API_KEY and OTHER_API_KEY" in shown
    assert len(stranger.received) == sent
    assert code == (ExitCode.OK if sent else ExitCode.INTERRUPTED)


@pytest.mark.heavy
def test_a_replay_to_an_endpoint_of_the_user_takes_nothing_from_the_run(finished: Path, stranger: Scripted) -> None:
    change_manifest(finished, **HOSTILE, base_url="http://127.0.0.1:9/v1")
    result = run("replay", "run", "1", "--base-url", stranger.url, cwd=finished.parent, **OPENAI, **OTHER)
    assert result.returncode == ExitCode.OK, result.stderr
    assert len(stranger.received) == 1
    assert not saw_key(stranger)


CONFIGURED = {
    "the address of a preset changed": "[endpoints.openai]\npreset = 'openai'\nbase_url = '{url}'\n",
    "the address of all endpoints": "[defaults]\nbase_url = '{url}'\npreset = 'openai'\n",
    "the key's variable named": "[endpoints.openai]\nbase_url = '{url}'\napi_key_env = 'OPENAI_API_KEY'\n",
    "the key in a header": "[endpoints.openai]\nbase_url = '{url}'\nheader = ['X-Key: ${{OPENAI_API_KEY}}']\n",
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", CONFIGURED)
@pytest.mark.parametrize("named", [["-e", "openai"], []])
def test_a_project_file_sends_the_key_of_a_preset_elsewhere_only_if_it_is_trusted(
    tmp_path: Path, stranger: Scripted, name: str, named: list[str]
) -> None:
    (tmp_path / "toolcert.toml").write_text(CONFIGURED[name].format(url=stranger.url))
    words = ["probe", *named, "-m", "m", "-s", "quick", "-n", "1", "-q", "-o", "run"]
    host = stranger.root.removeprefix("http://")
    refused = run(*words, "--yes", cwd=tmp_path, **OPENAI)
    assert refused.returncode == ExitCode.USAGE, refused.stderr
    assert refused.stderr.startswith("toolcert.toml: endpoint ")
    assert f"{host}, with OPENAI_API_KEY" in refused.stderr.splitlines()[0]
    assert "--trust-config" in refused.stderr
    assert stranger.received == []
    trusted = run(*words, "--trust-config", cwd=tmp_path, **OPENAI)
    assert f"{host}, with OPENAI_API_KEY" in trusted.stderr.splitlines()[0]
    assert saw_key(stranger)


@pytest.mark.sampled
@pytest.mark.parametrize(("answer", "sent"), [("n", False), ("y", True)])
def test_at_a_terminal_the_user_decides_about_a_project_file(
    tmp_path: Path, stranger: Scripted, answer: str, sent: bool
) -> None:
    (tmp_path / "toolcert.toml").write_text(f"[endpoints.x]\npreset = 'openai'\nbase_url = '{stranger.url}'\n")
    _, shown = run_at_terminal("models", "x", answer=answer, cwd=tmp_path, **OPENAI)
    assert "toolcert.toml sends OPENAI_API_KEY to a host that it does not belong to. Go on?" in shown
    assert saw_key(stranger) is sent


@pytest.mark.heavy
def test_a_host_that_the_user_types_is_the_users_business(tmp_path: Path, stranger: Scripted) -> None:
    (tmp_path / "toolcert.toml").write_text("[endpoints.x]\npreset = 'openai'\n")
    for words in (["x", "--base-url", stranger.url], [stranger.url, "--preset", "openai"]):
        stranger.received.clear()
        listed = run("models", *words, cwd=tmp_path, **OPENAI)
        assert listed.returncode == ExitCode.OK, listed.stderr
        assert saw_key(stranger)


def test_other_keys_go_where_the_project_file_says_and_the_first_line_names_them(
    tmp_path: Path, stranger: Scripted
) -> None:
    (tmp_path / "toolcert.toml").write_text(f"[endpoints.x]\nbase_url = '{stranger.url}'\napi_key_env = 'MY_KEY'\n")
    listed = run("models", "x", cwd=tmp_path, MY_KEY=KEY)
    assert listed.returncode == ExitCode.OK, listed.stderr
    assert listed.stderr.splitlines()[0] == (
        f"toolcert.toml: endpoint x at {stranger.root.removeprefix('http://')}, with MY_KEY"
    )
    assert saw_key(stranger)
