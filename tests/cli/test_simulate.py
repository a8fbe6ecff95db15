"""`toolcert simulate`: what it lists, serves and refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.patience import PATIENCE
from support.raw_http import chat, fetch
from toolcert.cli.main import cli
from toolcert.simulate.situations import A_CALL


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["simulate", *arguments])
    return result.exit_code, result.output


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command in a process of its own, and the address it prints."""
    program = [str(Path(sys.executable).with_name("toolcert")), "simulate", "--port", "0", *arguments]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[2], process
        finally:
            process.terminate()


def test_the_list_names_every_persona_and_fault() -> None:
    code, output = run("--list")
    assert code == 0
    lines = {line.split()[0] for line in output.splitlines()}
    assert {"faithful", "text-caller", "fault:args.empty", "flaky:K/N:MODEL"} <= lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "gpt-5"), "no simulated model 'gpt-5'"),
        (("--latency", "soon"), "'soon' is not a latency"),
        (("--key-env", "NO_SUCH_VARIABLE_HERE"), "NO_SUCH_VARIABLE_HERE is not set"),
        (("--face", "other"), "is not one of"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(arguments: tuple[str, ...], said: str) -> None:
    code, output = run(*arguments)
    assert code == 2
    assert said in output


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="ended by a signal")
def test_it_serves_until_it_is_ended() -> None:
    with serving("--model", "faithful", "--key-env", "SIM_KEY", SIM_KEY="sk-sim-1") as (url, process):
        assert chat(url, A_CALL.request("faithful")).status == 401
        assert chat(url, A_CALL.request("faithful"), {"Authorization": "Bearer sk-sim-1"}).status == 200
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "Answered 2 requests." in rest
        assert "sk-sim-1" not in rest


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="ended by a signal")
def test_other_faces_are_served_too() -> None:
    with serving("--face", "litellm") as (url, _):
        assert fetch("GET", url.replace("/v1", "/model/info")).status == 200
    with serving("--face", "watsonx") as (url, process):
        assert url.startswith("https://127.0.0.1:")
        assert process.stdout is not None
        assert "IAM URL" in process.stdout.readline()


def test_an_address_of_another_machine_is_not_blamed_on_the_port() -> None:
    result = CliRunner().invoke(cli, ["simulate", "--host", "192.0.2.1", "--port", "0"])
    assert result.exit_code == 2
    assert "Choose an address of this machine" in result.stderr
