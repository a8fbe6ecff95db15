"""The lock files pin everything by hash and say nothing about the machine they were made on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_is_pinned_with_its_hashes(lock: Path) -> None:
    entries = re.split(r"\n(?=[a-z])", lock.read_text("utf-8").partition("\n")[2].partition("\n")[2])
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9-]+(\[[a-z,-]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry


@pytest.mark.parametrize("lock", [*LOCKS, ROOT / "requirements/npm/package-lock.json"], ids=lambda lock: lock.name)
def test_no_address_and_no_path_of_a_machine(lock: Path) -> None:
    assert re.findall(r"https?://|file:|--index|--find-links|/opt/|/home/|/root/", lock.read_text("utf-8")) == []


def test_the_locks_follow_their_inputs() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "lock.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr


def test_what_runs_and_what_tests_pin_the_same_versions() -> None:
    """`make run` and `make test` share one `.venv`."""
    pins = [
        set(re.findall(r"^\S+==\S+", (ROOT / "requirements" / name).read_text("utf-8"), re.MULTILINE))
        for name in ("runtime.txt", "lock.txt")
    ]
    assert pins[0] <= pins[1]
