"""The GitHub Action, its shell code run as a runner would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolcert.simulate import Vendor

ROOT = Path(__file__).resolve().parents[2]
STEPS: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
FAKE = '#!/bin/sh\nfor word in "$@"; do echo "[$word]"; done\nfor last; do :; done\necho "# Report" > "$last"\nexit 1\n'

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not on the PATH")


def run_step(
    arguments: str, folder: Path, summary: str = "true", script: str = FAKE
) -> subprocess.CompletedProcess[str]:
    """The last step with a toolcert that prints its words, writes its last one as a file, and fails."""
    program = folder / "toolcert"
    program.write_text(script)
    program.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "ARGUMENTS": arguments,
        "SUMMARY": summary,
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[-1]["run"]]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False, cwd=folder)


def test_words_are_kept_together_the_exit_code_is_passed_on_and_the_report_is_shown(tmp_path: Path) -> None:
    done = run_step("probe mine --model 'a b' --fail-under 90", tmp_path)
    words = done.stdout.split("\n")
    assert words[:5] == ["[probe]", "[mine]", "[--model]", "[a b]", "[--fail-under]"]
    assert done.returncode == 1
    assert (tmp_path / "summary.md").read_text() == "# Report\n"


def test_shell_code_in_the_arguments_is_only_text(tmp_path: Path) -> None:
    done = run_step("findings '$(touch hacked)' `touch hacked`", tmp_path, summary="false")
    assert "[$(touch hacked)]" in done.stdout
    assert not (tmp_path / "hacked").exists()


def test_the_locked_dependencies_are_installed() -> None:
    install = next(step["run"] for step in STEPS if step.get("name") == "Install toolcert")
    assert "--require-hashes" in install
    assert (ROOT / "requirements" / "runtime.txt").exists()


@pytest.mark.heavy
@pytest.mark.parametrize("asked", ["", " --json own.json", " --json=own.json --yes"])
def test_the_verdict_is_an_output_of_the_step(tmp_path: Path, asked: str) -> None:
    """Read from the JSON report, wherever the user wants it."""
    with Vendor(models=["faithful", "fault:stream.cut"]) as vendor:
        real = f'#!/bin/sh\nexec "{sys.executable}" -m toolcert "$@"\n'
        arguments = f"probe {vendor.url} --suite agent -n 2 --fail-under 90 --output run{asked}"
        done = run_step(arguments, tmp_path, script=real)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "outputs").read_text() == "verdict=partial\n"


@pytest.mark.heavy
def test_the_change_between_two_runs_is_an_output_and_a_summary(tmp_path: Path) -> None:
    real = f'#!/bin/sh\nexec "{sys.executable}" -m toolcert "$@"\n'
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        for model in ("faithful", "text-caller"):
            run_step(f"probe {vendor.url} --suite quick -m {model} -n 5 --output {model}", tmp_path, script=real)
    (tmp_path / "outputs").unlink()
    (tmp_path / "summary.md").unlink()
    done = run_step("diff faithful text-caller --fail-on worse", tmp_path, script=real)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "outputs").read_text() == "verdict=worse\n"
    assert "Worse: text-caller" in (tmp_path / "summary.md").read_text()
