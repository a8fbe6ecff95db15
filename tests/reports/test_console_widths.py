"""Every console report at usual widths: what is too long is wrapped between words, never cut or broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from reports.compare_samples import make_comparison
from reports.verify_samples import write_verify_run
from support.histories import TELLING, stored
from support.rows import row, write_rows
from toolcert.cli.main import cli
from toolcert.reports.display_text import width_of, wrap
from toolcert.simulate import Vendor
from toolcert.simulate.persona import DEMO

pytestmark = pytest.mark.heavy  # the reports of every job are made once, which takes long

WIDTHS = (80, 120, 200)
ENDLESS = 2000
"""Columns in which no line is wrapped and nothing is cut."""
DRAWN = re.compile("[█▏▎▍▌▋▊▉─├┤┊·●○◆✓✗◐░▅▂–?0-9…-]+")
"""Bars, whiskers and timelines are drawn to the width; the signs of a matrix stand in one word."""
NUMBER = re.compile(r"[(\[+-]?\d[\d.,\u202f]*$")
UNIT = re.compile(r" *(%|s|ms|min|h|x|points?|rows?|models?|runs?|of|to|/)[.,;:)]?( \S|$)")
LONG_NAME = "corvid-labs/corvid-large-120b-instruct-2026-fp8-turbo"


class Reports:
    """Commands that print a report, with the sentences it must hold whole."""

    def __init__(self, folder: Path, url: str, other: str) -> None:
        self.folder = folder
        self.probe = str(folder / "probe")
        self.both = str(folder / "both")
        personas = [word for name in DEMO for word in ("-m", name)]
        self.run("probe", url, *personas, "-n", "2", "-q", "-o", self.probe, "--max-tokens", "64")
        self.run("probe", url, other, "-s", "quick", "-n", "2", "-q", "-o", self.both)
        self.verify = str(write_verify_run(folder / "verify", rows=300))
        make_comparison(folder, vendors=3)
        self.history = stored(str(folder / "h.sqlite"), TELLING)
        bad = row(3, tools=[{"type": "function", "function": {"name": "a", "parameters": {"type": 7}}}])
        self.dataset = write_rows(folder / "d.jsonl", [row(1), row(1), "{", bad])
        self.url = url

    def commands(self) -> dict[str, list[str]]:
        runs = {name: str(self.folder / name) for name in ("base-1", "base-2", "vendor-1", "vendor-2", "vendor-3")}
        several = ["compare", "--baseline", runs["base-1"], runs["base-2"], "--fail-on", "none", "--vendor"]
        back = ["--history", self.history]
        return {
            "probe": ["report", self.probe],
            "probe of two endpoints": ["report", self.both],
            "verify": ["report", self.verify, "--slice", "tool", "--slice", "tag"],
            "compare": [*several, runs["vendor-1"]],
            "compare three": [*several, runs["vendor-1"], runs["vendor-2"], runs["vendor-3"], "--by", "tool"],
            "compare plan": ["compare", "--plan", "--effect", "0.03"],
            "history": ["history", "show", *back],
            "trend": ["history", "trend", *back],
            "trend of one": ["history", "trend", "outage", *back],
            "outages": ["history", "outages", *back],
            "drift": ["history", "drift", *back],
            "doctor": ["doctor", self.url, "-m", "faithful"],
            "doctor without a server": ["doctor", "http://127.0.0.1:9/v1"],
            "models": ["models", self.url],
            "endpoints": ["endpoints"],
            "findings": ["findings"],
            "finding": ["findings", "call.in_text"],
            "show": ["show", self.verify, "3"],
            "dataset stats": ["dataset", "stats", self.dataset],
            "dataset check": ["dataset", "check", self.dataset],
            "probes": ["probe", "--list-probes"],
            "probe plan": ["probe", self.url, "--dry-run", "-s", "full"],
            "verify plan": ["verify", self.dataset, "--base-url", self.url, "-m", "faithful", "--dry-run"],
        }

    @cache  # noqa: B019 - lives as long as the tests of this module
    def run(self, *words: str, width: int = ENDLESS) -> str:
        result = CliRunner(env={"COLUMNS": str(width)}).invoke(cli, words)
        assert "Traceback" not in result.output
        assert result.exit_code in (0, 1, 3), result.output
        return result.stdout


NAMES = (
    "probe", "probe of two endpoints", "verify", "compare", "compare three", "compare plan", "history", "trend",
    "trend of one", "outages", "drift", "doctor", "doctor without a server", "models", "endpoints", "findings",
    "finding", "show", "dataset stats", "dataset check", "probes", "probe plan", "verify plan",
)  # fmt: skip


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    with Vendor(models=DEMO) as one, Vendor(models={"slow": "slow", LONG_NAME: "text-caller"}) as other:
        made = Reports(tmp_path_factory.mktemp("widths"), one.url, other.url)
        assert set(made.commands()) == set(NAMES)
        yield made


def own_lines(text: str) -> list[str]:
    """The lines but those of a request or an answer, which are shown as they are."""
    return [line for line in text.splitlines() if "curl " not in line and not line.lstrip().startswith(('"', "{", "}"))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_screen(reports: Reports, name: str, width: int) -> None:
    """All but a curl line, which is copied whole, and a single word such as an address."""
    for line in own_lines(reports.run(*reports.commands()[name], width=width)):
        assert width_of(line) <= width or " " not in line.strip(), line
        assert line == line.rstrip()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_word_is_broken_over_two_lines(reports: Reports, name: str, width: int) -> None:
    """Each word also stands in the same report on a screen of endless width."""
    command = reports.commands()[name]
    if name.startswith("doctor"):
        pytest.skip("its times differ from run to run")
    whole = set(reports.run(*command).split())
    for line in own_lines(reports.run(*command, width=width)):
        if line.startswith("  one symbol is"):
            continue  # a timeline that is narrower says so
        broken = [word for word in line.split() if word not in whole and not DRAWN.fullmatch(word)]
        assert not [word for word in broken if "…" not in word], line


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_figure_is_split_by_the_end_of_a_line(reports: Reports, name: str, width: int) -> None:
    lines = [line for line in own_lines(reports.run(*reports.commands()[name], width=width)) if line.strip()]
    for first, second in pairwise(lines):
        last = first.split()[-1]
        assert not (NUMBER.search(last) and UNIT.match(second)), (first, second)
        assert last not in ("p", "=", "<"), (first, second)
        assert not (last.startswith("[") and last.endswith(",")), (first, second)


@pytest.mark.parametrize("width", WIDTHS)
def test_reasons_and_sentences_are_whole(reports: Reports, width: int) -> None:
    """What a model lacks is said to its end, however narrow the screen is."""
    for command, folder in (("probe", reports.probe), ("probe of two endpoints", reports.both)):
        summary = json.loads(reports.run("report", folder, "--json", "-"))["summary"]
        text = " ".join(reports.run(*reports.commands()[command], width=width).split())
        for sentence in (summary["headline"], *summary["lines"], *(model["reason"] for model in summary["models"])):
            assert sentence in text
        for cause in summary["causes"]:
            assert cause["title"] in text


@pytest.mark.parametrize("width", WIDTHS)
def test_a_finding_names_the_models_it_was_seen_at(reports: Reports, width: int) -> None:
    text = " ".join(reports.run("report", reports.probe, width=width).split())
    assert re.search(r"call\.in_text \d+x at 2 of 8 models: seven-of-ten, text-caller ", text)
    assert re.search(r"stream\.cut \d+x at 1 of 8 models: stream-cutter ", text)


def test_sixty_columns_hold_all_but_the_widest_tables(reports: Reports) -> None:
    for name in ("doctor without a server", "findings", "finding", "probes", "compare plan", "drift"):
        assert max(map(width_of, reports.run(*reports.commands()[name], width=60).splitlines())) <= 60


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("it took 12 s more", ["it took", "12 s more"]),
        ("only 97.1 % pass", ["only", "97.1 %", "pass"]),
        ("it is p = 0.03, then", ["it is", "p = 0.03,", "then"]),
        ("from 0.91 to 0.99", ["from", "0.91 to 0.99"]),
        ("so [0.91, 0.99] is", ["so", "[0.91, 0.99]", "is"]),
        ("one: 3 of 8 models", ["one:", "3 of 8 models"]),
        ("a model-with-hyphens x", ["a", "model-with-hyphens", "x"]),
        ("温度 温度 温度", ["温度 温度", "温度"]),
    ],
)
def test_neither_a_word_nor_a_figure_is_broken(text: str, lines: list[str]) -> None:
    assert wrap(text, 10) == lines
