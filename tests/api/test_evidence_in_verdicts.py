"""Answers that are empty, or streamed though nobody asked, never pass; a run that goes on keeps what it had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.scripted import Answer, Received, Scripted  # type: ignore[import-not-found]  # a folder of the tests
from toolcert import ProbeOptions, ProbeSummary, UsageError, VerifyOptions, Word, load_run, probe, verify
from toolcert.core.errors import InputError
from toolcert.simulate import Vendor


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    rows = [{"messages": [{"role": "user", "content": f"Say hello to guest {number}."}]} for number in range(6)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_empty_answers_are_not_sound(dataset: Path, tmp_path: Path) -> None:
    with Vendor(models=["fault:text.empty"]) as vendor:
        options = VerifyOptions(model="fault:text.empty", output=str(tmp_path / "run"))
        summary = verify(dataset, vendor.url, options).summary
    assert [line.code for line in summary.vendor] == ["text.empty"]
    assert summary.rows.passed == 0
    assert not summary.verdict.good


def _always_streams(received: Received) -> Answer:
    if received.method == "GET":
        return Answer({"object": "list", "data": [{"id": "m", "object": "model"}]})
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"index": 0, "delta": {"role": "assistant", "content": "hello"}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks = [json.dumps(head | {"choices": [choice]}) for choice in (delta, end)]
    body = "".join(f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"])
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})


def test_a_stream_that_nobody_asked_for_breaks_clients(dataset: Path, tmp_path: Path) -> None:
    with Scripted(_always_streams) as server:
        summary = verify(dataset, server.url, VerifyOptions(model="m", output=str(tmp_path / "run"))).summary
    assert "stream.unasked" in [line.code for line in summary.vendor]
    assert not summary.verdict.good


def test_further_models_extend_a_probe_run(tmp_path: Path) -> None:
    """The report of the folder holds both, whichever came last."""
    folder = str(tmp_path / "run")
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        for model in ("faithful", "text-caller"):
            probe(vendor.url, options=ProbeOptions(model=(model,), suite="quick", iterations=1, output=folder))
    summary = load_run(folder).summary
    assert isinstance(summary, ProbeSummary)
    words = {model.model: model.verdict.word for model in summary.models}
    assert words == {"faithful": Word.PASSES, "text-caller": Word.FAILS}


def test_a_probe_run_of_another_endpoint_is_refused(tmp_path: Path) -> None:
    options = ProbeOptions(suite="quick", iterations=1, output=str(tmp_path / "run"))
    with Vendor(models=["faithful"]) as vendor:
        probe(vendor.url, options=options)
    with Vendor(models=["faithful"]) as other, pytest.raises((InputError, UsageError), match="endpoint was"):
        probe(other.url, options=options)
