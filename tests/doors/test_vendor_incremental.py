"""Answers that break off, and `--incremental` over run folders, results files alone and killed runs."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.patience import PATIENCE, hurry, until
from support.rows import row, write_rows
from support.scripted import Answer, Received, Scripted, completion, in_turn
from support.vendor_door import rows, run, summary, verify
from toolcert.simulate import Vendor
from vendor_verifier import compare_results

pytestmark = pytest.mark.heavy  # starts processes; `make test-fast` does without

BROKEN = ["fault:stream.error_inside", "fault:stream.cut", "fault:transport.reset"]
"""A stream that ends in an error, one that is cut, and a chunked answer that breaks off."""


def state(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def streamed(folder: Path) -> Path:
    """Three rows that are streamed."""
    write_rows(folder / "rows.jsonl", [row(number, stream=True) for number in (1, 2, 3)])
    return folder


@pytest.mark.parametrize("model", BROKEN)
def test_an_answer_that_breaks_off_is_failed_with_its_message(model: str, streamed: Path) -> None:
    with Vendor(models=[model]) as vendor:
        said = verify(vendor, "--retries", "0", model=model).stderr
    assert "No answer was complete: 3 of 3 broke off." in said, "the server answered, so the run ends with 0"
    assert {(one["status"], one["finish_reason"], one["tool_calls_valid"]) for one in rows()} == {
        ("failed", None, None)
    }
    messages = {one["response"]["error"] for one in rows()}
    expected = {"error_inside": "Internal error during generation.", "cut": "the stream was cut", "reset": "inside"}
    assert all(expected[model.rpartition(".")[2]] in message for message in messages)
    assert not any("200" in message for message in messages)
    assert (summary()["failure_count"], summary()["success_count"], summary()["finish_others"]) == (3, 0, 0)


@pytest.mark.parametrize("model", BROKEN)
@pytest.mark.parametrize("retries", [0, 2])
def test_an_answer_that_breaks_off_is_retried_so_many_times(model: str, retries: int, folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1, stream=True)])
    with Vendor(models=[model]) as vendor:
        verify(vendor, "--retries", str(retries), model=model)
        assert vendor.requests.count() == 1 + retries


UNREADABLE = {
    "an error": Answer({"error": {"message": "overloaded"}}),
    "a web page": Answer(b"<html>busy</html>", headers={"Content-Type": "text/html"}),
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("retries", [0, 2])
def test_an_answer_that_is_no_chat_completion_is_retried_so_many_times(
    answer: Answer, retries: int, folder: Path
) -> None:
    """It is `failed` like any other, and the text's retries are those of failures."""
    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(lambda _: answer) as server:
        verify(server, "--retries", str(retries), model="m", code=3)
        assert len(server.received) == 1 + retries
    assert rows()[0]["status"] == "failed"
    with Scripted(in_turn(answer, completion())) as server:
        verify(server, "--retries", "1", model="m")
    assert rows()[0]["status"] == "success"


def stream(*data: Any) -> Answer:
    lines = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n" for one in data]
    return Answer("".join(lines).encode(), headers={"Content-Type": "text/event-stream"})


def chunk(content: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def test_a_retry_that_is_answered_is_a_success(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1, stream=True)])
    broken, whole = stream(chunk("He")), stream(chunk("Hello", "stop"), "[DONE]")
    with Scripted(in_turn(broken, whole)) as server:
        verify(server, model="m")
        assert len(server.received) == 2
    assert rows()[0]["response"]["choices"][0]["message"]["content"] == "Hello"


def test_an_answer_that_broke_off_is_asked_again_by_incremental(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1, stream=True), row(2)])
    broken, whole = stream(chunk("He")), stream(chunk("Hello", "stop"), "[DONE]")
    streams = in_turn(broken, whole)

    def respond(received: Received) -> Answer:
        return streams(received) if received.json.get("stream") else completion()

    with Scripted(respond) as server:
        verify(server, "--retries", "0", model="m")
        assert [one["status"] for one in rows()] == ["failed", "success"]
        verify(server, "--retries", "0", "--incremental", model="m")
        assert len(server.received) == 3
    assert [one["status"] for one in rows()] == ["success", "success"]


def test_an_answer_that_is_no_chat_completion_is_asked_again_by_incremental(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1), row(2)])
    page = Answer(b"<html>", headers={"Content-Type": "text/html"})
    with Scripted(in_turn(completion(), page, completion())) as server:
        verify(server, "--concurrency", "1", "--retries", "0", model="m")
        assert [one["status"] for one in rows()] == ["success", "failed"]
        verify(server, "--incremental", model="m")
        assert len(server.received) == 3
    assert [one["status"] for one in rows()] == ["success", "success"]


def test_answers_that_broke_off_are_outside_the_confusion_matrix(streamed: Path) -> None:
    with Vendor(models=["faithful", "fault:stream.cut"]) as vendor:
        verify(vendor, "--output", "a.jsonl")
        verify(vendor, "--output", "b.jsonl", "--retries", "0", model="fault:stream.cut")
    found = compare_results("a.jsonl", "b.jsonl")
    assert (found["matched_success"], found["skipped_failures"]) == (0, 3)
    assert found["tool_call_trigger_similarity"]["FN"] == 0


@pytest.mark.parametrize("alone", [False, True], ids=["with its run folder", "results alone"])
def test_with_nothing_to_do_incremental_leaves_every_file_as_it_is(alone: bool, folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1), "not json", row(2, stream=True)])
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor)
        if alone:
            shutil.rmtree(folder / "results.jsonl.run")
        before = state(folder)
        printed = json.loads(verify(vendor, "--incremental").stdout)
        assert vendor.requests.count() == 2
    assert state(folder) == before
    assert printed == summary()


def test_results_alone_are_gone_on_with_by_their_hash(folder: Path) -> None:
    """Moved lines are found again; rows of another endpoint or body are not."""
    write_rows(folder / "rows.jsonl", [row(1), row(2)])
    with Vendor(models=["faithful"]) as vendor, Vendor(models=["faithful"]) as other:
        verify(vendor)
        first, second = rows()
        shutil.rmtree(folder / "results.jsonl.run")
        write_rows(folder / "rows.jsonl", [row(3), row(2), row(1)])
        said = verify(vendor, "--incremental").stderr
        assert vendor.requests.count() == 3
        assert "2 answers of results.jsonl kept." in said
        assert rows()[1] == {**second, "data_index": 2}
        assert rows()[2] == {**first, "data_index": 3}
        assert summary()["success_count"] == 3
        shutil.rmtree(folder / "results.jsonl.run")
        said = verify(other, "--incremental").stderr
        assert other.requests.count() == 3
        assert "results.jsonl.before.1" in said


def as_the_older_tool_writes(found: dict[str, Any]) -> dict[str, Any]:
    """The same row with another hash, a local time, and a verdict that our rules do not share."""
    return {**found, "hash": "776751afd446d0b2fc4f00f58ffc32f4", "last_run_at": "2025-09-30T10:55:52.879677"}


def test_results_of_an_older_tool_are_gone_on_with_by_content(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1), row(2), row(2), row(3)])
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor)
        shutil.rmtree(folder / "results.jsonl.run")
        older = [as_the_older_tool_writes(one) for one in rows()]
        older[0]["tool_calls_valid"] = False
        older[3]["status"] = "failed"
        write_rows(folder / "results.jsonl", older)
        text = (folder / "results.jsonl").read_text()
        said = verify(vendor, "--incremental").stderr
        assert vendor.requests.count() == 4 + 1
    assert "3 answers of results.jsonl kept; they do not say which endpoint gave them." in said
    assert (folder / "results.jsonl.before.1").read_text() == text
    assert [one["status"] for one in rows()] == ["success"] * 4
    assert rows()[0]["tool_calls_valid"] is False, "the older verdict is taken at its word"
    assert rows()[0]["last_run_at"] == "2025-09-30T10:55:52.879677"
    assert len({one["hash"] for one in rows()}) == 4


def test_recorded_results_of_an_older_tool_are_gone_on_with(recorded: Path, folder: Path) -> None:
    """Public files, made by another program with another formula for its hash."""
    text = (recorded / "vendor-results/official-run1.jsonl").read_text("utf-8").splitlines()[:20]
    (folder / "results.jsonl").write_text("".join(line + "\n" for line in text), "utf-8")
    older = [json.loads(line) for line in text]
    answered = [one for one in older if one["status"] == "success"]
    write_rows(folder / "rows.jsonl", [one["request"] for one in older])
    with Vendor(models={"deepseek-chat": "faithful"}) as vendor:
        verify(vendor, "--incremental", model="deepseek-chat")
        assert vendor.requests.count() == len(older) - len(answered)
    kept = {one["data_index"]: one["response"] for one in rows()}
    assert all(kept[one["data_index"]] == one["response"] for one in answered)


def test_backups_are_numbered_and_never_overwritten(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1)])
    with Vendor(models=["faithful"]) as vendor:
        for number in (1, 2):
            shutil.rmtree(folder / "results.jsonl.run", ignore_errors=True)
            (folder / "results.jsonl").write_text(f'{{"data_index": {number}}}\n')
            assert f"results.jsonl.before.{number}" in verify(vendor, "--incremental").stderr
        assert vendor.requests.count() == 2
    kept = [(folder / f"results.jsonl.before.{number}").read_text() for number in (1, 2)]
    assert kept == ['{"data_index": 1}\n', '{"data_index": 2}\n']
    assert len(rows()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="processes end otherwise there")
@pytest.mark.parametrize("alone", [False, True], ids=["with its run folder", "results alone"])
def test_a_killed_run_leaves_what_it_had_in_the_results(alone: bool, folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(number) for number in range(40)])
    with Vendor(models=["faithful"], latency=0.2) as vendor:
        words = ["rows.jsonl", "--model", "faithful", "--base-url", vendor.url]
        command = [sys.executable, "-m", "vendor_verifier", *words, "--concurrency", "3"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        results = folder / "results.jsonl"
        until(lambda: results.exists() and results.read_bytes().count(b"\n") >= 6)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=PATIENCE)
        hurry(vendor)
        left = rows()
        assert 6 <= len(left) < 40
        assert {one["status"] for one in left} == {"success"}
        if alone:
            shutil.rmtree(folder / "results.jsonl.run")
            with (folder / "results.jsonl").open("a") as file:
                file.write('{"data_index": 40, "request": {"mess')  # the line that was being written
        asked = vendor.requests.count()
        run(*words, "--incremental", "--concurrency", "20")
        assert vendor.requests.count() - asked == 40 - len(left)
    assert [one["data_index"] for one in rows()] == list(range(1, 41))
    by_index = {one["data_index"]: one for one in rows()}
    assert all(by_index[one["data_index"]] == one for one in left)


def test_the_results_grow_while_the_run_goes_on(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(number) for number in range(4)])
    seen: list[int] = []

    def respond(_: Received) -> Answer:
        seen.append(len(rows()) if Path("results.jsonl").exists() else 0)
        return completion()

    with Scripted(respond) as server:
        verify(server, "--concurrency", "1", model="m")
    assert seen == sorted(seen)
    assert seen[-1] >= 2
