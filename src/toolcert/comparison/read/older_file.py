"""The results.jsonl of an older verifier read into columns, its calls judged by the tools each row offers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from toolcert.comparison.read.columns import MASK_16, KindKey, keep_freed_memory
from toolcert.comparison.read.packed_run import By, Identity, PackedRun, Shape, counting_parts, line_chunks
from toolcert.core.errors import InputError
from toolcert.core.exchanges import Reply, ToolCall
from toolcert.core.requests import Request
from toolcert.core.text.json_value import canonical, plain_numbers
from toolcert.core.values import Value
from toolcert.diagnose import judgement
from toolcert.runs.row_code import NO_TOKENS, content_number, names_number, payload_number, sampling_number
from toolcert.verification.digest import (
    SAMPLING_FIELDS,
    content_hash,
    digest,
    given_arguments,
    id_style,
    sampling_hash,
)
from toolcert.verification.older_results import (
    SUCCESS,
    UNREADABLE,
    AnswerRow,
    Asked,
    Call,
    Function,
    Offered,
    ResultRow,
    decode_answers,
    decode_row,
    first_choice,
    is_cut_off,
    not_results,
    offer_on,
    superseded,
    whole_row,
)


def _plain_number(digits: str) -> float | int:
    """1.0 and 1 are the same number."""
    number = float(digits)
    return int(number) if number.is_integer() else number


_decode_arguments = msgspec.json.Decoder(float_hook=_plain_number).decode
_decode_object = msgspec.json.Decoder(dict[str, Any], float_hook=_plain_number).decode


def canonical_call(function: Function) -> bytes:
    """One call as bytes: equal calls, equal bytes."""
    return canonical((function.name, comparable_arguments(function.arguments)))


def comparable_arguments(arguments: Any) -> Any:
    """Arguments as a value: none are the same as an empty object, and those that do not parse count as they stand."""
    try:
        value = _decode_arguments(arguments)
    except UNREADABLE:
        value = arguments
    except TypeError:  # no text at all
        value = plain_numbers(arguments)
    return given_arguments(value)


def quick_hashes(calls: list[Call]) -> tuple[int, int]:
    """Hashes of all calls and of their names, in any order."""
    if len(calls) == 1 and calls[0].function.name.__class__ is str:  # as nearly always: with fewer function calls
        function = calls[0].function
        name, beginning = _name_hashes(function.name)
        try:
            arguments = _decode_object(function.arguments)
        except (*UNREADABLE, TypeError):
            arguments = comparable_arguments(function.arguments)
        return crc32(canonical(arguments), beginning), name
    names = sorted([str(call.function.name) for call in calls])
    payloads = sorted([canonical_call(call.function) for call in calls])
    return crc32(b"\0".join(payloads)), crc32("\0".join(names).encode()) & MASK_16


@lru_cache(maxsize=1024)
def _name_hashes(name: str) -> tuple[int, int]:
    """The hash of a name, and that of the bytes with which a call of it begins."""
    return crc32(name.encode()) & MASK_16, crc32(b"[%b," % canonical(name))


def digest_hashes(calls: list[Call]) -> tuple[int, int]:
    """The numbers that the codes of our runs have."""
    digests = [sha256(canonical_call(call.function)).hexdigest() for call in calls]
    return payload_number(digests), names_number([str(call.function.name) for call in calls])


_MAX_OFFERS = 1024
_decode_tools = msgspec.json.Decoder().decode


class Offer:
    """One list of tools; a tool's schema is compiled when the tool is first called."""

    __slots__ = ("_by_name", "_digest", "_request", "tools")

    def __init__(self, tools: Any) -> None:
        self.tools = tools
        self._digest: str | None = None
        self._request = Request(body={"tools": tools})
        self._by_name = judgement.Offer(self._request)

    @property
    def count(self) -> int:
        """How many tools are offered."""
        return len(self.tools) if isinstance(self.tools, list) else 0

    @property
    def digest(self) -> str | None:
        """What content hashes take in place of the tools."""
        if self._digest is None and self.tools:
            self._digest = digest(canonical(self.tools))
        return self._digest

    def judge(self, call: Call) -> tuple[bool | None, tuple[str, ...]]:
        """Whether the call is valid, and the buckets it counts in."""
        name, parameters = call.function.name, self._by_name.parameters
        if not isinstance(name, str) or name not in parameters:
            return False, (judgement.UNKNOWN_NAME,)
        found = self._by_name.validator(name).judge(call.function.arguments)
        if found.ok and found.bucket is None and parameters[name]:
            return True, ()
        judged = self.explain(call)
        return judged.valid, judged.buckets

    def explain(self, call: Call) -> judgement.CallJudgement:
        """The same by the shared rules, with all details."""
        made = ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        return judgement.judge_calls(self._request, Reply(tool_calls=(made,)), self._by_name)[0]


def offer_of(text: bytes, known: dict[bytes, Offer]) -> Offer:
    """The tools written as `text`: datasets, and the files of their vendors, repeat the same few over and over."""
    offer = known.get(text)
    if offer is None:
        if len(known) >= _MAX_OFFERS:
            del known[next(iter(known))]
        offer = known[text] = Offer(_decode_tools(text) if text else None)
    return offer


_decode = msgspec.json.Decoder().decode
_MAX_REMEMBERED = 4096
_sampling_of = attrgetter(*SAMPLING_FIELDS)


class Reading(Value):
    """What the comparison needs from a results file."""

    requests: bool = True
    """Decode the requests: needed to match by content, and to judge every call again."""
    digests: bool = False
    """Hash calls as our runs do, so that a file can be compared with a run."""
    by: By | None = None


def read_results(path: Path, label: str, reading: Reading, offers: dict[bytes, Offer] | None = None) -> PackedRun:
    """The rows of a results file; of a row with several lines the last counts.

    `offers` keeps the tools that are read, for the next file.
    """
    known = {} if offers is None else offers
    data = _read_lines(path, label, reading, known)
    if not data.columns.in_order and any(marks := superseded(path)):
        return _read_lines(path, label, reading, known, marks)
    return data


def _read_lines(path: Path, label: str, reading: Reading, offers: dict[bytes, Offer], marks: bytes = b"") -> PackedRun:
    keep_freed_memory()
    data = PackedRun(label, path, None, reading.by)
    whole = reading.requests or reading.by is not None
    reader = (_WholeRows if whole else _Answers)(data, reading, offers)
    number = 0
    for offset, read in line_chunks(path):
        for start, part in counting_parts(read, marks[number : number + len(read)]):
            data.columns.mark(offset + start)
            lines, rows = part, None if whole else decode_answers(part)
            if rows is None:
                lines, rows = _decode_each(data, part, number)
            try:
                for at in data.looked_at(len(rows)):
                    data.identities[_identity(rows[at], lines[at])] += 1
                reader.add(rows, lines)
            except UNREADABLE as error:
                raise _damaged(data.path, lines, number, error) from error
        number += len(read)
    return data


def _decode_each(data: PackedRun, lines: list[bytes], before: int) -> tuple[list[bytes], Sequence[AnswerRow]]:
    """Lines that hold a row, and their rows; blank lines and a last one that was cut off hold none."""
    kept, rows = [], []
    for number, line in enumerate(lines, before + 1):
        if line.isspace():
            continue
        try:
            rows.append(decode_row(line))
            kept.append(line)
        except UNREADABLE as error:
            if not is_cut_off(line):
                raise not_results(data.path, number, error) from error
            data.torn = True
    return kept, rows


def _damaged(path: Path, lines: Sequence[bytes], before: int, error: Exception) -> InputError:
    """The refusal that names the line whose request cannot be read; its answer could be."""
    for read in (whole_row, _decode):  # the second takes less
        for number, line in enumerate(lines, before + 1):
            try:
                read(line)
            except UNREADABLE as reason:
                return not_results(path, number, reason)
    return not_results(path, before + 1, error)


_UNMEASURED: KindKey = (None, None, None, None, False, 0, 0)


class _Answers:
    """Keeps rows from their answers alone, in one pass: a million rows should take seconds."""

    def __init__(self, data: PackedRun, reading: Reading, offers: dict[bytes, Offer]) -> None:
        self._data = data
        self._columns = data.columns
        self._offers = offers
        self._hashes = digest_hashes if reading.digests else quick_hashes
        self._trusting = not reading.requests
        """What the older verifier found valid is taken as valid."""

    def add(self, rows: Sequence[AnswerRow], lines: Sequence[bytes]) -> None:
        """Keep the rows of these lines."""
        self._keep(rows, lines, bytes(len(rows)))

    def _keep(self, rows: Sequence[AnswerRow], lines: Sequence[bytes], turns: Sequence[int]) -> None:
        """One loop with few function calls: most of the time of a comparison is spent here."""
        columns, codes, hashes, trusting = self._columns, self._data.kinds, self._hashes, self._trusting
        tokens, kinds = [NO_TOKENS] * len(rows), [codes[_UNMEASURED]] * len(rows)
        payloads, names = [0] * len(rows), [0] * len(rows)
        for at, row in enumerate(rows):
            response = row.response
            if response is None or not response.choices or row.status != SUCCESS:
                continue
            choice, usage = response.choices[0], response.usage
            if usage is not None and usage.prompt_tokens is not None:
                tokens[at] = usage.prompt_tokens % NO_TOKENS
            message, finish = choice.message, row.finish_reason or choice.finish_reason
            if calls := message.tool_calls:
                payloads[at], names[at] = hashes(calls)
                valid = True if trusting and row.tool_calls_valid else self._judge(row, calls, lines[at], at)
                kinds[at] = codes[True, finish, valid, None, bool(message.content), len(calls), turns[at]]
            else:
                kinds[at] = codes[False, finish, None, None, False, 0, turns[at]]
        columns.index.fromlist([row.data_index for row in rows])
        columns.tokens.fromlist(tokens)
        columns.payload.fromlist(payloads)
        columns.names.fromlist(names)
        columns.kind.fromlist(kinds)

    def _judge(self, row: AnswerRow, calls: list[Call], line: bytes, at: int) -> bool | None:
        """Whether all calls are valid by our rules; None where their schemas cannot tell.

        `at` says how many rows come before this one that are not in the columns yet.
        """
        offer = offer_of(bytes(_offered(row, line).tools), self._offers)
        verdicts: list[bool | None] = []
        buckets: list[str] = []
        for call in calls:
            valid, found = offer.judge(call)
            verdicts.append(valid)
            buckets.extend(found)
        if buckets:
            self._data.tallies.count_row(len(self._columns) + at, row.data_index, verdicts, buckets)
        return False if False in verdicts else None if None in verdicts else True


class _WholeRows(_Answers):
    """Reads the requests too, so that rows can be matched by content."""

    def __init__(self, data: PackedRun, reading: Reading, offers: dict[bytes, Offer]) -> None:
        super().__init__(data, reading, offers)
        self._samplings: dict[Any, int] = {}

    def add(self, rows: Sequence[AnswerRow], lines: Sequence[bytes]) -> None:
        """Keep the rows of these lines."""
        self._keep(rows, lines, [*map(self._keep_request, rows)])

    def _keep_request(self, row: AnswerRow) -> int:
        """Keep what was asked; gives back the number of turns."""
        assert isinstance(row, ResultRow)
        request = row.request
        offer = offer_of(bytes(request.tools), self._offers)
        messages = _decode(request.messages) if request.messages else None
        turns = user_turns(messages)
        body = {
            "messages": messages,
            "tools": offer.tools,
            "tool_choice": request.tool_choice,
            "parallel_tool_calls": request.parallel_tool_calls,
            "response_format": request.response_format,
        }
        self._columns.content.append(content_number(content_hash(body, offer.digest)))
        self._columns.sampling.append(self._sampling(request))
        if self._data.grouped:
            choice = first_choice(row)
            calls = (choice.message.tool_calls or []) if choice is not None else []
            names = tuple([str(call.function.name) for call in calls])
            self._data.add_group(Shape(names=names, tools=offer.count, turns=turns))
        return turns

    def _sampling(self, asked: Asked) -> int:
        """Few combinations occur, so each is hashed once."""
        key = _sampling_of(asked)
        try:
            return self._samplings[key]
        except (KeyError, TypeError):  # new, or no value that can be a key
            code = sampling_number(sampling_hash(dict(zip(SAMPLING_FIELDS, key, strict=True))))
        if len(self._samplings) < _MAX_REMEMBERED and not any(isinstance(value, list | dict) for value in key):
            self._samplings[key] = code
        return code


def _offered(row: AnswerRow, line: bytes) -> Offered | Asked:
    return row.request if isinstance(row, ResultRow) else offer_on(line)


def _identity(row: AnswerRow, line: bytes) -> Identity:
    asked, response, choice = _offered(row, line).model or "", row.response, first_choice(row)
    if choice is None or response is None:
        return Identity(asked=asked, answered=None, fingerprint=None, id_style=None, measured=False)
    calls = choice.message.tool_calls
    style = id_style(calls[0].id) if calls else None
    return Identity(asked=asked, answered=response.model, fingerprint=response.system_fingerprint, id_style=style)


def user_turns(messages: Any) -> int:
    """Messages of the user."""
    if not isinstance(messages, list):
        return 0
    return sum([isinstance(message, dict) and message.get("role") == "user" for message in messages])
