"""Rows of a dataset: every problem is reported with its line, and none stops the reading."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from support.rows import TIME, WEATHER, row, write_rows
from toolcert.core.requests import tool
from toolcert.verification.dataset.inspection import inspect
from toolcert.verification.dataset.lines import Dataset, Line
from toolcert.verification.dataset.source import Source

BROKEN_TOOL = {"type": "function", "function": {"name": "bad", "parameters": {"type": "object", "required": {}}}}


def read(path: Path, rows: list[Any]) -> list[Line]:
    return list(Dataset(Source(write_rows(path / "data.jsonl", rows))).lines())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"messages": [', "dataset.not_json"),
        ('{"messages": [{"role": "user", "content": NaN}]}', "dataset.not_json"),
        ('{"messages": [1e999]}', "dataset.not_json"),
        ("[" * 5000, "dataset.not_json"),
        *(
            (f'{{"messages": [], "{name}": {"[" * 201}{"]" * 201}}}', "dataset.not_json")
            for name in ("deep", "tools", "toolcert")
        ),
        ("[1, 2]", "dataset.not_object"),
        ('"text"', "dataset.not_object"),
        ("{}", "dataset.no_messages"),
        ('{"messages": []}', "dataset.no_messages"),
        ('{"messages": null}', "dataset.no_messages"),
        ('{"messages": "hello"}', "dataset.wrong_type"),
    ],
)
def test_a_line_that_cannot_be_asked_is_named_and_the_next_is_read(tmp_path: Path, text: str, code: str) -> None:
    bad, good = read(tmp_path, [text, row()])
    assert (bad.index, bad.body, bad.findings[0].code) == (1, None, code)
    assert good.index == 2
    assert good.body == row()
    assert good.findings == ()


def test_a_row_may_have_as_many_levels_as_every_parser_takes(tmp_path: Path) -> None:
    deep = "[" * 200 + "1.0" + "]" * 200
    [line] = read(tmp_path, [f'{{"messages": [{{"role": "user", "content": "x"}}], "deep": {deep}}}'])
    assert (line.body is not None, line.findings) == (True, ())


@pytest.mark.parametrize(
    ("fields", "code", "evidence"),
    [
        ({"tools": [BROKEN_TOOL]}, "dataset.bad_schema", "bad"),
        ({"tools": [WEATHER, TIME, WEATHER]}, "dataset.duplicate_tool", "get_weather"),
        ({"tools": "none"}, "dataset.wrong_type", "tools is a string"),
        ({"tools": [{"name": "bare"}]}, "dataset.wrong_type", "tools[0]"),
        ({"tools": [{"type": "function", "function": {"name": 7}}]}, "dataset.wrong_type", "name"),
        ({"stream": "true"}, "dataset.wrong_type", "stream"),
        ({"temperature": True}, "dataset.wrong_type", "temperature"),
        ({"max_tokens": "100"}, "dataset.wrong_type", "max_tokens"),
        ({"messages": ["hello"]}, "dataset.wrong_type", "messages[0]"),
        ({"messages": [{"content": "hello"}]}, "dataset.wrong_type", "role"),
        ({"toolcert": {"tag": ["x"]}}, "dataset.wrong_type", "toolcert"),
        ({"toolcert": {"expected": {}}}, "dataset.wrong_type", "neither"),
        ({"toolcert": {"expected": {"call": False, "calls": [{"name": "x"}]}}}, "dataset.wrong_type", "no call"),
    ],
)
def test_a_row_with_a_fault_is_still_asked(tmp_path: Path, fields: dict[str, Any], code: str, evidence: str) -> None:
    (line,) = read(tmp_path, [row(**fields)])
    assert line.body is not None
    assert [found.code for found in line.findings] == [code]
    assert evidence in line.findings[0].evidence


def test_our_own_key_is_read_and_never_part_of_the_request(tmp_path: Path) -> None:
    notes = {"id": "w-1", "tags": ["weather", "easy"], "expected": {"call": True}}
    (line,) = read(tmp_path, [row(toolcert=notes)])
    assert line.body == row()
    assert line.notes.id == "w-1"
    assert line.notes.tags == ("weather", "easy")
    assert line.notes.expected is not None
    assert line.notes.expected.wants_call


def test_rows_with_the_same_tools_share_them(tmp_path: Path) -> None:
    """They are read, checked and hashed once."""
    first, second, other = read(tmp_path, [row(1), row(2), row(3, tools=[TIME])])
    assert first.toolset is second.toolset
    assert first.toolset.names == ("get_weather",)
    assert other.toolset.digest != first.toolset.digest


def test_what_is_equally_frequent_is_described_in_the_same_order_every_time(tmp_path: Path) -> None:
    names = [f"tool_{letter}" for letter in "qwertyuiopasdfghjkl"]
    schema = {"minProperties": 1, "maxProperties": 9, "default": {}, "examples": [], "not": {"const": 1}}
    offered = [tool(name, "A tool.", schema) for name in names]
    report = inspect(Dataset(Source(write_rows(tmp_path / "data.jsonl", [row(tools=offered)]))))
    assert list(report.tool_names) == sorted(names)
    assert list(report.schema_features) == ["const", "default", "examples", "maxProperties", "minProperties", "not"]


def test_reading_a_row_twice_gives_equal_and_unchanged_bodies(tmp_path: Path) -> None:
    rows = [row(number) for number in range(3)]
    dataset = Dataset(Source(write_rows(tmp_path / "data.jsonl", rows)))
    first = copy.deepcopy([line.body for line in dataset.lines()])
    assert [line.body for line in dataset.lines()] == first == rows


def test_the_public_requests_hold_four_double_tools_and_one_broken_schema(recorded: Path) -> None:
    dataset = Dataset(Source(str(recorded / "vendor-results/requests.jsonl")))
    problems = {line.index: [found.code for found in line.findings] for line in dataset.lines() if line.findings}
    double = {index: ["dataset.duplicate_tool"] for index in (72, 168, 328, 380)}
    assert problems == double | {344: ["dataset.bad_schema"]}
    assert dataset.source.rows == 512
