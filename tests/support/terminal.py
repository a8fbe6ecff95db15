"""The command: here, or as a process with or without a terminal, and with signals."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from support.patience import PATIENCE
from toolcert.cli.main import cli


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "toolcert", *words]


def run(*words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command without a terminal to its end."""
    return subprocess.run(
        program(*words),
        cwd=cwd,
        env=_environment(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def run_here(*words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which takes a tenth of the time: for facts that are not about the process."""
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(cli, list(words), prog_name="toolcert", env=variables)
    return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def run_at_terminal(*words: str, answer: str, cwd: Path | None = None, **variables: str) -> tuple[int, str]:
    """Run the command at a terminal at which somebody types `answer` when asked; exit code and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        program(*words), cwd=cwd, env=_environment(variables), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown, answered, until = b"", False, time.monotonic() + PATIENCE
    try:
        while time.monotonic() < until:
            if not select.select([ours], [], [], 0.1)[0]:
                if process.poll() is not None:
                    break
                continue
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the terminal is gone with its last user
                break
            if not answered and b"[y/N]" in shown:
                os.write(ours, f"{answer}\n".encode())
                answered = True
        return process.wait(PATIENCE), " ".join(shown.decode().split())
    finally:
        process.kill()
        os.close(ours)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **variables}
