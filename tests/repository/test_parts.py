"""The registry of big parts, seen through real pytest runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SUITE = """
import os
import pytest

@pytest.mark.needs("axe")
def test_page(): pass

@pytest.mark.needs("shared")
def test_data(shared_dir): assert shared_dir.is_dir()

def test_plain():
    assert not [name for name in os.environ if name.startswith("TOOLCERT_") or name.endswith("_API_KEY")]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A project with the real conftest, an empty cache and no shared folder beside it."""
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    for name in ("conftest.py", "parts.py"):
        shutil.copy(TESTS / name, project / "tests")
    (project / "tests" / "test_suite.py").write_text(SUITE)
    markers = 'markers = ["needs(part): x", "heavy: x"]'
    paths = f'pythonpath = ["tests", {str(TESTS.parent / "scripts")!r}]'
    (project / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{paths}\n{markers}\n")
    return project


def run(suite: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "TEST_WITHOUT")}
    environment |= {"XDG_CACHE_HOME": str(suite / "cache"), "TOOLCERT_MODEL": "x", "SOME_API_KEY": "y"} | variables
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a quicker start
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_missing_part_skips_its_tests_and_the_run_ends_by_saying_so(suite: Path) -> None:
    done = run(suite)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped" in done.stdout
    left_out = done.stdout.partition("left out")[2]
    assert "1 x axe: axe-core is not among the companions" in left_out
    assert "1 x shared:" in left_out


@pytest.mark.heavy
def test_a_missing_part_fails_in_ci_unless_it_is_named_as_absent(suite: Path) -> None:
    assert run(suite, CI="true").returncode == 1
    done = run(suite, CI="true", TEST_WITHOUT="shared axe")
    assert (done.returncode, "2 skipped" in done.stdout) == (0, True), done.stdout
    assert "1 passed, 1 skipped, 1 error" in run(suite, CI="true", TEST_WITHOUT="shared").stdout


def test_a_test_that_needs_a_heavy_part_is_heavy_itself(suite: Path) -> None:
    assert "1 deselected" in run(suite, "-m", "not heavy").stdout


def test_an_unknown_part_is_a_mistake_of_the_test(suite: Path) -> None:
    (suite / "tests" / "test_suite.py").write_text(SUITE.replace("axe", "axes"))
    done = run(suite)
    assert done.returncode == 4
    assert "unknown parts: axes" in done.stdout + done.stderr
