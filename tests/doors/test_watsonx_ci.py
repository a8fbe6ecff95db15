"""The daily run of watsonx-tool-tester: its workflow, step by step, as a shell runs it in a git repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from toolcert.simulate.watsonx import WatsonxVendor
from watsonx_tool_tester.cli import cli

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ".github/workflows/daily-tool-test.yml"
START, END = "<!-- TOOL_TEST_REPORT_START -->", "<!-- TOOL_TEST_REPORT_END -->"
TODAY = datetime.now(UTC).date()
pytestmark = pytest.mark.heavy
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def door(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of a bare repository with a README, as a runner checks it out."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    git("init", "--quiet", "--bare", "--initial-branch=main", str(folder / "origin.git"))
    git("clone", "--quiet", str(folder / "origin.git"), str(folder / "clone"))
    clone = folder / "clone"
    (clone / "README.md").write_text("# Our models\n\nWords that stay.\n")
    for words in (("config", "user.name", "Ada"), ("config", "user.email", "ada@example.org"), ("add", "README.md")):
        git(*words, cwd=clone)
    git("commit", "--quiet", "-m", "Begin", cwd=clone)
    git("push", "--quiet", "-u", "origin", "HEAD:main", cwd=clone)
    monkeypatch.chdir(clone)
    return clone


class Runner:
    """Runs the steps of the job that are shell code, as GitHub does: -e, an output file, conditions on outputs."""

    def __init__(self, repository: Path, env: dict[str, str]) -> None:
        job = yaml.safe_load((repository / WORKFLOW).read_text())["jobs"]["test-models"]
        self.steps = [step for step in job["steps"] if "run" in step and step["name"] != "Install"]
        self.failed: list[str] = []
        programs = repository.parent / "programs"
        programs.mkdir(exist_ok=True)
        program = programs / "watsonx-tool-tester"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m watsonx_tool_tester "$@"\n')
        program.chmod(0o755)
        self._outputs = repository.parent / "outputs"
        self._outputs.write_text("")
        defaults = {
            name: str(value).rpartition("|| '")[2].removesuffix("' }}")
            for name, value in job["env"].items()
            if "|| '" in str(value)
        }
        self._env = {
            **{name: os.environ[name] for name in ("HOME",) if name in os.environ},
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": ":".join(sys.path),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GITHUB_OUTPUT": str(self._outputs),
            "GITHUB_REPOSITORY": "ada/models",
            "GITHUB_REPOSITORY_OWNER": "ada",
            **defaults,
            **env,
        }

    def run(self) -> None:
        for step in self.steps:
            if "if" in step and "report=" not in self._outputs.read_text():
                continue
            self._run(step)

    def _run(self, step: dict[str, Any]) -> None:
        report = self._outputs.read_text().rpartition("report=")[2].strip()
        own = {
            name: value.replace("${{ steps.test.outputs.report }}", report)
            for name, value in step.get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=self._env | own, capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.failed.append(step["name"])
            assert step["name"] == "Test the models", done.stdout + done.stderr


@pytest.fixture
def variables(reachable: WatsonxVendor) -> dict[str, str]:
    names = ("WATSONX_URL", "WATSONX_IAM_URL", "REQUESTS_CA_BUNDLE")
    keys = {"WATSONX_APIKEY": reachable.api_key, "WATSONX_PROJECT_ID": reachable.project_id}
    return {name: os.environ[name] for name in names} | keys | {"WATSONX_TOOL_ITERATIONS": "2"}


@needs_git
def test_the_steps_of_the_workflow_commit_csvs_reports_and_readme(repository: Path, variables: dict[str, str]) -> None:
    door("init-ci")
    old = [f"reports/tool_test_report_{(TODAY - timedelta(days=age)):%Y%m%d}_060000.html" for age in (200, 91, 10)]
    Path("reports/history").mkdir(parents=True)
    for name in old:
        Path(name).write_text("<!doctype html>")
    git("add", "--all")
    git("commit", "--quiet", "-m", "Set up")
    git("push", "--quiet")
    runner = Runner(repository, variables)
    runner.run()
    assert runner.failed == []
    committed = set(git("ls-tree", "-r", "--name-only", "origin/main").split())
    assert {f"reports/history/{name}.csv" for name in ("test_results", "models_registry", "daily_summary")} <= committed
    assert {"reports/latest_report.html", "reports/index.html", old[2]} <= committed
    assert not {old[0], old[1]} & committed  # by the date in the name: all files are of today's checkout
    (today,) = [name for name in committed if f"tool_test_report_{TODAY:%Y%m%d}" in name]
    assert git("show", f"origin/main:{today}") == git("show", "origin/main:reports/latest_report.html")
    index = git("show", "origin/main:reports/index.html")
    assert Path(today).name in index
    assert git("log", "-1", "--format=%s", "origin/main").strip() == f"Tool test report of {TODAY}"
    assert git("status", "--porcelain", "--", "reports", "README.md") == ""
    for page in (Path("_site/index.html"), Path("_site/reports/index.html")):
        links = set(re.findall(r'href="([^"#]+)"', page.read_text("utf-8")))
        assert len(links) == 3
        assert all((page.parent / link).is_file() for link in links), links


@needs_git
def test_the_readme_block_has_iterations_utc_time_and_a_link_to_all_reports(
    repository: Path, variables: dict[str, str]
) -> None:
    door("init-ci")
    for _ in range(2):
        Runner(repository, variables).run()
        text = git("show", "origin/main:README.md")
        assert text.startswith("# Our models\n\nWords that stay.\n")
        assert (text.count(START), text.count(END)) == (1, 1)
        block = text.partition(START)[2].partition(END)[0]
        assert f"- **Last updated:** {TODAY}" in block
        assert " UTC\n" in block
        assert "- **Test iterations:** 2 per model" in block
        assert "(https://ada.github.io/models/reports/latest_report.html)" in block
        assert "(https://ada.github.io/models/reports/index.html)" in block


@needs_git
def test_the_readme_block_says_full_and_partial_support_as_the_page_does(
    repository: Path, variables: dict[str, str]
) -> None:
    door("init-ci")
    Runner(repository, variables).run()
    block = git("show", "origin/main:README.md").partition(START)[2].partition(END)[0]
    assert " call the tool and use its result" in block
    assert re.search(r"granite-20b-instruct *\| *full support *\|", block)
    assert not re.search(r"\bpass|\bfail", block)
    index = git("show", "origin/main:reports/index.html")
    assert " call the tool and use its result" in index
    assert not re.search(r"\b(passes|fails)\b", index)


@needs_git
def test_a_day_without_answers_is_published_and_the_step_is_red(repository: Path, variables: dict[str, str]) -> None:
    door("init-ci")
    runner = Runner(repository, variables | {"WATSONX_PROJECT_ID": "elsewhere"})
    runner.run()
    assert runner.failed == ["Test the models"]
    assert "does not accept project id" in git("show", "origin/main:reports/latest_report.html")


@needs_git
def test_a_missing_secret_publishes_nothing(repository: Path, variables: dict[str, str]) -> None:
    door("init-ci")
    runner = Runner(repository, variables | {"WATSONX_APIKEY": ""})
    runner.run()
    assert runner.failed == ["Test the models"]
    assert not Path("reports").exists()


@needs_git
def test_init_ci_puts_the_workflow_and_the_guide_in_place_and_replaces_nothing(repository: Path) -> None:
    said = door("init-ci")
    assert "WATSONX_APIKEY" in said.stdout
    guide = Path(".github/ACTIONS_SETUP.md").read_text()
    workflow = yaml.safe_load(Path(WORKFLOW).read_text())
    used = {value.split(".")[1].split()[0] for value in _values(workflow) if value.startswith("${{ secrets.")}
    assert {"WATSONX_APIKEY", "WATSONX_PROJECT_ID"} <= used
    assert all(f"| `{secret}` |" in guide for secret in used)
    door("init-ci")
    Path(WORKFLOW).write_text("mine")
    assert "exists and differs" in door("init-ci", code=1).stderr
    assert Path(WORKFLOW).read_text() == "mine"
    door("init-ci", "--force")
    assert "mine" not in Path(WORKFLOW).read_text()


def _values(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [value for one in node.values() for value in _values(one)]
    if isinstance(node, list):
        return [value for one in node for value in _values(one)]
    return [str(node)]


def test_init_ci_wants_the_top_folder_of_a_repository(folder: Path) -> None:
    assert "not the top folder of a git repository" in door("init-ci", code=1).stderr
    assert not list(folder.iterdir())


def test_the_workflow_runs_at_six_and_after_a_push_to_main() -> None:
    packaged = files("watsonx_tool_tester") / "ci_files" / "daily-tool-test.yml"
    begun_by = yaml.load(packaged.read_text(), yaml.BaseLoader)["on"]
    assert begun_by["schedule"] == [{"cron": "0 6 * * *"}]
    assert begun_by["push"]["branches"] == ["main"]


def test_the_workflow_runs_in_no_repository_but_the_users() -> None:
    packaged = files("watsonx_tool_tester") / "ci_files" / "daily-tool-test.yml"
    assert "watsonx-tool-tester test" in packaged.read_text()
    assert not (ROOT / WORKFLOW).exists()


def test_the_steps_of_an_existing_workflow_keep_working(known: WatsonxVendor, folder: Path) -> None:
    """The command and the Python line by which workflows of the older tool test and clean up."""
    words = ["--iterations", "2", "--output", "reports/tool_test_report_20260101_060000.html", "--html-output"]
    door("test", *words, "--save-history")
    assert Path("reports/tool_test_report_20260101_060000.html").read_text("utf-8").startswith("<!doctype html>")
    line = "from watsonx_tool_tester.utils.history_manager import HistoryManager; hm = HistoryManager(); "
    line += "hm.cleanup_old_data(days_to_keep=90)"
    before = Path("reports/history/test_results.csv").read_bytes()
    env = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", line], check=True, env=env)
    assert Path("reports/history/test_results.csv").read_bytes() == before


def test_cleanup_keeps_a_backup_where_every_row_would_go(folder: Path) -> None:
    place = Path("reports/history")
    place.mkdir(parents=True)
    (place / "test_results.csv").write_text(
        "date,model_id,tool_call_support,handles_response,iterations,tool_success_rate\n2020-01-01,m,True,True,5,1\n"
    )
    said = door("cleanup").stderr
    assert "1 row before" in said
    assert "test_results.backup-1.csv" in said
    assert (place / "test_results.csv").read_text().count("\n") == 1
    assert "m,2020-01-01,2020-01-01,True" in (place / "models_registry.csv").read_text()
    assert door("cleanup").stderr == ""
    place.rename("elsewhere")
    Path(".env").write_text("WATSONX_TOOL_HISTORY_DIR=elsewhere\n")
    (Path("elsewhere") / "test_results.backup-1.csv").rename("elsewhere/test_results.csv")
    assert "1 row before" in door("cleanup").stderr
