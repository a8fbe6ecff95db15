"""A run as a comparison needs it: packed rows and counts; single answers are read again from the file."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from toolcert.comparison.match.partners import repeated_questions
from toolcert.comparison.read.columns import CHUNK, Columns, Kind, Kinds, keep_freed_memory
from toolcert.comparison.result import GivenAnswer, MadeCall
from toolcert.core.errors import InputError
from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.records import Manifest, Record, RowFacts
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject, Value
from toolcert.runs.encoding import decode_head
from toolcert.runs.reader import RunReader, bounded_lines
from toolcert.runs.row_code import CODE_END, CODE_KEY, CODE_START, HAS_BUCKETS, LAYOUT, row_code

_SHOWN_ROWS = 8
"""Row numbers kept per bucket, for people to look at."""
_KEPT_PLACES = 300
_LOOKED_AT = 1000
"""Rows from the start whose identity (who answered) is noted."""
_LOOKED_AT_EVERY = 256
"""After them, one row in this many is looked at."""
_MAX_GROUPS = 0xFFFF
_LOOK = 1 << 16
"""Bytes read at once when a row is looked up again: about as many as lie between a mark and a row."""


class By(StrEnum):
    """What rows can be grouped by."""

    TOOL = "tool"
    """The tool the baseline calls first."""
    N_TOOLS = "n_tools"
    TURNS = "turns"
    TAG = "tag"


class Shape(Value, gc=False):
    """What a row is grouped by."""

    names: tuple[str, ...] = ()
    tools: int = 0
    turns: int = 0
    tags: tuple[str, ...] = ()


_GROUPINGS: dict[By, Callable[[Shape], tuple[str, ...]]] = {
    By.TOOL: lambda shape: shape.names[:1] or ("(no call)",),
    By.N_TOOLS: lambda shape: (f"{shape.tools}",),
    By.TURNS: lambda shape: (f"{shape.turns}",),
    By.TAG: lambda shape: shape.tags or ("(none)",),
}


class Identity(NamedTuple):
    """Who answered a row."""

    asked: str
    """The model asked for."""
    answered: str | None
    fingerprint: str | None
    id_style: str | None
    measured: bool = True


class Tallies:
    """Counts over single calls."""

    def __init__(self) -> None:
        self.invalid = 0
        self.unjudged = 0
        self.buckets: Counter[str] = Counter()
        self.bucket_rows: dict[str, list[int]] = {}
        self.invalid_places: list[int] = []
        """Where rows with invalid calls stand, the first few hundred."""

    def count_row(self, place: int, index: int, verdicts: Iterable[bool | None], buckets: Iterable[str]) -> None:
        """Count a row whose calls are not all simply valid."""
        listed = list(verdicts)
        invalid = listed.count(False)
        self.invalid += invalid
        self.unjudged += listed.count(None)
        if invalid and len(self.invalid_places) < _KEPT_PLACES:
            self.invalid_places.append(place)
        for bucket in buckets:
            self.buckets[bucket] += 1
            rows = self.bucket_rows.setdefault(bucket, [])
            if len(rows) < _SHOWN_ROWS and index not in rows:
                rows.append(index)


class PackedRun:
    """One run or results file, read."""

    def __init__(self, label: str, path: Path, manifest: Manifest | None, by: By | None = None) -> None:
        self.label = label
        self.path = path
        self.manifest = manifest
        self.columns = Columns()
        self.kinds = Kinds()
        self.tallies = Tallies()
        self.identities: Counter[Identity] = Counter()
        """Who answered, on the rows that were looked at for it."""
        self.torn = False
        """The last line was cut off and left out."""
        self.grouped = by is not None
        self._grouping = None if by is None else _GROUPINGS[by]
        self._group_codes: dict[tuple[str, ...], int] = {}

    def looked_at(self, rows: int) -> range:
        """The places among the next rows whose identity is noted."""
        first = len(self.columns)
        return range(rows if first < _LOOKED_AT else int(first % _LOOKED_AT_EVERY < rows))

    def add_group(self, shape: Shape) -> None:
        """Note the group of the next row."""
        assert self._grouping is not None
        key = self._grouping(shape)
        if key not in self._group_codes and len(self._group_codes) >= _MAX_GROUPS:
            key = ("(other)",)
        self.columns.group.append(self._group_codes.setdefault(key, len(self._group_codes)))

    @property
    def unfinished(self) -> bool:
        """Whether the run was interrupted or killed, or still goes on."""
        return self.manifest is not None and (self.manifest.interrupted or self.manifest.finished_at is None)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Names by code; a row may belong to several."""
        return list(self._group_codes)

    @cached_property
    def kind_counts(self) -> list[tuple[Kind, int]]:
        """The kinds of rows and how many there are of each; for when all rows are read."""
        return [(self.kinds.kinds[code], count) for code, count in Counter(self.columns.kind).items()]

    @property
    def measured(self) -> int:
        """Rows that were answered."""
        return sum(count for kind, count in self.kind_counts if kind.measured)

    @cached_property
    def repeated(self) -> frozenset[int]:
        """Questions that more than one row asks."""
        return repeated_questions(self.columns)

    def lines(self, places: Iterable[int]) -> Iterator[bytes]:
        """The lines of several rows in the order of the file, each stretch of it read once."""
        wanted = [(*self.columns.mark_before(place), place) for place in sorted(places)]
        with self.path.open("rb", buffering=_LOOK) as file:
            for offset, group in groupby(wanted, key=lambda one: one[0]):
                file.seek(offset)
                lines = (line for line in file if not line.isspace())
                read = 0
                for _, before, _ in group:
                    yield next(islice(lines, before - read, None))
                    read = before + 1

    def line(self, place: int) -> bytes:
        """The line of the row at `place`, read again from the file."""
        offset, before = self.columns.mark_before(place)
        with self.path.open("rb", buffering=_LOOK) as file:
            file.seek(offset)
            lines = (line for line in file if not line.isspace())
            return next(islice(lines, before, None))


_BUFFER = 1 << 20
_NEWLINE = 10
_SPARSE = 100
_VALIDITY, _INVALID = 0b11 << 5, 0b01 << 5
"""The bits of the flags that say whether calls are valid."""


def read_run(folder: Path, label: str, by: By | None = None) -> PackedRun:
    """The rows of a verify run."""
    reader = RunReader(folder)
    if reader.manifest.job != "verify":
        raise InputError(
            f"{folder} is a {reader.manifest.job} run; only verify runs can be compared.",
            remedy="Compare runs of `toolcert verify`, or results.jsonl files of older verifiers.",
        )
    data = PackedRun(label, reader.path, reader.manifest, by)
    if not reader.path.exists():
        return data
    # Here only rows of the same number make us look for doubled lines: looking ahead would read the file twice.
    marks = reader.marks if reader.manifest.has_stale_lines else b""
    _read_lines(data, marks)
    if not marks and _has_doubles(data.columns.index) and any(marks := reader.read_marks()):
        data = PackedRun(label, reader.path, reader.manifest, by)
        _read_lines(data, marks)
    return data


def _has_doubles(numbers: array[int]) -> bool:
    if not numbers or max(numbers) > _SPARSE * len(numbers):
        return len(set(numbers)) < len(numbers)
    seen = bytearray(max(numbers) + 1)  # takes a fraction of the memory of a set
    for number in numbers:
        seen[number] = 1
    return seen.count(1) < len(numbers)


def _read_lines(data: PackedRun, marks: bytes) -> None:
    keep_freed_memory()
    number = 0
    for offset, lines in line_chunks(data.path):
        if lines[-1][-1] != _NEWLINE:
            data.torn = True
            lines.pop()
        for start, counting in counting_parts(lines, marks[number : number + len(lines)]):
            data.columns.mark(offset + start)
            _add(data, counting)
        number += len(lines)


def line_chunks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of a file in the groups that are read together, each with its offset."""
    offset = 0
    with path.open("rb", buffering=_BUFFER) as file:
        lines = bounded_lines(file, path)
        while chunk := list(islice(lines, CHUNK)):
            yield offset, chunk
            offset = file.tell()


def counting_parts(lines: list[bytes], marks: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """The neighbours among lines that count, each group with its offset: a row is found again from its beginning."""
    if not any(marks):
        yield 0, lines
        return
    offset = 0
    for stale, group in groupby(zip_longest(lines, marks), key=lambda pair: bool(pair[1])):
        part = [line for line, _ in group]
        if not stale:
            yield offset, part
        offset += sum(map(len, part))


def _add(data: PackedRun, lines: list[bytes]) -> None:
    """Keep rows column by column; facts are decoded only where a code does not say enough."""
    if not lines:
        return
    columns = data.columns
    first, looked_at = len(columns), data.looked_at(len(lines))
    facts = zip(*LAYOUT.iter_unpack(_codes(data, lines)), strict=True)
    index, content, payload, names, tokens, sampling, flags = map(list, facts)
    columns.index.fromlist(index)
    columns.content.fromlist(content)
    columns.payload.fromlist(payload)
    columns.names.fromlist(names)
    columns.tokens.fromlist(tokens)
    columns.sampling.fromlist(sampling)
    columns.kind.fromlist(data.kinds.codes_of_flags(flags))
    for at in [at for at, bits in enumerate(flags) if bits & HAS_BUCKETS or bits & _VALIDITY == _INVALID]:
        row = _row(data, lines[at], first + at)
        data.tallies.count_row(first + at, row.index, row.verdicts or (row.valid,), row.buckets)
    for at in looked_at:
        data.identities[_identity(_head(data, lines[at], first + at))] += 1
    for at in range(len(lines) if data.grouped else 0):
        row = _row(data, lines[at], first + at)
        data.add_group(Shape(names=row.names, tools=row.tools, turns=row.turns, tags=row.tags))


def _codes(data: PackedRun, lines: list[bytes]) -> bytes:
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


def _head(data: PackedRun, line: bytes, place: int) -> Record:
    try:
        return decode_head(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{data.path}, line {place + 1}: not a record of a verify run ({error}).") from error


def _row(data: PackedRun, line: bytes, place: int) -> RowFacts:
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


_SHOWN_TEXT = 4000
"""Characters of an answer kept for people; the run has the rest."""


class KeptAnswer(Value):
    """One row of one run with its evidence."""

    request: JsonObject = {}
    reply: Reply | None = None
    exchange: Exchange | None = None
    error: str = ""
    """The error that an older verifier noted instead of an answer."""


def read_answer(run: PackedRun, place: int) -> KeptAnswer:
    """The request and answer of a row; empty where the run kept only verdicts."""
    try:
        return answer_in(run, run.line(place))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"{run.path}: the row at place {place + 1} cannot be read ({why}).") from error


def answer_in(run: PackedRun, line: bytes) -> KeptAnswer:
    """The request and answer in a line of the run."""
    return _from_record(line) if run.manifest is not None else _from_older_row(line)


def _from_record(line: bytes) -> KeptAnswer:
    from toolcert.runs.encoding import decode_record, decode_replies

    exchanges = decode_record(line).detail.exchanges
    if not exchanges:
        return KeptAnswer()
    exchange = exchanges[0]
    replies = decode_replies(line) if exchange.fault is None else ()
    return KeptAnswer(request=exchange.request.body, reply=replies[0] if replies else None, exchange=exchange)


def _from_older_row(line: bytes) -> KeptAnswer:
    from toolcert.verification.older_results import SUCCESS, error_text, reply_to, whole_row

    row = whole_row(line)
    request = row.get("request")
    response = row.get("response")
    asked = request if isinstance(request, dict) else {}
    if row.get("status", SUCCESS) == SUCCESS:
        return KeptAnswer(request=asked, reply=reply_to(request, response))
    return KeptAnswer(request=asked, error=error_text(response) if response else "")


def shown_answer(given: KeptAnswer) -> GivenAnswer:
    """An answer as a report shows it, judged by the shared rules."""
    from toolcert.diagnose.judgement import judge_calls

    reply = given.reply
    if reply is None or not reply.readable:
        return GivenAnswer(called=None)
    judged = judge_calls(Request(body=given.request), reply)
    verdicts = [call.valid for call in judged]
    return GivenAnswer(
        called=reply.called,
        text=(reply.content or "")[:_SHOWN_TEXT],
        calls=tuple(MadeCall(name=str(call.name), arguments=_text(call.arguments)) for call in reply.tool_calls),
        finish=reply.finish_reason,
        valid=None if not verdicts or None in verdicts else all(verdicts),
        buckets=tuple(bucket for call in judged for bucket in call.buckets),
    )


def last_user_message(request: JsonObject) -> str:
    """What the user said last."""
    messages = request.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return (content if isinstance(content, str) else _text(content))[:_SHOWN_TEXT]
    return ""


def offered_names(request: JsonObject) -> tuple[str, ...]:
    """The tools the row offers."""
    from toolcert.diagnose.judgement import offered_tools

    return tuple(map(sys.intern, offered_tools(Request(body=request))))  # rows often offer the same tools


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:_SHOWN_TEXT]
    return msgspec.json.encode(value).decode()[:_SHOWN_TEXT]
