"""Reading our own runs: only the verdict fields at the start of each line are decoded."""

from __future__ import annotations

from itertools import islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

import msgspec

from toolcert.compare.columns import CHUNK, MASK_16, MASK_32, NO_TOKENS, unordered
from toolcert.compare.rundata import By, RunData, Shape
from toolcert.core.errors import InputError
from toolcert.runs.encoding import DETAIL_MARK, decode_head
from toolcert.runs.reader import RunReader

BUFFER = 1 << 20
_NEWLINE = 10
_ROW_MARK = b'"row":{'
_BRACE = len(_ROW_MARK) - 1


class _Row(msgspec.Struct, gc=False):
    """The fields of RowFacts that are compared."""

    index: int
    content: str
    sampling: str = ""
    called: bool | None = None
    finish: str | None = None
    calls: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    valid: bool | None = None
    verdicts: tuple[bool | None, ...] = ()
    correct: bool | None = None
    buckets: tuple[str, ...] = ()
    prompt_tokens: int | None = None
    fingerprint: str | None = None
    answered_as: str | None = None
    id_style: str | None = None
    text_beside_call: bool = False
    tools: int = 0
    turns: int = 0
    tags: tuple[str, ...] = ()


class _Head(msgspec.Struct, gc=False):
    row: _Row


_facts = attrgetter(
    "called",
    "finish",
    "valid",
    "correct",
    "text_beside_call",
    "turns",
    "answered_as",
    "fingerprint",
    "id_style",
)
_decode_head = msgspec.json.Decoder(_Head).decode
_decode_rows = msgspec.json.Decoder(list[_Row]).decode


def read_run(folder: Path, label: str, by: By | None = None) -> RunData:
    """The rows of a verify run."""
    reader = RunReader(folder)
    if reader.manifest.job != "verify":
        raise InputError(
            f"{folder} is a {reader.manifest.job} run; only verify runs can be compared.",
            remedy="Compare runs of `toolcert verify`, or results.jsonl files of older verifiers.",
        )
    data = RunData(label, reader.path, reader.manifest, by)
    if reader.path.exists():
        _read_lines(data)
    return data


def _read_lines(data: RunData) -> None:
    offset = 0
    with data.path.open("rb", buffering=BUFFER) as file:
        asked = _asked(file)
        while lines := list(islice(file, CHUNK)):
            if lines[-1][-1] != _NEWLINE:
                data.torn = True
                lines.pop()
            data.columns.mark(offset)
            offset += sum(map(len, lines))
            _add_rows(data, _decoded(data, lines), asked)


def _asked(file: BinaryIO) -> str:
    """The model a run asked: one for all its rows, so the first line tells it."""
    first = file.readline()
    file.seek(0)
    return decode_head(first).model if first.endswith(b"\n") else ""


def _decoded(data: RunData, lines: list[bytes]) -> list[_Row]:
    """The rows of some lines: cut out by searching bytes, which is several times faster than parsing the rest."""
    start = lines[0].find(_ROW_MARK) if lines else 0
    # On most lines the row stands where it stood on the first, and ends at the first brace.
    starts = [start if line.startswith(_ROW_MARK, start) else line.find(_ROW_MARK) for line in lines]
    texts = [line[begin + _BRACE : line.find(b"}", begin) + 1] for line, begin in zip(lines, starts, strict=True)]
    try:
        return _decode_rows(b"[" + b",".join(texts) + b"]")
    except msgspec.DecodeError:
        return _decoded_carefully(data, lines)


def _decoded_carefully(data: RunData, lines: list[bytes]) -> list[_Row]:
    """The same where a text of the row has a brace in it, or a line is not what it should be."""
    rows = []
    for number, line in enumerate(lines, len(data.columns) + 1):
        end = line.find(DETAIL_MARK)
        try:
            head = _decode_head(line if end < 0 else line[:end] + b"}")
        except msgspec.DecodeError as error:
            raise InputError(f"{data.path}, line {number}: not a record of a verify run ({error}).") from error
        rows.append(head.row)
    return rows


def _add_rows(data: RunData, rows: list[_Row], asked: str) -> None:
    """Keep rows column by column."""
    columns = data.columns
    calls = [row.calls for row in rows]
    columns.content.extend([hash(row.content) for row in rows])
    columns.index.extend([row.index for row in rows])
    columns.payload.extend(_hashes(calls, MASK_32))
    columns.names.extend(_hashes([row.names for row in rows], MASK_16))
    columns.tokens.extend([NO_TOKENS if (tokens := row.prompt_tokens) is None else tokens % NO_TOKENS for row in rows])
    columns.sampling.extend([hash(row.sampling) & MASK_16 for row in rows])
    columns.kind.extend(data.kinds.codes([*zip(map(_facts, rows), map(len, calls), repeat(asked))]))
    first = len(columns) - len(rows)
    for place, row in enumerate(rows, first):
        if row.buckets or row.valid is False or (row.valid is None and row.calls):
            data.tallies.count_row(place, row.index, row.verdicts or (row.valid,), row.buckets)
    if data.grouped:
        for row in rows:
            data.add_group(Shape(names=row.names, tools=row.tools, turns=row.turns, tags=row.tags))


def _hashes(parts: list[tuple[str, ...]], mask: int) -> list[int]:
    if max(map(len, parts), default=0) > 1:
        parts = [unordered(part) for part in parts]
    return [hash(part) & mask for part in parts]
