"""The tables of the documentation that say which test proves which statement of an older tool's text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from facts import digest
from support.recorded import content

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted((ROOT / "docs/reference").glob("conformance-*.md"))
NAMED = re.compile(r"`(test_\w+\.py::test_\w+)`")


def named() -> set[str]:
    return {name for table in TABLES for name in NAMED.findall(table.read_text("utf-8"))}


def written() -> set[str]:
    found = set()
    for file in (ROOT / "tests/doors").glob("test_*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found.add(f"{file.name}::{node.name}")
    return found


def test_every_named_test_exists() -> None:
    assert len(TABLES) == 3
    assert named() - written() == set()


def test_every_test_of_a_door_is_in_a_table() -> None:
    ours = {name for name in written() if not name.startswith(Path(__file__).name)}
    assert ours - named() == set()


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_every_statement_has_its_row_and_a_test_and_is_counted(table: Path) -> None:
    text = table.read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1))
    assert all(NAMED.search(tests) for _, _, tests in rows)
    other = [number for number, statement, _ in rows if "**Otherwise:**" in statement]
    listed = " and ".join(filter(None, [", ".join(other[:-1]), other[-1]]))
    counts = f"{len(rows)} statements: {len(rows) - len(other)} hold as written, {len(other)} "
    assert counts in text
    assert f"({'number' if len(other) == 1 else 'numbers'} {listed};" in text


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_the_tables_follow_the_headings_of_the_texts(table: Path) -> None:
    """In the order of the text; a table may join headings, but has none of its own."""
    headings = content(f"older-pages/{table.stem.removeprefix('conformance-')}.headings").decode().split()
    walked = [
        digest(part.strip().lower())
        for head in re.findall(r"^## (.+)$", table.read_text(), re.MULTILINE)
        for part in head.split(",")
    ]
    places = [headings.index(head) for head in walked]
    assert places == sorted(places)
