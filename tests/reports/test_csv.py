"""CSV that spreadsheets can open without running anything."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from reports.samples import probe_summary
from toolcert.comparison.result import Comparison
from toolcert.reports.display_text import LONGEST_CELL, cell_figure, harmless_cell
from toolcert.reports.formats import NOTHING, Extras, render
from toolcert.verification.summary.tally import summarise


def table(job: str, summary: object, extras: Extras = NOTHING) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(str(render(job, "csv", summary, extras)))))


def test_a_line_per_model_and_probe() -> None:
    summary = probe_summary(3)
    lines = table("probe", summary)
    assert len(lines) == 3 * len(summary.probes)
    first = summary.models[0].cells[0]
    assert (lines[0]["probe"], lines[0]["passed"], lines[0]["measured"]) == (
        first.probe,
        str(first.rate.k),
        str(first.rate.n),
    )


def test_a_line_per_row(verify_run: Path) -> None:
    lines = table("verify", summarise(verify_run), Extras(run=str(verify_run)))
    assert [line["row"] for line in lines] == [str(number) for number in range(1, 301)]
    assert {line["outcome"] for line in lines} == {"passed", "failed", "not_measured"}
    assert {line["valid"] for line in lines} == {"true", "false", ""}


def test_a_line_per_vendor_and_figure(comparison: Comparison) -> None:
    lines = table("compare", comparison)
    assert [line["figure"] for line in lines] == [cell_figure.name for cell_figure in comparison.vendors[0].figures]
    assert all(line["ceiling"] for line in lines)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\x00=1"])
def test_no_cell_can_become_a_formula(text: str) -> None:
    assert str(harmless_cell(text))[0] not in "=+-@\t\r"
    assert not str(harmless_cell(text)).lstrip(" \u2007\u00a0").startswith(("=", "+", "-", "@"))


def test_numbers_stay_numbers() -> None:
    assert harmless_cell(-3) == -3
    assert harmless_cell(True) == "true"
    assert str(harmless_cell(cell_figure(-0.88236))) == "-0.8824"
    assert str(harmless_cell(cell_figure(-0.00001))) == "0.0000"


def test_hostile_text_stays_in_its_cell(hostile_verify_run: Path, hostile_comparison: Comparison) -> None:
    """As many lines and columns as without it; no cell a spreadsheet would run or refuse."""
    tables = [
        table("probe", probe_summary(3, hostile=True)),
        table("verify", summarise(hostile_verify_run), Extras(run=str(hostile_verify_run))),
        table("compare", hostile_comparison),
    ]
    assert [len(lines) for lines in tables] == [3 * 35, 60, 22]
    for cell in (cell for lines in tables for line in lines for cell in line.values()):
        assert not cell.startswith(("=", "+", "@", "-")) or re.fullmatch(r"-0\.\d{4}", cell)
        assert len(cell) <= LONGEST_CELL + 1
        assert not set(cell) & set("\x00\x1b\n\r\u202e")
