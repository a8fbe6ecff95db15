"""Reads results.jsonl of the older verifiers as exchanges that our rules, or theirs, can judge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.errors import InputError
from toolcert.core.exchanges import Attempt, Exchange, Fault, FaultKind, Timing
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject, Value


class Rules(StrEnum):
    """Whose rules decide what a valid call is."""

    OURS = "ours"
    OLDER = "older"
    """Only finish_reason `tool_calls` counts as calling; empty arguments and broken schemas make a call invalid."""


_STATUS = re.compile(r"(?:Error code|status(?: code)?)[:= ]+(\d{3})", re.IGNORECASE)
_KINDS = {401: FaultKind.AUTH, 403: FaultKind.AUTH, 404: FaultKind.UNKNOWN_MODEL, 429: FaultKind.RATE_LIMITED}


class OlderRow(Value):
    """One line of such a file; only fields that the judgement needs are required."""

    data_index: int
    request: JsonObject
    response: msgspec.Raw = msgspec.Raw(b"null")
    status: str = "success"
    finish_reason: Any = None
    tool_calls_valid: bool | None = None
    duration_ms: float | None = None

    def exchange(self) -> Exchange:
        """The row as one request and its answer; a failed row becomes a fault."""
        timing = Timing(last_byte=None if self.duration_ms is None else self.duration_ms / 1000)
        fault = None if self.status == "success" else _fault(self.response)
        status = 200 if fault is None else fault.status
        return Exchange(
            request=Request(body=self.request),
            status=status,
            payload=b"" if fault else bytes(self.response),
            fault=fault,
            attempts=(Attempt(number=1, started_at=0.0, timing=timing, status=status, fault=fault),),
        )


_decode = msgspec.json.Decoder(OlderRow).decode


def is_older_results(path: Path) -> bool:
    """Whether `path` is a file and not a run folder of ours."""
    return path.is_file()


def read_older(path: Path) -> Iterator[OlderRow]:
    """The rows of an older results file, one at a time."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.isspace():
                    yield _row(path, number, line)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def _row(path: Path, number: int, line: bytes) -> OlderRow:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}, line {number}: not a row of a results file ({error}).",
            remedy="Name a run folder of toolcert, or a results.jsonl with data_index, request and response.",
        ) from error


def _fault(response: msgspec.Raw) -> Fault:
    text = _error_text(msgspec.json.decode(response))
    found = _STATUS.search(text)
    if found is None:
        timeout = "timeout" in text.lower() or "timed out" in text.lower()
        return Fault(kind=FaultKind.TIMEOUT if timeout else FaultKind.RESET, message=text)
    status = int(found[1])
    kind = _KINDS.get(status, FaultKind.SERVER_ERROR if status >= 500 else FaultKind.REJECTED)
    return Fault(kind=kind, message=text, status=status)


def _error_text(response: Any) -> str:
    error = response.get("error", response) if isinstance(response, dict) else response
    text = error if isinstance(error, str) else msgspec.json.encode(error).decode()
    return text.partition("\n")[0][:500]
