"""The wheel and the sdist: the same bytes twice, and complete enough to be used without the repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from support.walking import blocks, commands, replaced
from toolcert.simulate.litellm_proxy import LiteLlmVendor
from toolcert.simulate.watsonx.service import WatsonxVendor

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


def test_the_daily_workflow_is_in_the_wheel(installed: Installed) -> None:
    (installed.folder / ".git").mkdir(exist_ok=True)
    installed.run("-m", "watsonx_tool_tester", "init-ci")
    assert "secrets.WATSONX_APIKEY" in (installed.folder / ".github/workflows/daily-tool-test.yml").read_text()
