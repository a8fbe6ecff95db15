"""A probe run made up case by case and written as a run log, so that pages can show the conversations behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reports.hostile import HOSTILE
from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Attempt, Exchange, Timing
from toolcert.core.findings import Finding, Severity
from toolcert.core.records import Detail, Manifest, ProbeFacts, Record
from toolcert.core.requests import Request, tool
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.runs.writer import RunWriter

PROBES = ("basic", "result_use", "parallel")
RUNS = 3
TEXT_CALL = '<tool_call>{"name": "get_weather"}</tool_call>'


def write_probe_run(folder: Path, *, models: tuple[str, ...] = ("good", "shy"), hostile: bool = False) -> Path:
    """Two endpoints; at the second one the model `shy` leaves its calls in the text."""
    endpoints = ("north", "south")
    names = tuple(f"{HOSTILE}{name}" for name in models) if hostile else models
    manifest = Manifest(
        run="7f3a21c9",
        job="probe",
        started_at=1_782_283_620.0,
        toolcert="0.2.0",
        endpoints=tuple(EndpointSpec(name=name, base_url=f"http://{name}.example/v1") for name in endpoints),
        models={name: tuple(ModelInfo(id=model) for model in names) for name in endpoints},
        suite="agent",
        probes=PROBES,
        iterations=RUNS,
    )
    writer = RunWriter(folder, manifest)
    try:
        for endpoint in endpoints:
            for model in names:
                fails = endpoint == "south" and model.endswith("shy")
                for probe in PROBES:
                    for number in range(1, RUNS + 1):
                        writer.append(_record(endpoint, model, probe, number, fails=fails, hostile=hostile))
        writer.finish()
    finally:
        writer.close()
    return folder


def _record(endpoint: str, model: str, probe: str, number: int, *, fails: bool, hostile: bool) -> Record:
    said = HOSTILE if hostile else "How is the weather in Oslo?"
    found = (Finding(code="call.in_text", severity=Severity.ERROR, evidence=TEXT_CALL),) if fails else ()
    seconds = 0.5 if endpoint == "north" else 1.5
    return Record(
        case=f"{endpoint}/{model}/{probe}/{number}",
        endpoint=endpoint,
        model=model,
        outcome=Outcome.FAILED if fails else Outcome.PASSED,
        reason="leaves the call as text" if fails else "",
        codes=("call.in_text",) if fails else (),
        at=1_782_283_700.0 + number,
        probe=ProbeFacts(
            probe=probe,
            iteration=number,
            called=not fails,
            seconds=(seconds,),
            first_token=seconds / 2,
            requests=1,
            tokens_in=100,
            tokens_out=20,
        ),
        detail=Detail(findings=found, exchanges=(_exchange(model, said, fails=fails, seconds=seconds),)),
    )


def _exchange(model: str, said: str, *, fails: bool, seconds: float) -> Exchange:
    body = {"model": model, "messages": [{"role": "user", "content": said}], "tools": [tool("get_weather", "Says it.")]}
    attempt = Attempt(number=1, started_at=1.0, timing=Timing(last_byte=seconds), status=200)
    payload = json.dumps(_answer(said, fails=fails)).encode()
    return Exchange(request=Request(body=body), url="http://x/v1", status=200, payload=payload, attempts=(attempt,))


def _answer(said: str, *, fails: bool) -> dict[str, Any]:
    arguments = json.dumps({"city": "Oslo", "said": said})
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    message = {"role": "assistant", "content": TEXT_CALL if fails else None, "tool_calls": None if fails else [call]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop" if fails else "tool_calls"}]}
