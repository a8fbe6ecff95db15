"""What the documentation tells people to type works: commands, configuration files and scenarios."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from toolcert import Endpoint, Outcome, ProbeOptions, probe_async
from toolcert.cli.main import cli
from toolcert.runs.reader import RunReader
from toolcert.settings.config import load_config
from toolcert.simulate import Vendor

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*/*.md")]
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(*languages: str) -> list[str]:
    found = (match for page in PAGES for match in BLOCK.finditer(page.read_text("utf-8")))
    return [match["text"] for match in found if match["language"] in languages]


def commands() -> list[str]:
    lines = "\n".join(blocks("console", "yaml")).replace("\\\n", " ").splitlines()
    typed = (re.match(r"\s*(?:\$|-) (toolcert .*?)(\s+#.*)?$", line) for line in lines)
    return sorted({match[1] for match in typed if match})


def test_there_are_documented_commands() -> None:
    assert len(commands()) >= 8


@pytest.mark.parametrize("line", commands())
def test_a_documented_command_exists_with_its_options(line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="toolcert")
    while isinstance(command, click.Group):
        inner = command.get_command(context, words.pop(0))
        assert inner is not None, line
        command, context = inner, click.Context(inner, context)
    _, left, _ = command.make_parser(context).parse_args(words)
    assert left == []


def test_nobody_is_sent_to_an_index_for_a_package_of_our_name() -> None:
    """It is not published there, so the name may be a stranger's: pages, workflows and messages say where from."""
    from_index = re.compile(r"pip install[^\n`]*?[\s'\"]toolcert(?!\[\w+\] @ git\+)")
    folders = ("docs", "src", "examples")
    files = [
        path for folder in folders for kind in ("md", "py", "yml") for path in ROOT.joinpath(folder).rglob(f"*.{kind}")
    ]
    assert [str(path) for path in [*PAGES, *files] if from_index.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("text", blocks("toml"))
def test_a_documented_configuration_is_accepted(text: str, tmp_path: Path) -> None:
    path = tmp_path / "toolcert.toml"
    path.write_text(text)
    config = load_config(str(path))
    assert config.endpoints or config.defaults


async def test_the_documented_scenario_tells_a_model_that_uses_results_from_one_that_does_not(tmp_path: Path) -> None:
    (scenario,) = (text for text in blocks("yaml") if text.startswith("name: refund"))
    path = tmp_path / "refund.yaml"
    path.write_text(scenario)
    options = ProbeOptions(scenario=(str(path),), iterations=2, output=str(tmp_path / "run"))
    with Vendor(models=["faithful", "never-reads-results"]) as vendor:
        run = await probe_async(Endpoint(vendor.url), options=options)
    outcomes = {(record.model, record.outcome) for record in RunReader(Path(run.folder)).heads()}
    assert outcomes == {("faithful", Outcome.PASSED), ("never-reads-results", Outcome.FAILED)}


@pytest.mark.heavy
def test_the_guide_to_python_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs" / "guides" / "python.md").read_text("utf-8")
    examples = [match["text"] for match in BLOCK.finditer(guide) if match["language"] == "python"]
    assert len(examples) >= 5
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        for example in examples:
            code = example.replace("http://localhost:8000", vendor.url)
            exec(compile(code, "docs/guides/python.md", "exec"), {"__name__": "guide"})
    assert (tmp_path / "page.html").exists()
    assert (tmp_path / "results.xml").exists()
