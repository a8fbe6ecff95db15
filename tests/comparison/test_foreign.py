"""Reading results files fast says the same as reading every line whole, however the lines are written."""

from __future__ import annotations

import json
import random
from pathlib import Path
from zlib import crc32

import pytest

from support.comparison_runs import Row, write_results
from toolcert.comparison.read import older_file as foreign
from toolcert.comparison.read.older_file import Reading, quick_hashes, read_results
from toolcert.comparison.read.packed_run import By, PackedRun
from toolcert.core.errors import InputError
from toolcert.verification.older_results import Call, Function, decode_answers


@pytest.fixture
def usual(tmp_path: Path) -> list[dict[str, object]]:
    """Lines of all kinds: with and without calls, failed, invalid, with text beside the call."""
    rows = [
        Row(
            index=number,
            called=(True, False, None, True)[number % 4],
            arguments='{"wrong": 1}' if number % 5 == 0 else f'{{"word": "{number}"}}',
            text="so" if number % 3 else "",
            tokens=None if number % 7 == 0 else number,
            valid=number % 5 != 0,
        )
        for number in range(200)
    ]
    return [json.loads(line) for line in write_results(tmp_path / "usual.jsonl", rows).read_text().splitlines()]


def columns(data: PackedRun) -> list[list[object]]:
    kinds = [data.kinds.kinds[code] for code in data.columns.kind]
    facts = data.columns
    return [list(column) for column in (facts.index, facts.payload, facts.names, facts.tokens, kinds)]


def read_both_ways(
    path: Path, lines: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> tuple[PackedRun, ...]:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    fast = read_results(path, "fast", Reading(requests=False))
    monkeypatch.setattr(foreign, "decode_answers", lambda _: None)
    return fast, read_results(path, "whole", Reading(requests=False))


def nested(line: dict[str, object]) -> dict[str, object]:
    """The word that the fast way looks for, where it is something else."""
    return {**line, "extra": {"response": {"choices": []}}}


def reordered(line: dict[str, object]) -> dict[str, object]:
    return dict(random.Random(3).sample(sorted(line.items()), len(line)))


def numbered_otherwise(line: dict[str, object]) -> dict[str, object]:
    """A first field whose name is as long as data_index, and whose value looks like a row number."""
    return {"row_number": 7, **line}


@pytest.mark.parametrize("written", [dict, nested, reordered, numbered_otherwise])
def test_the_fast_way_says_what_the_whole_line_says(usual, written, tmp_path, monkeypatch):
    fast, whole = read_both_ways(tmp_path / "results.jsonl", [written(line) for line in usual], monkeypatch)
    assert len(whole.columns) == 200
    assert columns(fast) == columns(whole)
    assert fast.tallies.buckets == whole.tallies.buckets
    assert fast.identities == whole.identities


def test_usual_lines_are_read_the_fast_way(usual):
    lines = [json.dumps(line).encode() + b"\n" for line in usual]
    assert [row.data_index for row in decode_answers(lines) or ()] == list(range(200))


def test_one_line_that_must_be_read_whole_does_not_slow_down_the_rest(usual):
    """Only the lines read together with it are read whole."""
    lines = [json.dumps(line).encode() + b"\n" for line in [*usual[:31], nested(usual[31]), *usual[32:64]]]
    assert decode_answers(lines[:32]) is None
    assert decode_answers(lines[32:]) is not None


def test_a_field_that_stands_before_the_answer_is_not_lost(usual, tmp_path, monkeypatch):
    """Keys in the order of the alphabet put the noted finish reason before the request."""
    lines = [dict(sorted({**line, "finish_reason": "length"}.items())) for line in usual]
    fast, whole = read_both_ways(tmp_path / "results.jsonl", lines, monkeypatch)
    assert {kind.finish for kind, _ in fast.kind_counts if kind.measured} == {"length"}
    assert columns(fast) == columns(whole)


def test_telling_rows_apart_changes_nothing_about_who_judges(usual, tmp_path):
    """By number, the older verifier's word counts; also where requests are read for other reasons."""
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps({**line, "tool_calls_valid": True}) + "\n" for line in usual))
    plain = read_results(path, "plain", Reading(requests=False))
    grouped = read_results(path, "grouped", Reading(requests=False, by=By.TOOL))
    judged = read_results(path, "judged", Reading(requests=True))
    assert (plain.tallies.invalid, grouped.tallies.invalid) == (0, 0)
    assert judged.tallies.invalid > 0


def test_a_row_number_that_does_not_fit_is_refused(usual, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({**usual[0], "data_index": 5_000_000_007}) + "\n")
    with pytest.raises(InputError, match=r"line 1: .*data_index"):
        read_results(path, "large", Reading(requests=False))


def test_the_same_calls_have_the_same_hashes_in_every_process(usual):
    """Salted hashes would let the same command say something else tomorrow."""
    calls = [Call("1", Function("look_up", '{"word": "x"}'))]
    assert quick_hashes(calls) == (crc32(b'["look_up",{"word":"x"}'), crc32(b"look_up") & 0xFFFF)


SAME_CALLS = [
    ("look_up", ("", "  ", "null", "{}", "{ }", None, {})),
    ("look_up", ('{"a": 1, "b": [2.0]}', '{"b":[2],"a":1.0}', '{\n"b": [2],\n"a": 1}', {"b": [2.0], "a": 1})),
    ("look_up", ("[1.0]", " [1]", [1])),
    ("look_up", ('{"a": 1',)),
    ("look_up", ('{"a": true}',)),
    ("other", ("{}", "")),
    ("None", ("{}", "")),
    (None, ("{}", "")),
    ("1", ("2",)),
    ("", ("12",)),
    (1, ("2",)),
    (1.5, ("2",)),
    (True, ("2",)),
    (["look_up"], ("{}", "null")),
]
"""Names, each with arguments that say the same; each line says something else than the other lines."""


@pytest.mark.parametrize("beside", [[], [Call("2", Function("beside", '{"c": 3}'))]])
def test_calls_have_the_same_hashes_where_they_say_the_same_and_only_there(beside):
    """Objects as text are read in a shorter way than everything else."""
    hashes = [{quick_hashes([Call("1", Function(name, one)), *beside]) for one in given} for name, given in SAME_CALLS]
    assert [len(found) for found in hashes] == [1] * len(SAME_CALLS)
    assert len(set.union(*hashes)) == len(SAME_CALLS)


def test_each_row_is_found_again_in_its_file(usual, tmp_path):
    lines = [json.dumps(line) + "\n" * (1 + number % 2) for number, line in enumerate(usual)]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(lines))
    data = read_results(path, "results", Reading(requests=False))
    assert [json.loads(data.line(place)) for place in range(200)] == usual


def test_two_rows_on_one_line_are_not_read_the_fast_way(usual):
    """The second says its field in other letters, so that the first is not cut off."""
    line, other = json.dumps(usual[0]), json.dumps(usual[1]).replace('"response"', '"respons\\u0065"')
    assert json.loads(other) == usual[1]
    assert decode_answers([f"{line}, {other}\n".encode()]) is None


def test_repeated_questions_of_a_sorted_file_are_known(tmp_path):
    rows = [Row(index=number, question=f"question {number % 10}", called=True) for number in range(30)]
    path = write_results(tmp_path / "results.jsonl", rows)
    assert len(read_results(path, "by content", Reading(requests=True)).repeated) == 10
    assert not read_results(path, "by number", Reading(requests=False)).repeated
