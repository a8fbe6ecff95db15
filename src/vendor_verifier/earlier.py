"""Go on with a results file that stands alone: its answers are found again and entered into a new run folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange
from toolcert.core.records import Record
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject, Value
from toolcert.runs.writer import RunWriter
from toolcert.verification.digest import content_hash, row_key
from toolcert.verification.older_results import SUCCESS, OlderRow, older_row, placed_older
from toolcert.verification.run.job import VerifyJob
from toolcert.verification.run.row_judge import Row, RowJudge
from toolcert.verification.verify_options import adapter_of
from vendor_verifier.results import FROM_FILE

_OURS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{24}(?:~\d+)?")
"""The hash in a row that this package wrote: it also covers the endpoint, so another one is never taken."""


class FileRow(OlderRow):
    """A line of a results file with the fields that tell what was asked and when."""

    hash: Any = None
    extra_body: Any = None
    last_run_at: Any = None

    @property
    def is_ours(self) -> bool:
        return isinstance(self.hash, str) and _OURS.fullmatch(self.hash) is not None


_decode = msgspec.json.Decoder(FileRow).decode


class Match(Value):
    """A row of the dataset and, if there is one, its answer in the file."""

    case: Case
    offset: int | None = None


class EarlierResults:
    """The answers in a results file; only their places are held in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self.answers = 0
        self.from_elsewhere = 0
        """Answers that do not say where they were asked."""
        self._by_hash: dict[str, int] = {}
        self._by_content: dict[str, list[int]] = {}
        for offset, row in placed_older(path, FileRow):
            self.rows += 1
            if row.status == SUCCESS:
                self.answers += 1
                self._enter(row, offset)

    def _enter(self, row: FileRow, offset: int) -> None:
        if row.is_ours:
            self._by_hash[row.hash] = offset
        else:
            self.from_elsewhere += 1
            extra = row.extra_body if isinstance(row.extra_body, dict) else {}
            self._by_content.setdefault(_question({**row.request, **extra}), []).append(offset)

    def matches(self, job: VerifyJob) -> Iterator[Match]:
        """Every row of the dataset that can be asked, with the place of its answer."""
        left = {content: offsets[::-1] for content, offsets in self._by_content.items()}
        for case in job.plan().cases():
            if case.body is None:
                continue
            offset = self._by_hash.get(case.key)
            if offset is None and left and (same := left.get(_question(case.body))):
                offset = same.pop()
            yield Match(case=case, offset=offset)

    def is_complete(self, job: VerifyJob) -> bool:
        """Whether the file is what a run would leave now: every row answered, in order, and nothing else."""
        offsets = [match.offset for match in self.matches(job)]
        return None not in offsets and len(offsets) == self.rows and offsets == sorted(offsets)  # type: ignore[type-var]

    def enter_into(self, folder: Path, job: VerifyJob) -> int:
        """Make a run folder with the answers that belong to this run; how many they are."""
        found = [match for match in self.matches(job) if match.offset is not None]
        judge = RowJudge(adapter_of(job.shaping))
        if found:
            with self.path.open("rb") as file, closing(RunWriter(folder, job.manifest)) as writer:
                for match in found:
                    file.seek(match.offset or 0)
                    writer.append(_record(match.case, older_row(file.readline(), FileRow, _decode), judge))
        return len(found)


def _question(body: JsonObject) -> str:
    """The content of a request; whether usage is asked for in a stream makes no other question of it."""
    return row_key("", content_hash(body), {name: value for name, value in body.items() if name != "stream_options"})


def _record(case: Case, row: FileRow, judge: RowJudge) -> Record:
    """The record of an answer in the file; what the file says of it stays as it is."""
    at, seconds = _time(row.last_run_at), (row.duration_ms or 0.0) / 1000
    exchange = row.exchange()
    attempt = msgspec.structs.replace(exchange.last, started_at=max(0.0, at - seconds))
    request = Request(body=case.body or {})
    asked: Exchange = msgspec.structs.replace(exchange, request=request, attempts=(attempt,))
    record = judge.judge(Row.of_case(case), asked, at=at)
    fields = ("extra_body", "finish_reason", "tool_calls_valid", "last_run_at", "duration_ms")
    kept = {name: getattr(row, name) for name in fields if getattr(row, name) is not None}
    if row.duration_ms is not None:
        kept["duration_ms"] = round(row.duration_ms)
    detail = msgspec.structs.replace(record.detail, figures={FROM_FILE: kept})
    return msgspec.structs.replace(record, detail=detail)


def _time(text: Any) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0.0
