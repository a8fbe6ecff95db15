"""A vendor at its worst: every row gets an outcome, and transport is never charged to the model."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from support.hostile import FAULTS, HostileVendor, at_random
from support.rows import row, write_rows
from support.verifying import index_of, records, run
from toolcert.core.cases import Outcome
from toolcert.core.targets import Timeouts
from toolcert.simulate import Vendor

VENDORS_OWN = {"envelope.not_openai", "stream.cut", "stream.framing"}
"""Garbage with status 200 and a stream that ends without a reason are the vendor's fault, not transport."""
FAST = {
    "concurrency": 64,
    "retries": 3,
    "timeouts": Timeouts(connect=2.0, read=0.5, between_chunks=0.5, total=2.0),
}


@pytest.mark.heavy
def test_thirty_percent_faults_at_concurrency_64(tmp_path: Path) -> None:
    rows = [row(n, stream=n % 2 == 0) for n in range(400)]
    dataset = write_rows(tmp_path / "d.jsonl", rows)
    begun = time.monotonic()
    with HostileVendor(at_random(0.3)) as vendor:
        summary = run(dataset, vendor.url, tmp_path / "run", endpoint=FAST).summary
        assert set(vendor.faults) == set(FAULTS)
    assert time.monotonic() - begun < 120
    done = records(tmp_path / "run")
    assert [index_of(one) for one in done] == list(range(1, 401))
    outcomes = Counter(one.outcome for one in done)
    assert set(outcomes) <= {Outcome.PASSED, Outcome.FAILED, Outcome.NOT_MEASURED}
    assert outcomes[Outcome.PASSED] > 300
    for one in done:
        if one.outcome is Outcome.FAILED:
            assert set(one.codes) & VENDORS_OWN, one.codes
        if one.outcome is Outcome.NOT_MEASURED:
            assert all(code.startswith("transport.") for code in one.codes), one.codes
    assert summary.rows.invalid == 0
    assert summary.traffic.retried > 0


@pytest.mark.parametrize(
    ("fault", "streamed", "outcome", "code"),
    [
        ("429", False, Outcome.NOT_MEASURED, "transport.rate_limited"),
        ("500", False, Outcome.NOT_MEASURED, "transport.server_error"),
        ("reset", False, Outcome.NOT_MEASURED, "transport.reset"),
        ("stall", False, Outcome.NOT_MEASURED, "transport.timeout"),
        ("reset inside", True, Outcome.NOT_MEASURED, "transport.reset"),
        ("cut stream", True, Outcome.FAILED, "stream.cut"),
        ("garbage", False, Outcome.FAILED, "envelope.not_openai"),
        ("garbage", True, Outcome.FAILED, "envelope.not_openai"),
    ],
)
def test_each_fault_has_its_outcome(tmp_path: Path, fault: str, streamed: bool, outcome: Outcome, code: str) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, stream=streamed)])
    with HostileVendor(lambda _: fault) as vendor:
        run(dataset, vendor.url, tmp_path / "run", endpoint=FAST | {"retries": 0})
    (record,) = records(tmp_path / "run")
    assert record.outcome is outcome
    assert code in record.codes


@pytest.mark.parametrize("levels", [180, 200, 201, 480, 978])
def test_a_row_of_any_depth_is_asked_or_told_and_the_others_are_asked(tmp_path: Path, levels: int) -> None:
    deep = json.dumps(row(2, temperature=0)).replace(
        '"temperature": 0', f'"temperature": {"[" * levels}1.0{"]" * levels}'
    )
    rows = [row(1), deep, row(3)]
    with Vendor(models=["faithful"]) as vendor:
        run(write_rows(tmp_path / "d.jsonl", rows), vendor.url, tmp_path / "run")
    told = [record.outcome is Outcome.SKIPPED for record in sorted(records(tmp_path / "run"), key=index_of)]
    assert told == [False, levels > 200, False]


def test_a_fault_that_passes_is_retried_and_said_to_be(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    with HostileVendor(lambda number: "500" if number == 1 else None) as vendor:
        summary = run(dataset, vendor.url, tmp_path / "run", endpoint=FAST).summary
    (record,) = records(tmp_path / "run")
    assert record.outcome is Outcome.PASSED
    assert record.row.attempts == 2
    assert summary.traffic.retried == 1
    assert summary.traffic.requests == 2


@pytest.mark.heavy
def test_the_time_of_a_row_is_that_of_its_last_attempt(tmp_path: Path) -> None:
    """Waiting and failed attempts are not the model's time."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    patient = {"timeouts": Timeouts(connect=10.0, read=1.0, between_chunks=1.0, total=10.0)}
    with HostileVendor(lambda number: "stall" if number == 1 else None) as vendor:
        run(dataset, vendor.url, tmp_path / "run", endpoint=FAST | patient)
    (record,) = records(tmp_path / "run")
    assert record.row.attempts == 2
    assert record.row.seconds < 1.0
