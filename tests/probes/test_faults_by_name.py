"""Faults that looked like another one, over real HTTP: each is told as what it is, and no sound vendor is refused."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.probing import Probed, probe_models
from support.rows import row, write_rows
from support.scripted import Answer, Received, Scripted, refusal, relay
from support.verifying import run
from toolcert.core.findings import Severity
from toolcert.core.verdict import Word
from toolcert.simulate import Vendor
from toolcert.verification.summary.figures import VerifySummary

Spoil = Callable[[Received, Answer], Answer]


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful"]) as one:
        yield one


def probed(vendor: Vendor, spoil: Spoil, *probes: str, iterations: int = 1) -> Probed:
    with Scripted(relay(vendor.url, spoil)) as server:
        return asyncio.run(probe_models(server.url, ["faithful"], probes=probes, iterations=iterations))


def verified(vendor: Vendor, spoil: Spoil, folder: Path, *rows: dict[str, Any]) -> VerifySummary:
    dataset = write_rows(folder / "d.jsonl", [*rows] or [row(number) for number in range(6)])
    with Scripted(relay(vendor.url, spoil)) as server:
        return run(dataset, server.url, folder / "run", endpoint={"retries": 0}).summary


def asked(received: Received) -> dict[str, Any]:
    return received.json if received.body else {}


def marked(_: Received, answer: Answer) -> Answer:
    """A byte order mark before every body, also of the list of models and of streams."""
    return answer._replace(body=b"\xef\xbb\xbf" + answer.body)


def test_a_byte_order_mark_is_a_warning_that_refuses_nobody(vendor: Vendor, tmp_path: Path) -> None:
    model = probed(vendor, marked, "basic", "result_use", "streaming", "model_listing", "error_shapes").model(
        "faithful"
    )
    assert model.verdict.word is Word.PASSES
    assert {(found.code, found.severity) for found in model.findings} == {
        ("envelope.byte_order_mark", Severity.WARNING)
    }
    summary = verified(vendor, marked, tmp_path)
    assert summary.verdict.word is Word.PASSES
    assert [(line.code, line.rows) for line in summary.vendor] == [("envelope.byte_order_mark", 6)]


@pytest.mark.heavy
def test_an_error_on_a_cut_call_is_not_told_as_an_error_on_tools(vendor: Vendor) -> None:
    def breaks_on_cut(received: Received, answer: Answer) -> Answer:
        return refusal(500, "Internal server error") if asked(received).get("max_tokens", 999) < 100 else answer

    record = probed(vendor, breaks_on_cut, "max_tokens_cut").record("faithful", "max_tokens_cut")
    assert record.reason == "breaks on a call that max_tokens cuts (HTTP 500: Internal server error)"
    assert record.codes == ()


def changed(answer: Answer, change: Callable[[dict[str, Any]], None]) -> Answer:
    body = json.loads(answer.body)
    if body.get("choices"):
        change(body["choices"][0])
    return answer._replace(body=body)


def test_an_answer_that_is_empty_by_chance_is_not_told_as_null_content(vendor: Vendor) -> None:
    """Only what is lost every time with null content, and never with text beside the call, is lost because of it."""
    answers = itertools.count()

    def empty_once(_: Received, answer: Answer) -> Answer:
        def emptied(choice: dict[str, Any]) -> None:
            choice["message"]["content"] = ""

        return answer if next(answers) else changed(answer, emptied)

    run = probed(vendor, empty_once, "null_content")
    assert run.record("faithful", "null_content").codes == ("text.empty",)


@pytest.mark.heavy
def test_a_server_that_takes_two_tools_in_a_stream_is_not_told_to_count_bytes(vendor: Vendor) -> None:
    def takes_two(received: Received, answer: Answer) -> Answer:
        body = asked(received)
        return refusal(400, "too many tools") if body.get("stream") and len(body["tools"]) > 2 else answer

    record = probed(vendor, takes_two, "streamed_many_tools").record("faithful", "streamed_many_tools")
    assert record.codes == ("schema.valid_rejected",), record.reason


def test_a_model_that_declines_does_not_answer_with_nothing(vendor: Vendor) -> None:
    def declines(choice: dict[str, Any]) -> None:
        choice["message"] = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        choice["finish_reason"] = "stop"

    found = probed(vendor, lambda _, answer: changed(answer, declines), "basic").record("faithful", "basic")
    assert found.reason.startswith("declines to answer instead of calling")


def twice(choice: dict[str, Any]) -> None:
    calls = choice["message"].get("tool_calls") or []
    choice["message"]["tool_calls"] = [*calls, *({**call, "id": f"{call['id']}b"} for call in calls)]


@pytest.mark.parametrize(
    ("question", "severity"),
    [
        ("What is the weather in Paris on 24 December 2026?", Severity.ERROR),
        ("What is the weather in Paris, room 12?", Severity.ERROR),
        ("(3) What is the weather in Paris at 12:30?", Severity.ERROR),
        ("Ask for the weather in Paris 3 times.", Severity.WARNING),
        ("Get the weather in Paris for 2 users.", Severity.WARNING),
        ("Get the weather in Paris, 2x please.", Severity.WARNING),
    ],
)
def test_a_digit_in_the_question_asks_for_no_repetition(
    vendor: Vendor, tmp_path: Path, question: str, severity: Severity
) -> None:
    asked_for = [row(0, messages=[{"role": "user", "content": question}], user=str(place)) for place in range(3)]
    summary = verified(vendor, lambda _, answer: changed(answer, twice), tmp_path, *asked_for)
    assert [(line.code, line.severity) for line in summary.vendor] == [("call.duplicate", severity)]
    assert summary.verdict.good is (severity is Severity.WARNING)


@pytest.mark.parametrize(
    "error",
    [
        refusal(500, "Error in extracting tool call from response."),
        refusal(500, "Failed to parse tool call arguments as JSON: unexpected end"),
        refusal(400, "Failed to call a function. Please adjust your prompt.", code="tool_use_failed"),
    ],
    ids=["500 extraction", "500 parse", "400 tool_use_failed"],
)
def test_a_call_that_the_server_says_it_cannot_read_is_its_fault_in_verify(
    vendor: Vendor, tmp_path: Path, error: Answer
) -> None:
    summary = verified(vendor, lambda received, answer: error if received.body else answer, tmp_path)
    assert [(line.code, line.rows) for line in summary.vendor] == [("call.server_error", 6)]
    assert summary.verdict.word is Word.FAILS


def test_an_error_that_names_no_call_stays_an_outage_in_verify(vendor: Vendor, tmp_path: Path) -> None:
    def breaks(received: Received, answer: Answer) -> Answer:
        return refusal(500, "Internal server error") if received.body else answer

    assert verified(vendor, breaks, tmp_path).verdict.word is Word.NOT_MEASURED
