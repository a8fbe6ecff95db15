"""The wheel and the sdist: the same bytes twice, and complete enough to be used without the repository."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from support.rows import row, write_rows
from support.walking import blocks, commands, replaced
from toolcert.simulate import Vendor
from toolcert.simulate.litellm_proxy import LiteLlmVendor
from toolcert.simulate.watsonx import WatsonxVendor

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("toolcert", "watsonx_tool_tester", "llm_tool_calling_tester", "vendor_verifier")


def build(source: Path, folder: Path) -> dict[str, Path]:
    """Wheel and sdist of a source tree, by their endings."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


class Installed:
    """A new environment that holds the wheel, and sees our dependencies but not the repository."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder / "env", with_pip=False)
        self._bin = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        site = next((folder / "env").rglob("site-packages"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        # Packages in a folder named by a .pth file are seen; its own .pth files, and so our editable install, are not.
        (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
        self.folder = folder / "empty"
        self.folder.mkdir()

    def run(self, *arguments: str, **variables: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "NO_COLOR": "1", **variables}
        command = [str(self._bin / "python"), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("clean"), built["wheel"])


def test_the_same_source_gives_the_same_bytes(built: dict[str, Path], tmp_path: Path) -> None:
    again = build(ROOT, tmp_path)
    for kind, path in built.items():
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(again[kind].read_bytes()).digest(), kind


def test_the_sdist_builds_the_same_wheel(built: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(built["sdist"]) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    again = build(next((tmp_path / "source").iterdir()), tmp_path / "dist")
    with zipfile.ZipFile(built["wheel"]) as ours, zipfile.ZipFile(again["wheel"]) as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())


def test_every_package_is_typed_and_licensed(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as archive:
        names = archive.namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "bench/", "scripts/"))]


def test_the_wheel_alone_probes_and_reports(installed: Installed) -> None:
    """From an empty folder: the command, its data files, and the simulated vendor are all in the wheel."""
    assert installed.run("-m", "toolcert", "--version").startswith("toolcert, version ")
    script = (
        "from toolcert import Endpoint, ProbeOptions, probe, report\n"
        "from toolcert.simulate import Vendor\n"
        "with Vendor(models=['faithful']) as vendor:\n"
        "    run = probe(Endpoint(vendor.url), options=ProbeOptions(suite='quick', iterations=1, output='run'))\n"
        "report('run', html='page.html')\n"
        "print(run.summary.models[0].counts.passed)\n"
    )
    assert installed.run("-c", script).strip() == "1"
    assert (installed.folder / "page.html").stat().st_size > 20_000


@pytest.mark.parametrize("module", ["watsonx_tool_tester", "vendor_verifier", "vendor_verifier.compare"])
def test_the_front_doors_are_in_the_wheel(installed: Installed, module: str) -> None:
    assert "Usage" in installed.run("-m", module, "--help") or "usage" in installed.run("-m", module, "--help")


@pytest.mark.needs("material")
def test_the_examples_of_watsonx_tool_tester_run_from_the_wheel(installed: Installed, material: Path) -> None:
    """The Python block and every command as the text prints them; addresses and keys are replaced, nothing else."""
    text = (material / "seeds/watsonx-tool-tester.md").read_text("utf-8")
    (installed.folder / "excludes.txt").write_text("ibm/.*\n")
    names = ("ibm/granite-20b-instruct", "meta-llama/llama-3", "ibm/granite-3-2b-instruct")
    models = dict.fromkeys(names, "faithful")
    with WatsonxVendor(models=models) as watsonx, LiteLlmVendor(models=["faithful"], master_key="sk-token") as proxy:
        values = {"YOUR_API_KEY": watsonx.api_key, "YOUR_PROJECT_ID": watsonx.project_id, "YOUR_TOKEN": "sk-token"}
        values |= {"http://localhost:8000": proxy.url}
        env = {"WATSONX_URL": watsonx.url, "WATSONX_IAM_URL": watsonx.iam_url, "REQUESTS_CA_BUNDLE": watsonx.ca_bundle}
        (script,) = blocks(text, "python")
        installed.run("-c", replaced(script, values), **env)
        keys = {"WATSONX_APIKEY": watsonx.api_key, "WATSONX_PROJECT_ID": watsonx.project_id}
        for block in blocks(text, "bash"):
            for exported, words in commands(replaced(block, values), "watsonx-tool-tester"):
                installed.run("-m", "watsonx_tool_tester", *words, **env, **(keys | exported))
    assert (installed.folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.needs("material")
def test_the_examples_of_vendor_verifier_run_from_the_wheel(
    built: dict[str, Path], tmp_path: Path, material: Path, recorded: Path
) -> None:
    """Every command, and the adapter with its registration, as the text prints them."""
    installed = Installed(tmp_path, built["wheel"])  # one of its own: the recipe adds to the installed package
    text = (material / "seeds/vendor-verifier.md").read_text("utf-8")
    (installed.folder / "tool-calls").mkdir()
    for name in ("samples_cleaned_cleaned.jsonl", "tool-calls/samples_cleaned_cleaned.jsonl"):
        write_rows(installed.folder / name, [row(1), row(2, stream=True)])
    for name, target in (("official-run1", "kimi-k2-0905-preview_results"), ("vendor-a", "gpt-4o-results")):
        shutil.copyfile(recorded / f"vendor-results/{name}.jsonl", installed.folder / f"tool-calls/{target}.jsonl")
    names = ("gpt-4o", "kimi-k2-0905-preview", "moonshotai/kimi-k2-0905", "your-model-name")
    addresses = ("https://api.openai.com/v1", "https://api.moonshot.cn/v1", "https://openrouter.ai/api/v1")
    keys = ("YOUR_API_KEY", "$OPENAI_API_KEY", "$MOONSHOT_API_KEY", "$OPENROUTER_API_KEY")
    with Vendor(models=dict.fromkeys(names, "faithful"), api_key="sk-the-key-0123") as vendor:
        values = dict.fromkeys(addresses, vendor.url) | dict.fromkeys(keys, "sk-the-key-0123")
        shell = [replaced(block, values) for block in blocks(text, "bash")]
        key = {"OPENAI_API_KEY": "sk-the-key-0123"}
        walked = [words for block in shell for _, words in commands(block, "python")]
        examples = [words for words in walked if words[:1] == ["-m"] and "<MODEL>" not in words]
        assert len(examples) == 6
        for words in examples:
            installed.run(*words, **key)
        adapter, registration = blocks(text, "python")
        models = next((tmp_path / "env").rglob("vendor_verifier/models"))
        (models / "your_model.py").write_text(adapter)
        with (models / "__init__.py").open("a") as file:
            file.write("\n" + registration)
        words = ["tool-calls/samples_cleaned_cleaned.jsonl", "--model", "your-model-name", "--base-url", vendor.url]
        installed.run("-m", "vendor_verifier", *words, "--model-type", "your-model", **key)
    told = json.loads((installed.folder / "summary.json").read_text("utf-8"))
    assert (told["model"], told["success_count"]) == ("your-model-name", 2)
    assert (installed.folder / "tool-calls/gpt-4o-comparison.json").is_file()


USERS_TEST = """
import asyncio
from llm_tool_calling_tester import ModelTester, ModelTestRunner, TestResult, TestStatus, config

class MyTester(ModelTester):
    async def test_greeting(self, model):
        await self.chat_completion({"model": model, "messages": [{"role": "user", "content": "Say hello"}]})
        return TestResult(test_name="greeting", status=TestStatus.PASSED)

    async def run_all_tests(self, model):
        results = await super().run_all_tests(model)
        results["greeting"] = await self.test_greeting(model)
        return results

config.AUTONOMOUS_AGENT_WEIGHTS["greeting"] = 10
runner = ModelTestRunner(tester=MyTester())
results = asyncio.run(runner.run_tests())
runner.print_console_summary(results)
runner.save_json_report(results)
"""
"""The four steps under Extensibility in the text of llm-tool-calling-tester, which prints no script itself."""


@pytest.mark.needs("material")
def test_the_examples_of_llm_tool_calling_tester_run_from_the_wheel(installed: Installed, material: Path) -> None:
    """The command by its variables, a test added by the text's four steps, and a report of the printed structure."""
    text = (material / "seeds/llm-tool-calling-tester.md").read_text("utf-8")
    with Vendor(models=["faithful"]) as vendor:
        variables = {"MODEL_TESTER_API_URL": vendor.url, "MODEL_TESTER_TIMEOUT": "10", "MODEL_TESTER_MAX_WORKERS": "2"}
        assert set(variables) <= set(re.findall(r"MODEL_TESTER_\w+", text))
        installed.run("-m", "llm_tool_calling_tester", **variables)
        assert "✅ greeting" in installed.run("-c", USERS_TEST, **variables)
    reports = [json.loads(path.read_text("utf-8")) for path in (installed.folder / "output").glob("*.json")]
    assert [report["results"][0]["overall_score"] for report in reports] == [100.0, 100.0]
    (printed,) = blocks(text, "json")
    for name in re.findall(r'"(\w+)":', printed):
        assert f'"{name}":' in json.dumps(reports[0]), name


def test_the_daily_workflow_is_in_the_wheel(installed: Installed) -> None:
    (installed.folder / ".git").mkdir(exist_ok=True)
    installed.run("-m", "watsonx_tool_tester", "init-ci")
    assert "secrets.WATSONX_APIKEY" in (installed.folder / ".github/workflows/daily-tool-test.yml").read_text()
