"""Runs and results files made up for tests: a deployment is a chance to call per row, and a style."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from toolcert.comparison.read.columns import MASK_32
from toolcert.comparison.read.packed_run import PackedRun
from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Attempt, Exchange, Timing
from toolcert.core.records import Dataset, Detail, Manifest, Record, RowFacts
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec
from toolcert.runs.encoding import Keep, encode_record
from toolcert.runs.row_code import NO_TOKENS
from toolcert.verification.digest import call_digest, content_hash, sampling_hash

TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look something up.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}


class Row(msgspec.Struct, kw_only=True):
    """One answer: how it was asked and what came back."""

    index: int
    question: str = ""
    called: bool | None = True
    arguments: str | None = None
    name: str = "look_up"
    finish: str | None = None
    tokens: int | None = 100
    temperature: float = 0.6
    valid: bool | None = None
    text: str = ""
    tags: tuple[str, ...] = ()
    correct: bool | None = None
    tool: dict[str, Any] | None = None

    def request(self, model: str) -> dict[str, Any]:
        question = self.question or f"question {self.index}"
        messages = [{"role": "user", "content": question}]
        return {
            "model": model,
            "messages": messages,
            "tools": [self.tool or TOOL],
            "temperature": self.temperature,
            "stream": False,
        }

    def given(self) -> str:
        return '{"word": "x"}' if self.arguments is None else self.arguments

    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.called else "stop")

    def response(self, model: str) -> dict[str, Any]:
        if self.called is None:
            return {"error": "Error code: 500"}
        call = {"id": f"call_{self.index:08d}", "type": "function"}
        call["function"] = {"name": self.name, "arguments": self.given()}
        message = {"role": "assistant", "content": self.text, "tool_calls": [call] if self.called else None}
        usage = (
            None
            if self.tokens is None
            else {"prompt_tokens": self.tokens, "completion_tokens": 5, "total_tokens": self.tokens + 5}
        )
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason()}
        return {"id": "c", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


def write_results(path: Path, rows: list[Row], model: str = "m", *, answers_as: str = "") -> Path:
    """A results.jsonl as the older verifiers write it."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            line = {
                "data_index": row.index,
                "request": row.request(model),
                "response": row.response(answers_as or model),
                "status": "failed" if row.called is None else "success",
                "finish_reason": None if row.called is None else row.finish_reason(),
                "tool_calls_valid": (row.valid is not False) if row.called else None,
                "duration_ms": 5,
                "hash": "0",
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def write_run(
    folder: Path,
    rows: list[Row],
    *,
    model: str = "m",
    dataset: str | None = "d1",
    parameters: dict[str, Any] | None = None,
    keep: Keep = Keep.RAW,
    job: str = "verify",
    unfinished: bool = False,
) -> Path:
    """A run folder of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = Manifest(
        run="r",
        job=job,
        started_at=1.0,
        finished_at=None if unfinished else 2.0,
        toolcert="0",
        endpoints=(EndpointSpec(name="v", base_url="http://127.0.0.1:1/v1", key_env="KEY"),),
        dataset=None if dataset is None else Dataset(path="d.jsonl", digest=dataset, rows=len(rows)),
        parameters=parameters or {},
    )
    (folder / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    (folder / "records.jsonl").write_bytes(b"".join(_line(msgspec.json.encode(row), model, keep) for row in rows))
    return folder


@lru_cache(maxsize=20_000)
def _line(row: bytes, model: str, keep: Keep) -> bytes:
    """A record as it is written; most rows are those of another run too."""
    return encode_record(_record(msgspec.json.decode(row, type=Row), model), keep)


def _record(row: Row, model: str) -> Record:
    body = row.request(model)
    content = content_hash(body)
    exchange = Exchange(
        request=Request(body=body),
        url="http://127.0.0.1:1/v1/chat/completions",
        status=200,
        payload=json.dumps(row.response(model)).encode(),
        attempts=(Attempt(number=1, started_at=1.0, timing=Timing(last_byte=0.1), status=200),),
    )
    facts = RowFacts(index=row.index, content=content, sampling=sampling_hash(body), tags=row.tags, tools=1, turns=1)
    if row.called is not None:
        calls = (call_digest(row.name, _parsed(row.given())),) if row.called else ()
        valid = (True if row.valid is None else row.valid) if row.called else None
        facts = msgspec.structs.replace(
            facts,
            called=row.called,
            finish=row.finish_reason(),
            calls=calls,
            names=(row.name,) if row.called else (),
            valid=valid,
            verdicts=(valid,) if row.called else (),
            buckets=("SchemaMismatch.required",) if valid is False else (),
            correct=row.correct,
            prompt_tokens=row.tokens,
            answered_as=model,
        )
    return Record(
        case=f"abcdef12-{content}-{row.index}",
        endpoint="v",
        model=model,
        outcome=Outcome.NOT_MEASURED if row.called is None else Outcome.PASSED,
        reason="no answer in time" if row.called is None else "",
        row=facts,
        detail=Detail(exchanges=(exchange,)),
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def same_rows(count: int, called: float = 0.6, seed: int = 1, **extra: Any) -> list[Row]:
    """Rows of which a fixed share calls."""
    rng = random.Random(seed)
    return [Row(index=index, called=rng.random() < called, **extra) for index in range(1, count + 1)]


class Deployment:
    """Rows with a chance to call each: some sure, some undecided; a run draws from them."""

    def __init__(self, rows: int, *, call_share: float = 0.6, undecided: float = 0.1, seed: int = 0) -> None:
        rng = random.Random(seed)
        self.chances = []
        for _ in range(rows):
            if rng.random() < undecided:
                self.chances.append(0.5)
            else:
                self.chances.append(0.999 if rng.random() < call_share else 0.001)

    @property
    def noise(self) -> float:
        """Share of rows on which two runs are expected to differ."""
        return sum(2 * chance * (1 - chance) for chance in self.chances) / len(self.chances)

    @property
    def call_rate(self) -> float:
        return sum(self.chances) / len(self.chances)

    def run(self, rng: random.Random, *, dropped: float = 0.0, label: str = "run") -> PackedRun:
        """One run in memory; a share of the calls may be dropped."""
        data = PackedRun(label, Path(), None)
        columns = data.columns
        for index, chance in enumerate(self.chances, 1):
            called = rng.random() < chance and rng.random() >= dropped
            columns.content.append(index * 7919)
            columns.index.append(index)
            columns.payload.append((hash(rng.random() < 0.95) if called else 0) & MASK_32)
            columns.names.append(1 if called else 0)
            columns.tokens.append(NO_TOKENS)
            columns.sampling.append(0)
            finish = "tool_calls" if called else "stop"
            columns.kind.append(data.kinds[called, finish, called or None, None, False, int(called), 1])
        return data
