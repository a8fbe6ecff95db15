"""Reading our own runs: each line begins with the code of its row, and nothing else of it is decoded."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from toolcert.compare.columns import CHUNK, extend, keep_freed_memory
from toolcert.compare.rundata import By, Identity, RunData, Shape
from toolcert.core.errors import InputError
from toolcert.core.records import Record, RowFacts
from toolcert.runs.codes import CODE_END, CODE_KEY, CODE_START, HAS_BUCKETS, LAYOUT, row_code
from toolcert.runs.encoding import decode_head
from toolcert.runs.reader import RunReader

BUFFER = 1 << 20
_NEWLINE = 10
_VALIDITY, _INVALID = 0b11 << 5, 0b01 << 5
"""The bits of the flags that say whether calls are valid."""


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
    keep_freed_memory()
    offset = 0
    with data.path.open("rb", buffering=BUFFER) as file:
        while lines := list(islice(file, CHUNK)):
            if lines[-1][-1] != _NEWLINE:
                data.torn = True
                lines.pop()
            data.columns.mark(offset)
            offset += sum(map(len, lines))
            _add(data, lines)


def _add(data: RunData, lines: list[bytes]) -> None:
    """Keep rows column by column; facts are decoded only where a code does not say enough."""
    if not lines:
        return
    columns = data.columns
    first, looked_at = len(columns), data.looked_at(len(lines))
    index, content, payload, names, tokens, sampling, flags = zip(*LAYOUT.iter_unpack(_codes(data, lines)), strict=True)
    extend(columns.index, index)
    extend(columns.content, content)
    extend(columns.payload, payload)
    extend(columns.names, names)
    extend(columns.tokens, tokens)
    extend(columns.sampling, sampling)
    extend(columns.kind, data.kinds.codes_of_flags(flags))
    for at in [at for at, bits in enumerate(flags) if bits & HAS_BUCKETS or bits & _VALIDITY == _INVALID]:
        row = _row(data, lines[at], first + at)
        data.tallies.count_row(first + at, row.index, row.verdicts or (row.valid,), row.buckets)
    for at in looked_at:
        data.identities[_identity(_head(data, lines[at], first + at))] += 1
    for at in range(len(lines) if data.grouped else 0):
        row = _row(data, lines[at], first + at)
        data.add_group(Shape(names=row.names, tools=row.tools, turns=row.turns, tags=row.tags))


def _codes(data: RunData, lines: list[bytes]) -> bytes:
    """The codes at the start of lines; of older lines, which have none, they are made from the facts."""
    texts = [line[CODE_START:CODE_END] for line in lines if line.startswith(CODE_KEY)]
    if len(texts) < len(lines):
        first = len(data.columns)
        texts = [row_code(_row(data, line, place)) for place, line in enumerate(lines, first)]
    try:
        return bytes.fromhex(b"".join(texts).decode())
    except ValueError as error:
        near = len(data.columns) + 1
        raise InputError(f"{data.path}: the code that begins a line near line {near} is damaged.") from error


def _head(data: RunData, line: bytes, place: int) -> Record:
    try:
        return decode_head(line)
    except msgspec.DecodeError as error:
        raise InputError(f"{data.path}, line {place + 1}: not a record of a verify run ({error}).") from error


def _row(data: RunData, line: bytes, place: int) -> RowFacts:
    row = _head(data, line, place).row
    if row is None:
        raise InputError(f"{data.path}, line {place + 1}: not a record of a verify run (it has no row).")
    return row


def _identity(head: Record) -> Identity:
    row = head.row
    if row is None or row.called is None:
        return Identity(asked=head.model, answered=None, fingerprint=None, id_style=None, measured=False)
    return Identity(
        asked=head.model, answered=row.answered_as, fingerprint=row.fingerprint, id_style=row.id_style, measured=True
    )
