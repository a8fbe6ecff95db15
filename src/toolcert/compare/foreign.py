"""Reading results.jsonl files of the older verifiers into the columns that are compared.

Matched by content, every call is judged again by our rules. Matched by index, what the older verifier
found valid is taken as valid, and only what it did not is judged again: that is what makes it fast.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from toolcert.compare.columns import CHUNK, MASK_16, MASK_32, NO_TOKENS
from toolcert.compare.kinds import KindKey
from toolcert.compare.offers import Offers
from toolcert.compare.ours import BUFFER
from toolcert.compare.payloads import digest_hashes, quick_hashes
from toolcert.compare.resultrows import (
    Asked,
    Call,
    Choice,
    ResultRow,
    decode_row,
    first_choice,
)
from toolcert.compare.rundata import By, RunData, Shape
from toolcert.core.errors import InputError
from toolcert.core.values import Value
from toolcert.verify.hashing import SAMPLING_FIELDS, content_hash, sampling_hash
from toolcert.verify.idstyle import id_style

_decode = msgspec.json.Decoder().decode
_MAX_REMEMBERED = 4096
_BLANK = (b"\n", b"\r\n")
_sampling_of = attrgetter(*SAMPLING_FIELDS)
_STYLED = 1000
"""Calls whose id is looked at: a server does not change its style, and looking costs more than all the rest."""


class Reading(Value):
    """What the comparison needs from a results file."""

    requests: bool = True
    """Decode the requests: needed to match by content, and to judge every call again."""
    digests: bool = False
    """Hash calls as our runs do, so that a file can be compared with a run."""
    by: By | None = None


def read_results(path: Path, label: str, reading: Reading) -> RunData:
    """The rows of a results file."""
    data = RunData(label, path, None, reading.by)
    reader = _Reader(data, reading)
    lines: list[bytes] = []
    offset = 0
    with path.open("rb", buffering=BUFFER) as file:
        for line in file:
            if line in _BLANK:
                offset += len(line)
                continue
            if not lines:
                data.columns.marks.append(offset)
            offset += len(line)
            lines.append(line)
            if len(lines) == CHUNK:
                reader.add(lines)
                lines = []
    if lines and not lines[-1].endswith(b"\n") and not _is_whole(lines[-1]):
        data.torn = True
        lines.pop()
    reader.add(lines)
    return data


def _is_whole(line: bytes) -> bool:
    """Whether a last line without line break was written to its end."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


class _Judged(msgspec.Struct, frozen=True, gc=False):
    """What is to be said about the calls of one row."""

    valid: bool | None = None
    verdicts: tuple[bool | None, ...] = ()
    buckets: tuple[str, ...] = ()


_NO_CALLS = _Judged()
_TAKEN_AS_VALID = _Judged(True)
_NO_HASHES = (0, 0)
_NOTHING: list[Call] = []


class _Reader:
    """Takes lines in chunks and fills one column after the other."""

    def __init__(self, data: RunData, reading: Reading) -> None:
        self._whole = reading.requests or reading.by is not None
        self._data = data
        self._offers = Offers()
        self._samplings: dict[Any, int] = {}
        self._styled = 0
        self._hashes = digest_hashes if reading.digests else quick_hashes

    def add(self, lines: list[bytes]) -> None:
        rows = self._decode(lines)
        choices = [first_choice(row) for row in rows]
        called = [_NOTHING if choice is None else choice.message.tool_calls or _NOTHING for choice in choices]
        judged = [self._judge(row, calls) if calls else _NO_CALLS for row, calls in zip(rows, called, strict=True)]
        hashes = [self._hashes(calls) if calls else _NO_HASHES for calls in called]
        turns = self._add_requests(rows, called) if self._whole else self._add_no_requests(len(rows))
        columns = self._data.columns
        columns.index.extend([row.data_index & MASK_32 for row in rows])
        columns.payload.extend([payload & MASK_32 for payload, _ in hashes])
        columns.names.extend([names & MASK_32 for _, names in hashes])
        columns.tokens.extend([_tokens(row) for row in rows])
        parts = zip(rows, choices, called, judged, turns, strict=True)
        columns.kind.extend(self._data.kinds.codes([self._kind_key(*part) for part in parts]))
        for place, found in enumerate(judged, len(columns) - len(rows)):
            if found.buckets:
                self._data.tallies.count_row(place, columns.index[place], found.verdicts, found.buckets)

    def _decode(self, lines: list[bytes]) -> list[ResultRow]:
        try:
            return [decode_row(line) for line in lines]
        except (msgspec.DecodeError, UnicodeError) as error:
            raise _not_results(self._data.path, len(self._data.columns), lines, error) from error

    def _add_no_requests(self, count: int) -> list[int]:
        nothing = [0] * count
        self._data.columns.content.extend(nothing)
        self._data.columns.sampling.extend(nothing)
        return nothing

    def _add_requests(self, rows: list[ResultRow], called: list[list[Call]]) -> list[int]:
        """What was asked and how; gives the number of turns of each row."""
        columns, turns = self._data.columns, []
        for row, calls in zip(rows, called, strict=True):
            asked = row.request
            offer = self._offers.read(bytes(asked.tools))
            messages = _decode(asked.messages) if asked.messages else None
            turns.append(user_turns(messages))
            body = {
                "messages": messages,
                "tools": offer.tools,
                "tool_choice": asked.tool_choice,
                "parallel_tool_calls": asked.parallel_tool_calls,
                "response_format": asked.response_format,
            }
            columns.content.append(hash(content_hash(body, offer.digest)))
            if self._data.grouped:
                names = tuple([str(call.function.name) for call in calls])
                self._data.add_group(Shape(names=names, tools=len(offer.tools or ()), turns=turns[-1]))
        columns.sampling.extend([self._sampling(row.request) for row in rows])
        return turns

    def _judge(self, row: ResultRow, calls: list[Call]) -> _Judged:
        if row.tool_calls_valid and not self._whole:
            return _TAKEN_AS_VALID
        offer = self._offers.read(bytes(row.request.tools))
        verdicts: list[bool | None] = []
        buckets: list[str] = []
        for call in calls:
            valid, found = offer.judge(call)
            verdicts.append(valid)
            buckets.extend(found)
        all_valid = False if False in verdicts else None if None in verdicts else True
        return _Judged(all_valid, tuple(verdicts), tuple(buckets))

    def _sampling(self, asked: Asked) -> int:
        """Few combinations occur, so each is hashed once."""
        key = _sampling_of(asked)
        try:
            return self._samplings[key]
        except (KeyError, TypeError):  # new, or no value that can be a key
            code = hash(sampling_hash(dict(zip(SAMPLING_FIELDS, key, strict=True)))) & MASK_16
        if len(self._samplings) < _MAX_REMEMBERED and not any(isinstance(value, list | dict) for value in key):
            self._samplings[key] = code
        return code

    def _kind_key(
        self, row: ResultRow, choice: Choice | None, calls: list[Call], judged: _Judged, turns: int
    ) -> KindKey:
        response, asked = row.response, row.request.model or ""
        if choice is None or response is None:
            return (None, None, None, None, False, 0, turns, asked, None, None, None)
        style = None
        if calls and self._styled < _STYLED:
            self._styled += 1
            style = id_style(calls[0].id)
        return (
            bool(calls),
            row.finish_reason or choice.finish_reason,
            judged.valid,
            None,
            bool(calls and choice.message.content),
            len(calls),
            turns,
            asked,
            response.model,
            response.system_fingerprint,
            style,
        )


def user_turns(messages: Any) -> int:
    """Messages of the user."""
    if not isinstance(messages, list):
        return 0
    return sum([isinstance(message, dict) and message.get("role") == "user" for message in messages])


def _tokens(row: ResultRow) -> int:
    usage = row.response.usage if row.response is not None else None
    return NO_TOKENS if usage is None or usage.prompt_tokens is None else usage.prompt_tokens & MASK_32


def _not_results(path: Path, before: int, lines: list[bytes], error: Exception) -> InputError:
    number = before + 1
    for line in lines:
        try:
            decode_row(line)
        except (msgspec.DecodeError, UnicodeError):
            break
        number += 1
    return InputError(
        f"{path}, line {number}: not a line of a results.jsonl file ({error}).",
        remedy="Expected is a run folder of toolcert, or a file with data_index, request, response and status.",
    )
