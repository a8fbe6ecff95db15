"""Reading our own runs: only the verdict fields at the start of each line are decoded."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import msgspec

from toolcert.compare.columns import CHUNK, MASK_16, MASK_32, NO_TOKENS, unordered
from toolcert.compare.kinds import KindKey
from toolcert.compare.rundata import By, RunData, Shape
from toolcert.core.errors import InputError
from toolcert.runs.encoding import DETAIL_MARK, decode_head
from toolcert.runs.reader import RunReader

BUFFER = 1 << 20
_NEWLINE = 10
_ROW_MARK = b'"row":{'
_BRACE = len(_ROW_MARK) - 1
_AFTER_ROW = (DETAIL_MARK, b"}\n")


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
    """Cut the row out of each line, by searching bytes: several times faster than parsing the rest."""
    offset = start = 0
    texts: list[bytes] = []
    with data.path.open("rb", buffering=BUFFER) as file:
        asked = _asked(file)
        for line in file:
            if line[-1] != _NEWLINE:
                data.torn = True
                break
            if not texts:
                data.columns.marks.append(offset)
            offset += len(line)
            if not line.startswith(_ROW_MARK, start):  # on most lines it stands where it stood before
                start = line.find(_ROW_MARK)
            end = line.find(b"}", start) + 1
            while end and not line.startswith(_AFTER_ROW, end):
                end = line.find(b"}", end) + 1
            texts.append(line[start + _BRACE : end])
            if len(texts) == CHUNK:
                _add_rows(data, texts, asked)
                texts = []
    _add_rows(data, texts, asked)


def _asked(file: BinaryIO) -> str:
    """The model a run asked: one for all its rows, so the first line tells it."""
    first = file.readline()
    file.seek(0)
    return decode_head(first).model if first.endswith(b"\n") else ""


def _add_rows(data: RunData, texts: list[bytes], asked: str) -> None:
    """Decode rows and keep them column by column."""
    try:
        rows = _decode_rows(b"[" + b",".join(texts) + b"]")
    except msgspec.DecodeError as error:
        number = len(data.columns) + 1
        raise InputError(
            f"{data.path}, lines {number} to {number + len(texts) - 1}: not records of a verify run ({error})."
        ) from error
    columns = data.columns
    columns.content.extend([hash(row.content) for row in rows])
    columns.index.extend([row.index for row in rows])
    columns.payload.extend([hash(unordered(row.calls)) & MASK_32 for row in rows])
    columns.names.extend([hash(unordered(row.names)) & MASK_32 for row in rows])
    columns.tokens.extend([NO_TOKENS if row.prompt_tokens is None else row.prompt_tokens for row in rows])
    columns.sampling.extend([hash(row.sampling) & MASK_16 for row in rows])
    columns.kind.extend(data.kinds.codes([_kind_key(row, asked) for row in rows]))
    _tally(data, rows)
    if data.grouped:
        for row in rows:
            data.add_group(Shape(names=row.names, tools=row.tools, turns=row.turns, tags=row.tags))


def _kind_key(row: _Row, asked: str) -> KindKey:
    return (
        row.called,
        row.finish,
        row.valid,
        row.correct,
        row.text_beside_call,
        len(row.calls),
        row.turns,
        asked,
        row.answered_as,
        row.fingerprint,
        row.id_style,
    )


def _tally(data: RunData, rows: list[_Row]) -> None:
    first = len(data.columns) - len(rows)
    for place, row in enumerate(rows, first):
        if row.buckets or row.valid is False or (row.valid is None and row.calls):
            data.tallies.count_row(place, row.index, row.verdicts or (row.valid,), row.buckets)
