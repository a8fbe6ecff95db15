"""A verify run against a simulated vendor over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.rows import TIME, WEATHER, row, write_rows
from support.verifying import records, run
from toolcert.api.endpoint import Endpoint
from toolcert.api.verify import verify
from toolcert.core.cases import Outcome
from toolcert.core.errors import UnauthorisedError, UnreachableError, UsageError
from toolcert.core.events import CaseFinished, Event
from toolcert.engine.outage import OutageWatch
from toolcert.runs.encoding import Keep
from toolcert.runs.reader import RunReader
from toolcert.simulate import Vendor
from toolcert.verification.summary.tally import summarise
from toolcert.verification.verify_options import VerifyOptions

BROKEN_TOOL = {"type": "function", "function": {"name": "bad", "parameters": {"type": "object", "required": {}}}}


@pytest.fixture(scope="module")
def vendor():
    with Vendor(
        models=[
            "faithful",
            "fault:args.schema.required",
            "fault:args.schema.type",
            "fault:finish.stop_with_calls",
            "text-caller",
        ]
    ) as one:
        yield one


def test_a_faithful_vendor_passes_every_row(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(n, stream=n % 2 == 0) for n in range(20)])
    result = run(dataset, vendor.url, tmp_path / "run")
    rows = result.summary.rows
    assert (rows.sent, rows.answered, rows.called, rows.valid, rows.failed) == (20, 20, 20, 20, 0)
    assert result.summary.vendor == ()
    assert [(one.row.index, one.row.streamed) for one in records(tmp_path / "run")] == [
        (n, n % 2 == 1) for n in range(1, 21)
    ]
    assert result.summary.traffic.prompt_tokens > 0
    assert {line.label for line in result.summary.times} == {"first token", "whole answer", "with a call"}


def test_our_own_key_never_reaches_the_vendor(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(777, toolcert={"id": "secret-id", "tags": ["t"]})])
    run(dataset, vendor.url, tmp_path / "run")
    sent = [entry for entry in vendor.requests if "777" in str(entry.body)]
    assert len(sent) == 1
    assert "toolcert" not in str(sent[0].body)
    assert "secret-id" not in str(sent[0].body)


def test_a_fault_of_the_vendor_is_counted_against_it(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(6)])
    summary = run(dataset, vendor.url, tmp_path / "run", model="fault:args.schema.required").summary
    assert summary.rows.invalid == summary.rows.failed == 6
    assert summary.vendor[0].code == "args.schema.required"
    assert [example.row for example in summary.vendor[0].examples] == [1, 2, 3, 4, 5]
    assert summary.failed_by == {"args.schema.required": 6}
    assert summary.valid.k == 0
    assert summary.valid.n == 6


def test_payload_and_reason_are_two_facts(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(4)])
    summary = run(dataset, vendor.url, tmp_path / "run", model="fault:finish.stop_with_calls").summary
    assert summary.rows.called == summary.rows.valid == 4
    assert summary.finish_with_calls == {"stop": 4}
    assert [line.code for line in summary.vendor] == ["finish.stop_with_calls"]


def test_problems_of_the_dataset_are_counted_apart(tmp_path: Path, vendor: Vendor) -> None:
    bad = row(2, tools=[WEATHER, BROKEN_TOOL])
    dataset = write_rows(tmp_path / "data.jsonl", [row(1), bad, "{", row(1), {"messages": []}])
    summary = run(dataset, vendor.url, tmp_path / "run").summary
    assert summary.rows.lines == 5
    assert summary.rows.sent == summary.rows.passed == 3
    assert summary.rows.skipped == 2
    assert {line.code: line.rows for line in summary.of_dataset} == {
        "dataset.not_json": 1,
        "dataset.no_messages": 1,
        "dataset.bad_schema": 1,
        "dataset.duplicate": 1,
    }
    assert summary.vendor == ()


def test_expectations_are_judged_besides_form(tmp_path: Path, vendor: Vendor) -> None:
    def expecting(number: int, expected: object) -> dict:
        return row(number, toolcert={"expected": expected})

    rows = [
        expecting(1, {"calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]}),
        expecting(2, {"calls": [{"name": "get_weather", "arguments": {"city": "Rome"}}]}),
        expecting(3, {"call": False}),
        row(4),
    ]
    result = run(write_rows(tmp_path / "data.jsonl", rows), vendor.url, tmp_path / "run", fail_under="trigger=0.9")
    summary = result.summary
    assert (summary.trigger.k, summary.trigger.n) == (2, 3)
    assert (summary.correct.k, summary.correct.n) == (1, 3)
    assert summary.failed_by == {"expectation": 2}
    assert summary.rows.invalid == 0
    assert [one.row.correct for one in records(tmp_path / "run")] == [True, False, False, None]
    assert result.missed == ("trigger is 66.67 % (2/3), below 90 %.",)


def test_a_trigger_gate_without_expectations_is_a_usage_error(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(1)])
    before = len(list(vendor.requests))
    with pytest.raises(UsageError, match="trigger"):
        run(dataset, vendor.url, tmp_path / "run", fail_under="trigger=0.9")
    assert len(list(vendor.requests)) == before


def test_the_record_keeps_as_much_as_asked(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(1, stream=True)])
    for keep in Keep:
        run(dataset, vendor.url, tmp_path / keep, keep=keep)
    raw, assembled, verdicts = ((tmp_path / keep / "records.jsonl").read_text() for keep in Keep)
    assert "data: " in raw
    assert "data: " not in assembled
    assert "Paris" in assembled
    assert "Paris" not in verdicts
    assert summarise(tmp_path / "verdicts").rows == summarise(tmp_path / "raw").rows


def test_verdicts_hold_no_word_of_rows_and_answers(tmp_path: Path, vendor: Vendor) -> None:
    """Neither the log nor the summary: the reason of a failure is its code."""
    unexpected = row(2, toolcert={"expected": {"calls": [{"name": "get_weather", "arguments": {"city": "Rome"}}]}})
    refused = row(3, tools="Paris")
    dataset = write_rows(tmp_path / "data.jsonl", [row(1), unexpected, refused])
    for model in ("fault:args.schema.type", "faithful"):
        done = run(dataset, vendor.url, tmp_path / model, model=model, keep=Keep.VERDICTS)
        assert "Paris" not in (tmp_path / model / "records.jsonl").read_text()
        assert not any(line.examples for line in done.summary.vendor)
        reasons = [one.reason for one in records(tmp_path / model)]
        expected = ["args.schema.type"] * 2 if "fault" in model else ["", "not as expected"]
        assert reasons == [*expected, "transport.rejected"]


def test_streaming_can_be_forced_and_forbidden(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(1, stream=True), row(2)])
    run(dataset, vendor.url, tmp_path / "on", stream=True)
    run(dataset, vendor.url, tmp_path / "off", stream=False)
    assert [one.row.streamed for one in records(tmp_path / "on")] == [True, True]
    assert [one.row.streamed for one in records(tmp_path / "off")] == [False, False]


def test_an_extra_body_is_sent_and_judged_by(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(5001)])
    run(dataset, vendor.url, tmp_path / "run", endpoint={"extra_body": {"top_k": 7}}, extra_body={"min_p": 0.5})
    (entry,) = [entry for entry in vendor.requests if "5001" in str(entry.body)]
    assert entry.body["top_k"] == 7
    assert entry.body["min_p"] == 0.5
    (record,) = records(tmp_path / "run")
    assert record.detail.exchanges[0].request.body == entry.body


def test_the_manifest_says_what_was_asked_and_the_digest_of_the_dataset(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(1), row(2)])
    run(dataset, vendor.url, tmp_path / "run", temperature=0.5)
    manifest = RunReader(tmp_path / "run").manifest
    assert manifest.dataset is not None
    assert manifest.dataset.rows == 2
    assert manifest.dataset.digest is not None
    assert manifest.parameters["temperature"] == 0.5
    assert manifest.finished_at is not None


def test_a_cap_on_requests_leaves_the_rest_for_later(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(10)])
    first = run(dataset, vendor.url, tmp_path / "run", max_requests=4).summary
    assert (first.rows.sent, first.rows.skipped) == (4, 6)
    second = run(dataset, vendor.url, tmp_path / "run").summary
    assert (second.rows.sent, second.rows.skipped) == (10, 0)


def test_every_request_under_a_cap_is_counted(tmp_path: Path) -> None:
    """Also those of rows for whose retries nothing was left."""
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(40)] + ["{"])
    with Vendor(models=["overloaded", "no-tools"]) as busy:
        for number, model in enumerate(("overloaded", "no-tools"), 1):
            endpoint = {"retries": 2, "concurrency": 8}
            traffic = run(
                dataset, busy.url, tmp_path / model, model=model, max_requests=17, endpoint=endpoint
            ).summary.traffic
            assert traffic.requests == 17
            assert len(list(busy.requests)) == 17 * number


def test_a_refused_key_ends_the_run_early(tmp_path: Path) -> None:
    """Nobody wants a thousand refusals of the same key."""
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(300)])
    with Vendor(models=["faithful"], api_key="right-key-1") as vendor:
        with pytest.raises(UnauthorisedError, match="first 20 rows"):
            run(dataset, vendor.url, tmp_path / "run", endpoint={"api_key": "wrong-key-1", "concurrency": 4})
        assert len(list(vendor.requests)) < 40
    assert "wrong-key-1" not in (tmp_path / "run/records.jsonl").read_text()


def test_an_endpoint_that_is_not_there_ends_the_run_early(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(100)])
    with pytest.raises(UnreachableError):
        run(dataset, "http://127.0.0.1:9/v1", tmp_path / "run", endpoint={"retries": 0})


def test_an_endpoint_that_dies_is_not_asked_for_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcert.verification.run.job.OutageWatch", lambda: OutageWatch(cases=5, seconds=0.0))
    dataset = write_rows(tmp_path / "data.jsonl", [row(n) for n in range(60)])
    with Vendor(models=["faithful"]) as mortal:
        served = 0

        def count(event: Event) -> None:
            nonlocal served
            served += isinstance(event, CaseFinished)
            if served == 10:
                mortal.stop()

        options = VerifyOptions(model="faithful", output=str(tmp_path / "run"))
        done = verify(dataset, Endpoint(mortal.url, name="here", retries=0, concurrency=2), options, [count])
    rows = done.summary.rows
    assert (rows.lines, rows.failed, rows.unsupported) == (60, 0, 0)
    assert rows.answered >= 10
    assert 5 <= rows.not_measured <= 8
    assert any(line.startswith(f"{rows.skipped} rows were not asked: here does not") for line in done.summary.lines)


def test_a_row_with_no_tools_is_asked_too(tmp_path: Path, vendor: Vendor) -> None:
    plain = {"messages": [{"role": "user", "content": "Say hello."}]}
    summary = run(write_rows(tmp_path / "d.jsonl", [plain]), vendor.url, tmp_path / "run").summary
    assert summary.rows.in_text == 1
    assert summary.rows.passed == 1


def test_slices_show_where_the_faults_are(tmp_path: Path, vendor: Vendor) -> None:
    tagged = [row(n, toolcert={"tags": ["even" if n % 2 == 0 else "odd"]}, tools=[WEATHER, TIME]) for n in range(4)]
    summary = run(write_rows(tmp_path / "d.jsonl", tagged), vendor.url, tmp_path / "run").summary
    slices = {(line.slice, line.value): line for line in summary.slices}
    assert slices[("tag", "even")].answered == slices[("tag", "odd")].answered == 2
    assert slices[("n_tools", "2")].answered == 4
    assert slices[("stream", "whole")].valid.k == 4
    assert slices[("tool", "get_weather")].passed.k == 4
    tools = {line.name: (line.rows, line.called) for line in summary.tools}
    assert tools == {"get_weather": (4, 4), "get_time": (4, 0)}


def test_outcomes_of_a_model_that_leaves_calls_in_text(tmp_path: Path, vendor: Vendor) -> None:
    summary = run(write_rows(tmp_path / "d.jsonl", [row(1)]), vendor.url, tmp_path / "run", model="text-caller").summary
    assert summary.rows.called == 0
    assert [line.code for line in summary.vendor] == ["call.in_text"]
    assert records(tmp_path / "run")[0].outcome is Outcome.FAILED


def test_no_more_requests_are_under_way_than_allowed(tmp_path: Path) -> None:
    """A worker more than that prepares the next request; the endpoint never sees it."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(8)])
    with Vendor(models=["faithful"], latency=0.1) as vendor:
        run(dataset, vendor.url, tmp_path / "run", endpoint={"concurrency": 4})
        assert vendor.peak == 4
