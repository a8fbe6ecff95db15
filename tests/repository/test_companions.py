"""Companions: installed once, never taken for whole when they are not, and only fatal in CI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import companions
from companions import Companion


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock file, with the cache in a folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "lock.txt"
    path.write_text("thing==1.0")
    return path


def works(companion: Companion) -> None:
    companion.folder.mkdir(parents=True)


def breaks(companion: Companion) -> None:
    companion.folder.mkdir(parents=True)
    raise subprocess.CalledProcessError(1, "pip")


def test_what_is_installed_is_installed_once(lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    companion = Companion("thing", "A thing", "5 MB", lock, works)
    assert companions.install(companion)
    assert "installing A thing (5 MB) in" in capsys.readouterr().out
    assert companions.install(companion)
    assert capsys.readouterr().out == ""


def test_a_changed_lock_file_is_another_installation(lock: Path) -> None:
    companion = Companion("thing", "A thing", "5 MB", lock, works)
    companions.install(companion)
    lock.write_text("thing==2.0")
    assert not companion.installed


def test_a_broken_installation_is_no_installation_and_is_made_again(lock: Path) -> None:
    assert not companions.install(Companion("thing", "A thing", "5 MB", lock, breaks))
    repaired = Companion("thing", "A thing", "5 MB", lock, works)
    assert not repaired.installed
    assert companions.install(repaired)
    assert repaired.installed


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_only_ci_fails_without_a_companion(
    ci: str, code: int, lock: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("sys.argv", ["companions.py"])
    monkeypatch.setattr(companions, "install_browser", lambda: True)
    monkeypatch.setattr(companions, "wanted", lambda: [Companion("thing", "A thing", "5 MB", lock, breaks)])
    assert companions.main() == code
    assert "could not install A thing" in capsys.readouterr().err
