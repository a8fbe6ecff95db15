"""Reading results.jsonl files of the older verifiers into the columns that are compared.

Matched by content, every call is judged again by our rules. Matched by index, what the older verifier
found valid is taken as valid, and only what it did not is judged again: that is what makes it fast.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from toolcert.compare.columns import CHUNK, MASK_16, MASK_32, keep_freed_memory
from toolcert.compare.kinds import KindKey
from toolcert.compare.offers import Offers
from toolcert.compare.ours import BUFFER
from toolcert.compare.payloads import digest_hashes, quick_hashes
from toolcert.compare.resultrows import (
    SUCCESS,
    AnswerRow,
    Asked,
    Call,
    ResultRow,
    decode_answer,
    decode_row,
    first_choice,
)
from toolcert.compare.rundata import LOOKED_AT, By, Identity, RunData, Shape
from toolcert.core.errors import InputError
from toolcert.core.values import Value
from toolcert.runs.codes import NO_TOKENS, content_number, sampling_number
from toolcert.verify.hashing import SAMPLING_FIELDS, content_hash, sampling_hash
from toolcert.verify.idstyle import id_style

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


def read_results(path: Path, label: str, reading: Reading) -> RunData:
    """The rows of a results file."""
    keep_freed_memory()
    data = RunData(label, path, None, reading.by)
    whole = reading.requests or reading.by is not None
    reader, decode = (_WholeRows(data, reading), decode_row) if whole else (_Answers(data, reading), decode_answer)
    offset = 0
    with path.open("rb", buffering=BUFFER) as file:
        for number, line in enumerate(file):
            if not number % CHUNK:
                data.columns.mark(offset)
            offset += len(line)
            try:
                row = decode(line)
            except (msgspec.DecodeError, UnicodeError) as error:
                if line.endswith(b"\n") and not line.isspace():
                    raise _not_results(path, number + 1, error) from error
                data.torn = not line.isspace()
            else:
                if number < LOOKED_AT or not number % CHUNK:
                    data.identities[_identity(row, line)] += 1
                reader.add(row, line)
    return data


def _not_results(path: Path, number: int, error: Exception) -> InputError:
    return InputError(
        f"{path}, line {number}: not a line of a results.jsonl file ({error}).",
        remedy="Expected is a run folder of toolcert, or a file with data_index, request, response and status.",
    )


_UNMEASURED: KindKey = (None, None, None, None, False, 0, 0)


class _Answers:
    """Keeps rows from their answers alone, in one pass over each: a million of them should take seconds."""

    trusting = True
    """What the older verifier found valid is taken as valid."""

    def __init__(self, data: RunData, reading: Reading) -> None:
        self._data = data
        self._columns = data.columns
        self._offers = Offers()
        self._hashes = digest_hashes if reading.digests else quick_hashes
        self._keep_index = data.columns.index.append
        self._keep_tokens = data.columns.tokens.append
        self._keep_payload = data.columns.payload.append
        self._keep_names = data.columns.names.append
        self._keep_kind = data.columns.kind.append
        self._code = data.kinds.code

    def add(self, row: AnswerRow, line: bytes, turns: int = 0) -> None:
        self._keep_index(row.data_index & MASK_32)
        response = row.response
        if row.status != SUCCESS or response is None or not response.choices:
            self._add_without_calls(_UNMEASURED, None)
            return
        choice, usage = response.choices[0], response.usage
        tokens = None if usage is None else usage.prompt_tokens
        finish = row.finish_reason or choice.finish_reason
        calls = choice.message.tool_calls
        if not calls:
            self._add_without_calls((False, finish, None, None, False, 0, turns), tokens)
            return
        self._keep_tokens(NO_TOKENS if tokens is None else tokens % NO_TOKENS)
        payload, names = self._hashes(calls)
        self._keep_payload(payload & MASK_32)
        self._keep_names(names & MASK_16)
        valid = True if self.trusting and row.tool_calls_valid else self._judge(row, calls, line)
        key = (True, finish, valid, None, bool(choice.message.content), len(calls), turns)
        self._keep_kind(self._code(key))

    def _add_without_calls(self, key: KindKey, tokens: int | None) -> None:
        self._keep_tokens(NO_TOKENS if tokens is None else tokens % NO_TOKENS)
        self._keep_payload(0)
        self._keep_names(0)
        self._keep_kind(self._code(key))

    def _judge(self, row: AnswerRow, calls: list[Call], line: bytes) -> bool | None:
        """Whether all calls are valid by our rules; None where their schemas cannot tell."""
        offer = self._offers.read(bytes(_request_of(row, line).tools))
        verdicts: list[bool | None] = []
        buckets: list[str] = []
        for call in calls:
            valid, found = offer.judge(call)
            verdicts.append(valid)
            buckets.extend(found)
        if buckets:
            self._data.tallies.count_row(len(self._columns), row.data_index, verdicts, buckets)
        return False if False in verdicts else None if None in verdicts else True


class _WholeRows(_Answers):
    """Reads the requests too: rows get a content, and every call is judged."""

    trusting = False

    def __init__(self, data: RunData, reading: Reading) -> None:
        super().__init__(data, reading)
        self._samplings: dict[Any, int] = {}

    def add(self, row: AnswerRow, line: bytes, turns: int = 0) -> None:
        request = _request_of(row, line)
        offer = self._offers.read(bytes(request.tools))
        messages = _decode(request.messages) if request.messages else None
        turns = user_turns(messages)
        body = {
            "messages": messages,
            "tools": offer.tools,
            "tool_choice": request.tool_choice,
            "parallel_tool_calls": request.parallel_tool_calls,
            "response_format": request.response_format,
        }
        super().add(row, line, turns)
        self._columns.content.append(content_number(content_hash(body, offer.digest)))
        self._columns.sampling.append(self._sampling(request))
        if self._data.grouped:
            choice = first_choice(row)
            calls = (choice.message.tool_calls or []) if choice is not None else []
            names = tuple([str(call.function.name) for call in calls])
            self._data.add_group(Shape(names=names, tools=len(offer.tools or ()), turns=turns))

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


def _request_of(row: AnswerRow, line: bytes) -> Asked:
    return row.request if isinstance(row, ResultRow) else decode_row(line).request


def _identity(row: AnswerRow, line: bytes) -> Identity:
    asked, response, choice = _request_of(row, line).model or "", row.response, first_choice(row)
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
