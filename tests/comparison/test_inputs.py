"""Files that are not what they should be: a clear message each, and never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from support.comparison_runs import Row, same_rows, write_results, write_run
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.match.partners import Match
from toolcert.comparison.pipeline import compare
from toolcert.comparison.read.packed_run import By
from toolcert.core.errors import InputError
from toolcert.core.statistics.rates import Rate


@pytest.fixture
def good(tmp_path):
    return str(write_results(tmp_path / "good.jsonl", same_rows(10)))


def refusal(good: str, other: object) -> str:
    with pytest.raises(InputError) as refused:
        compare([good], [str(other)])
    return str(refused.value)


def test_a_missing_file(good, tmp_path):
    assert "no run, results file or blessed baseline" in refusal(good, tmp_path / "nothing")


def test_an_empty_file(good, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    assert "is empty" in refusal(good, tmp_path / "empty.jsonl")


def test_a_file_of_blank_lines(good, tmp_path):
    (tmp_path / "blank.jsonl").write_text("\n\n\n")
    assert "has no rows" in refusal(good, tmp_path / "blank.jsonl")


@pytest.mark.parametrize(
    "line", ["not json", "[]", '{"model": "m", "messages": []}', '{"data_index": "one", "status": "success"}', '"text"']
)
def test_a_file_of_another_tool(good, tmp_path, line):
    (tmp_path / "other.jsonl").write_text(f"{line}\n")
    message = refusal(good, tmp_path / "other.jsonl")
    assert "line 1: not a line of a results.jsonl file" in message
    assert "data_index, request, response and status" in message


@pytest.mark.parametrize("text", ['{"foo": 1}', '[{"data_index": 1, "status": "success"}]', "\x00\x01 binary", "null"])
def test_a_file_of_another_tool_without_a_last_line_break_is_not_called_cut_off(good, tmp_path, text):
    (tmp_path / "other.jsonl").write_text(text)
    assert "line 1: not a line of a results.jsonl file" in refusal(good, tmp_path / "other.jsonl")


DAMAGES = {
    "no UTF-8": (b'"question 7"', b'"question \xff"'),
    "a comma too many": (b'"temperature": 0.6', b'"temperature": 0,6'),
    "nested too deeply": (b'"question 7"', b"[" * 100_000 + b"]" * 100_000),
}


@pytest.mark.parametrize("match", Match)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_request_that_cannot_be_read_is_named(good, tmp_path, damage, match):
    path = write_results(tmp_path / "damaged.jsonl", same_rows(10))
    lines = path.read_bytes().splitlines(keepends=True)
    assert DAMAGES[damage][0] in lines[6]
    lines[6] = lines[6].replace(*DAMAGES[damage])
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=r"line 7: not a line|the row at place 7 cannot be read"):
        compare([good], [str(path)], CompareOptions(match=match))


def test_a_number_beyond_all_bounds_is_named_where_it_is_needed(good, tmp_path):
    path = write_results(tmp_path / "damaged.jsonl", same_rows(10))
    path.write_bytes(path.read_bytes().replace(b'"question 7"', b"1e999"))
    assert "line 7:" in refusal(good, path)
    assert compare([good], [str(path)], CompareOptions(match=Match.INDEX)).vendors[0].matching.matched == 10


def test_tools_that_are_no_list_are_none(tmp_path):
    path = write_results(tmp_path / "odd.jsonl", same_rows(10))
    path.write_text(re.sub(r'"tools": \[.*?\}\}\}\]', '"tools": true', path.read_text()))
    other = write_results(tmp_path / "other.jsonl", same_rows(10))
    options = CompareOptions(match=Match.INDEX, by=By.N_TOOLS)
    assert [group.name for group in compare([str(path)], [str(other)], options).vendors[0].groups] == ["0"]


def test_a_bad_line_in_the_middle_is_named(good, tmp_path):
    path = write_results(tmp_path / "torn.jsonl", same_rows(200))
    lines = path.read_text().splitlines(keepends=True)
    lines[99] = lines[99][:50] + "\n"
    path.write_text("".join(lines))
    assert "line 100:" in refusal(good, path)


def test_a_folder_that_is_no_run(good, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "not a run of toolcert" in refusal(good, tmp_path / "folder")


def test_a_probe_run(good, tmp_path):
    assert "is a probe run" in refusal(good, write_run(tmp_path / "probe", [], job="probe"))


def test_a_run_without_records(good, tmp_path):
    assert "has no rows" in refusal(good, write_run(tmp_path / "new", []))


def test_a_damaged_record(good, tmp_path):
    run = write_run(tmp_path / "run", same_rows(5))
    with (run / "records.jsonl").open("ab") as file:
        file.write(b'{"case": "x"}\n')
    assert "line 6: not a record of a verify run" in refusal(good, run)


@pytest.mark.parametrize("kind", ["run", "results"])
def test_a_cut_last_line_is_left_out_and_told(tmp_path, kind):
    rows = same_rows(30)
    if kind == "run":
        base, other = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows)
        torn = other / "records.jsonl"
    else:
        base, other = write_results(tmp_path / "a.jsonl", rows), write_results(tmp_path / "b.jsonl", rows)
        torn = other
    torn.write_bytes(torn.read_bytes()[:-40])
    vendor = compare([str(base)], [str(other)]).vendors[0]
    assert vendor.side.torn
    assert vendor.matching.baseline_only == 1
    assert any("cut off" in note for note in vendor.notes)


def test_a_last_line_without_line_break_counts_when_it_is_whole(tmp_path, good):
    path = write_results(tmp_path / "whole.jsonl", same_rows(10))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert compare([good], [str(path)]).vendors[0].matching.matched == 10


def test_blank_lines_and_windows_line_ends_are_passed_over(tmp_path, good):
    path = write_results(tmp_path / "crlf.jsonl", same_rows(10))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    vendor = compare([good], [str(path)]).vendors[0]
    assert vendor.figure("agreement").rate == Rate(k=10, n=10)


def test_the_records_file_stands_for_its_run(tmp_path):
    rows = same_rows(10)
    base, other = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows)
    assert compare([str(base)], [str(other / "records.jsonl")]).vendors[0].side.label == "b"


def test_runs_of_the_same_name_are_told_apart_by_their_path(tmp_path):
    rows = same_rows(10)
    one, two = write_run(tmp_path / "x" / "run", rows), write_run(tmp_path / "y" / "run", rows)
    comparison = compare([str(one)], [str(two)])
    assert comparison.baseline.label == str(one)
    assert comparison.vendors[0].side.label == str(two)


def odd_answer(**message: object) -> str:
    response = {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "tool_calls"}], "usage": 5}
    line = {
        "data_index": 1,
        "request": Row(index=1).request("m"),
        "response": response,
        "status": "success",
        "finish_reason": "tool_calls",
    }
    return json.dumps(line) + "\n"


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [{"id": 7, "function": {"name": "look_up", "arguments": {"word": "x"}}}]},
        {"content": [{"type": "text", "text": "hm"}], "tool_calls": [{"function": {"name": None, "arguments": None}}]},
        {"content": "", "tool_calls": [{"function": None}]},
        {"content": "", "tool_calls": "look_up"},
        {"content": 5, "tool_calls": [5]},
        {"content": "", "tool_calls": [{"function": {"name": "look_up", "arguments": '{"word": "\ud800"}'}}]},
    ],
)
def test_answers_of_odd_shapes_are_read_not_refused(tmp_path, message):
    """Vendors do answer like this; every shape is a row, whatever it is judged to be."""
    base = write_results(tmp_path / "base.jsonl", [Row(index=1), Row(index=2)])
    odd = tmp_path / "odd.jsonl"
    second = write_results(tmp_path / "two.jsonl", [Row(index=2)]).read_text()
    odd.write_text(odd_answer(**message) + second)
    vendor = compare([str(base)], [str(odd)], CompareOptions(force=True)).vendors[0]
    assert vendor.matching.matched == 2
    assert vendor.compared + vendor.missing.vendor_failed == 2


def test_a_compressed_file(good, tmp_path):
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(b"{}"))
    message = refusal(good, tmp_path / "packed.jsonl.gz")
    assert "is compressed" in message
    assert "gunzip" in message


def test_a_pipe_is_not_called_empty(good, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "pipe or a device" in refusal(good, tmp_path / "pipe")
    assert "pipe or a device" in refusal(good, os.devnull)


def test_a_file_that_may_not_be_read(good, monkeypatch):
    def closed(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    assert f"cannot read {good}: Permission denied" in refusal(good, good + "2")
