"""The registry of big parts, seen through real pytest runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
VARIABLES = ("CI", "TEST_WITHOUT", "TOOLCERT_TEST_MATERIAL", "MAKEFLAGS", "MAKELEVEL")  # a make below a make says more
SUITE = """
import os
import pytest

@pytest.mark.needs("axe")
def test_page(): pass

@pytest.mark.needs("material")
def test_text(material): assert material.is_dir()

def test_plain():
    assert not [name for name in os.environ if name.startswith("TOOLCERT_") or name.endswith("_API_KEY")]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A project with the real conftest, an empty cache and no material."""
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
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment |= {"XDG_CACHE_HOME": str(suite / "cache"), "TOOLCERT_MODEL": "x", "SOME_API_KEY": "y"} | variables
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a quicker start
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.heavy
def test_a_missing_part_skips_its_tests_and_the_run_ends_by_saying_so(suite: Path) -> None:
    done = run(suite)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped" in done.stdout
    left_out = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
    assert [line.split(":")[1] for line in left_out] == [" 1 x axe", " 1 x material"]
    assert "axe-core is not among the companions" in left_out[0]
    assert "TOOLCERT_TEST_MATERIAL" in left_out[1]


@pytest.mark.heavy
def test_a_missing_part_fails_in_ci_unless_it_is_named_as_absent(suite: Path) -> None:
    assert run(suite, CI="true").returncode == 1
    done = run(suite, CI="true", TEST_WITHOUT="axe")
    assert (done.returncode, "2 skipped" in done.stdout) == (0, True), done.stdout
    assert "1 passed, 1 skipped, 1 error" in run(suite, CI="true").stdout


@pytest.mark.heavy
def test_other_peoples_texts_are_left_out_unless_their_folder_is_named(suite: Path, tmp_path: Path) -> None:
    """CI does not ask for them; but a folder that is named has to hold them."""
    place = tmp_path / "texts"
    named = {"CI": "true", "TEST_WITHOUT": "axe", "TOOLCERT_TEST_MATERIAL": str(place)}
    done = run(suite, **named)
    assert done.returncode == 4
    assert "has no folder data/vendor-results" in done.stdout + done.stderr
    for name in ("data/vendor-results", "seeds"):
        (place / name).mkdir(parents=True)
    done = run(suite, **named)
    assert done.returncode == 0, done.stdout
    assert "2 passed, 1 skipped" in done.stdout


@pytest.mark.heavy
def test_ci_names_the_folder_beside_the_project_where_there_is_one(suite: Path) -> None:
    (suite / ".ci").mkdir()
    shutil.copy(TESTS.parent / ".ci/run", suite / ".ci")
    (suite / "Makefile").write_text("check test pythons:\n\t@echo $@ [$$TOOLCERT_TEST_MATERIAL]\n")
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}

    def said() -> str:
        done = subprocess.run([suite / ".ci/run"], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    assert said() == "check []\ntest []\npythons []\n"
    beside = re.search(r"-d \.\./(\w+)", (suite / ".ci/run").read_text())
    assert beside is not None
    place = suite.parent / beside[1]
    (place / "data").mkdir(parents=True)
    assert said() == f"check [{place}]\ntest [{place}]\npythons [{place}]\n"


@pytest.mark.heavy
def test_a_test_that_needs_a_heavy_part_is_heavy_itself(suite: Path) -> None:
    assert "1 deselected" in run(suite, "-m", "not heavy").stdout


@pytest.mark.heavy
def test_an_unknown_part_is_a_mistake_of_the_test(suite: Path) -> None:
    (suite / "tests" / "test_suite.py").write_text(SUITE.replace("axe", "axes"))
    done = run(suite)
    assert done.returncode == 4
    assert "unknown parts: axes" in done.stdout + done.stderr
