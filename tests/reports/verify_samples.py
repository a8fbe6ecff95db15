"""A verify run made up row by row and written as a run log, so that every report can read it like a real one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from reports.hostile import HOSTILE
from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Attempt, Exchange, Fault, FaultKind, Timing
from toolcert.core.findings import Finding
from toolcert.core.records import Dataset, Detail, Manifest, Record, RowFacts
from toolcert.core.requests import Request, tool
from toolcert.core.targets import EndpointSpec
from toolcert.diagnose import kind_of
from toolcert.runs.writer import RunWriter

URL = "https://api.vendor.example/v1"
TOOLS = [f"tool_{letter}_{number}" for letter in "abcdefgh" for number in range(6)]
FAULTS = {
    "args.schema.required": 0.03,
    "args.schema.type": 0.02,
    "call.in_text": 0.02,
    "args.invalid_json": 0.015,
    "call.unknown_tool": 0.005,
    "finish.stop_with_calls": 0.05,
    "stream.one_piece": 0.2,
    "dataset.bad_schema": 0.004,
    "transport.timeout": 0.01,
}
INVALID = {"args.schema.required", "args.schema.type", "args.invalid_json", "call.unknown_tool"}


def write_verify_run(folder: Path, rows: int = 60, *, hostile: bool = False, body_size: int = 600) -> Path:
    """A run of so many rows in which every kind of finding occurs; seeded, so always the same."""
    model = HOSTILE if hostile else "corvid-120b"
    manifest = Manifest(
        run="c41e88d0",
        job="verify",
        started_at=1_782_283_620.0,
        toolcert="0.1.0",
        endpoints=(EndpointSpec(name="vendor", base_url=URL, key_env="VENDOR_KEY"),),
        dataset=Dataset(path=f"data/{HOSTILE if hostile else 'requests'}.jsonl", digest="2a9d04c1", rows=rows),
        parameters={"model": model},
    )
    chance = random.Random(7)
    writer = RunWriter(folder, manifest)
    try:
        for index in range(1, rows + 1):
            writer.append(_record(index, model, chance, hostile=hostile, body_size=body_size))
        writer.finish()
    finally:
        writer.close()
    return folder


def _record(index: int, model: str, chance: random.Random, *, hostile: bool, body_size: int) -> Record:
    codes = tuple(code for code, share in FAULTS.items() if chance.random() < share or index == _first(code))
    name = HOSTILE if hostile else chance.choice(TOOLS)
    called = "call.in_text" not in codes and (bool(codes) or chance.random() < 0.85)
    failed = any(kind_of(code).severity == "error" for code in codes if not code.startswith(("dataset", "transport")))
    missing = "transport.timeout" in codes
    evidence = HOSTILE if hostile else f"/: value of row {index} is not what the schema asks for"
    return Record(
        case=f"row-{index}",
        endpoint="vendor",
        model=model,
        outcome=Outcome.NOT_MEASURED if missing else Outcome.FAILED if failed else Outcome.PASSED,
        reason=HOSTILE
        if hostile
        else "no answer in time"
        if missing
        else "arguments break the schema"
        if failed
        else "",
        codes=codes,
        at=1_782_283_620.0 + index * 0.24,
        row=_facts(index, name, codes, chance, called=None if missing else called, hostile=hostile),
        detail=Detail(
            findings=tuple(_finding(code, evidence, called=called) for code in codes),
            exchanges=(_exchange(index, model, name, missing=missing, called=called, body_size=body_size),),
        ),
    )


def _first(code: str) -> int:
    """Every kind occurs, however few the rows."""
    return 2 + list(FAULTS).index(code)


def _finding(code: str, evidence: str, *, called: bool) -> Finding:
    return Finding(code=code, severity=kind_of(code).severity, evidence=evidence, call=0 if called else None)


def _facts(
    index: int, name: str, codes: tuple[str, ...], chance: random.Random, *, called: bool | None, hostile: bool
) -> RowFacts:
    valid = not INVALID & set(codes) if called else None
    seconds = chance.lognormvariate(0.2, 0.5)
    return RowFacts(
        index=index,
        content=f"{index:016x}",
        called=called,
        finish=HOSTILE if hostile else "tool_calls" if called else "stop",
        names=(name,) if called else (),
        valid=valid,
        verdicts=(valid,) if called else (),
        buckets=("SchemaMismatch.required",) if valid is False else (),
        prompt_tokens=700,
        completion_tokens=40,
        answered_as=HOSTILE if hostile else "corvid-120b",
        fingerprint=HOSTILE if hostile else "fp_1",
        seconds=None if called is None else seconds,
        first_token=None if called is None else seconds / 2,
        attempts=3 if called is None else 1 + (chance.random() < 0.03),
        tools=1 + index % 4,
        offered=(name,),
        turns=1 + index % 3,
        streamed=True,
        tags=(HOSTILE if hostile else ("shop", "travel")[index % 2],),
    )


def _exchange(index: int, model: str, name: str, *, missing: bool, called: bool, body_size: int) -> Exchange:
    question = f"Question {index}: {name} " + "and so on " * (body_size // 10)
    body = {"model": model, "messages": [{"role": "user", "content": question}], "tools": [tool(name, "Does it.")]}
    attempt = Attempt(number=1, started_at=1.0, timing=Timing(last_byte=0.3), status=None if missing else 200)
    if missing:
        fault = Fault(kind=FaultKind.TIMEOUT, message=f"no answer within 60 s {name}")
        return Exchange(request=Request(body=body), url=URL, fault=fault, attempts=(attempt,))
    payload = json.dumps(_answer(name, called=called)).encode()
    return Exchange(request=Request(body=body), url=URL, status=200, payload=payload, attempts=(attempt,))


def _answer(name: str, *, called: bool) -> dict[str, Any]:
    calls = [{"id": "c", "type": "function", "function": {"name": name, "arguments": '{"a": 1}'}}] if called else None
    message = {"role": "assistant", "content": name, "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if called else "stop"}]}
