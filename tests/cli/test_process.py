"""The command as a process: signals, an early Ctrl-C, a deleted folder, a wrong proxy, a locked history."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.patience import PATIENCE, until
from support.rows import row, write_rows
from support.scripted import Answer, Scripted, completion
from support.terminal import program, run
from toolcert.core.errors import ExitCode
from toolcert.simulate import Vendor


def lines_of(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def manifest_of(folder: Path) -> dict[str, object]:
    manifest: dict[str, object] = json.loads((folder / "manifest.json").read_text())
    return manifest


@pytest.mark.heavy  # Ctrl-C is tried among the fast ones, in test_verify.py
@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGTERM])
def test_a_run_that_is_told_to_end_ends_as_after_ctrl_c(tmp_path: Path, ending: signal.Signals) -> None:
    write_rows(tmp_path / "d.jsonl", [row(n) for n in range(500)])
    with Vendor(models=["slow:0.1:faithful"]) as vendor:
        words = ["verify", "d.jsonl", "--base-url", vendor.url, "-m", "slow:0.1:faithful", "-o", "run", "-c", "4"]
        process = subprocess.Popen(
            program(*words), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until(lambda: lines_of(tmp_path / "run/records.jsonl") > 4)
        process.send_signal(ending)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED, told
    assert "Traceback" not in told
    assert manifest_of(tmp_path / "run")["interrupted"] is True


@pytest.mark.heavy
def test_a_run_whose_terminal_is_closed_ends_in_order(tmp_path: Path) -> None:
    write_rows(tmp_path / "d.jsonl", [row(n) for n in range(500)])
    with Vendor(models=["slow:0.1:faithful"]) as vendor:
        words = ["verify", "d.jsonl", "--base-url", vendor.url, "-m", "slow:0.1:faithful", "-o", "run", "-c", "4"]
        child, terminal = pty.fork()
        if child == 0:  # the session's leader, as a shell's job in a window
            os.chdir(tmp_path)
            os.execv(sys.executable, program(*words))
        until(lambda: lines_of(tmp_path / "run/records.jsonl") > 4)
        os.close(terminal)
        _, status = os.waitpid(child, 0)
    assert os.WIFEXITED(status), status
    assert manifest_of(tmp_path / "run")["interrupted"] is True
    assert lines_of(tmp_path / "run/records.jsonl") < 500


_INTERRUPT_AT_IMPORT = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Interrupt())
sys.argv = ["toolcert", "verify", "--help"]
runpy.run_module("toolcert", run_name="__main__")
"""


@pytest.mark.sampled
@pytest.mark.parametrize(
    "module",
    [
        "toolcert.cli.main",
        "click",
        "toolcert.cli.support.exit",
        "toolcert.cli.commands.measurement.verify",
        "toolcert.settings.options",
    ],
)
def test_ctrl_c_while_the_program_is_still_starting_leaves_no_traceback(module: str) -> None:
    code = _INTERRUPT_AT_IMPORT.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr.strip() == "Interrupted."
    assert done.returncode == ExitCode.INTERRUPTED


@pytest.mark.sampled
@pytest.mark.parametrize("words", [["probe", "http://127.0.0.1:9"], ["history", "show"], ["init"], ["endpoints"]])
def test_a_deleted_working_folder_is_one_sentence(tmp_path: Path, words: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", str(gone), *program(*words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.USAGE
    assert done.stderr == "Error: the working folder no longer exists.\nRemedy: Change to another one: cd ~\n"


@pytest.mark.heavy
@pytest.mark.parametrize("proxy", ["http://[::1", "http://h:99999", "http://", ":::", "http://user:secret@", "a b:80"])
def test_a_proxy_variable_that_holds_no_address_is_one_sentence(tmp_path: Path, proxy: str) -> None:
    write_rows(tmp_path / "d.jsonl", [row(0)])
    for words in (["models"], ["verify", "d.jsonl", "-m", "m", "-q"], ["probe", "-m", "m"]):
        done = run(*words, "--base-url", "http://vendor.example/v1", cwd=tmp_path, http_proxy=proxy)
        assert done.returncode == ExitCode.USAGE, done.stderr
        assert done.stderr.startswith("Error: What http_proxy holds is no address of a proxy.\nRemedy: ")
        assert "secret" not in done.stderr


def history_of(folder: Path) -> Path:
    """A probe run in `run`, and a history that holds it."""
    with Scripted(
        lambda received: Answer({"data": [{"id": "m"}]}) if received.method == "GET" else completion()
    ) as one:
        run("probe", one.url, "-s", "quick", "-n", "1", "-q", "-o", "run", cwd=folder)
    assert run("history", "add", "run", "--history", "h.sqlite", cwd=folder).returncode == ExitCode.OK
    return folder / "h.sqlite"


@pytest.mark.heavy
def test_a_locked_history_is_waited_for_and_the_wait_is_told(tmp_path: Path) -> None:
    other = sqlite3.connect(history_of(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    process = subprocess.Popen(
        program("history", "add", "run", "--history", "h.sqlite"), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "another process is writing to the history h.sqlite; waiting up to 60 s." in process.stderr.readline()
    other.execute("ROLLBACK")
    assert process.wait(PATIENCE) == ExitCode.OK
    process.stderr.close()
    other.close()


@pytest.mark.heavy
def test_a_history_that_stays_locked_is_one_sentence(tmp_path: Path) -> None:
    other = sqlite3.connect(history_of(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = (
        "import sys; from toolcert.history import database; database.BUSY_SECONDS = 1.0; "
        "from toolcert.__main__ import main; sys.argv[0] = 'toolcert'; main()"
    )
    command = [sys.executable, "-c", impatient, "history", "add", "run", "--history", "h.sqlite"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "Error: the history at " in done.stderr
    assert "is locked by another process." in done.stderr
    assert "Traceback" not in done.stderr
    other.close()


@pytest.mark.heavy
def test_ctrl_c_ends_the_wait_for_a_locked_history_soon(tmp_path: Path) -> None:
    other = sqlite3.connect(history_of(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    process = subprocess.Popen(
        program("history", "add", "run", "--history", "h.sqlite"), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == ExitCode.INTERRUPTED
    assert time.monotonic() - pressed < 30, "it would wait for 60 s"
    process.stderr.close()
    other.close()


def bombs() -> dict[str, dict[str, object]]:
    """Small schemas that ask a validator for more steps than there are atoms."""
    doubled: dict[str, object] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    deep: dict[str, object] = {
        f"d{n}": {"additionalProperties": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 3}} for n in range(40)
    }
    return {
        "references that double": {"$ref": "#/$defs/d0", "$defs": {**doubled, "d60": {"type": "object"}}},
        "properties that treble": {"$ref": "#/$defs/d0", "$defs": {**deep, "d40": {"type": "string"}}},
    }


@pytest.mark.heavy
@pytest.mark.parametrize("name", bombs())
def test_ctrl_c_ends_a_run_over_a_dataset_of_schema_bombs_within_a_second(tmp_path: Path, name: str) -> None:
    function = {"name": "get_weather", "parameters": {"type": "object", **bombs()[name]}}
    write_rows(tmp_path / "d.jsonl", [row(n, tools=[{"type": "function", "function": function}]) for n in range(2000)])
    nested = '{"a":' * 30 + "{}" + "}" * 30
    calls = [{"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": nested}}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    answer = Answer(
        {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}, delay=0.02
    )
    for folder in ("one", "two", "three", "four"):  # others may use the machine
        with Scripted(lambda _: answer) as server:
            words = ["verify", "d.jsonl", "--base-url", server.url, "-m", "m", "-o", folder, "-c", "2"]
            process = subprocess.Popen(
                program(*words), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            until(lambda folder=folder: lines_of(tmp_path / folder / "records.jsonl") > 10)
            pressed = time.monotonic()
            process.send_signal(signal.SIGINT)
            until(lambda folder=folder: manifest_of(tmp_path / folder).get("interrupted") is True)
            taken = time.monotonic() - pressed
            _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == ExitCode.INTERRUPTED, told
        assert b"dataset.schema_too_complex" in (tmp_path / folder / "records.jsonl").read_bytes()
        if taken < 1.0:
            return
    pytest.fail(f"it took {taken:.1f} s")
