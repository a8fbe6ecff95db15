"""Output that cannot be written: a clear error, and nothing already written is damaged."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.rows import row, write_rows
from support.verifying import run
from toolcert.core.cases import Outcome
from toolcert.core.errors import ExitCode, InputError, OutputError
from toolcert.core.events import CaseFinished
from toolcert.core.records import Manifest, Record
from toolcert.runs.writer import RECORDS, RunWriter
from toolcert.simulate import Vendor
from toolcert.verification.run.log import VerifyLog

ROOM = 40_000
"""Bytes a limited child may write to one file: a part of the records, and no more."""


@pytest.fixture(scope="module")
def vendor():
    with Vendor(models=["faithful"]) as one:
        yield one


def limited() -> None:
    """What a full disk does to the largest file: a write comes back short, the next one fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def command(dataset: str, url: str, output: Path) -> list[str]:
    options = ["--base-url", url, "-m", "faithful", "-o", str(output), "-q"]
    return [sys.executable, "-m", "toolcert", "verify", dataset, *options]


@pytest.mark.heavy
def test_a_disk_that_fills_up_ends_the_run_with_a_whole_log(tmp_path: Path, vendor: Vendor) -> None:
    """And the run goes on from there once there is room."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(200)])
    words = command(dataset, vendor.url, tmp_path / "run")
    ended = subprocess.run(words, check=False, capture_output=True, text=True, preexec_fn=limited, timeout=180)
    assert ended.returncode == ExitCode.USAGE
    assert "cannot write" in ended.stderr
    assert "Traceback" not in ended.stderr
    log = tmp_path / "run/records.jsonl"
    written = log.read_bytes()
    assert 0 < len(written) <= ROOM
    assert written.endswith(b"\n")
    kept = [json.loads(line)["case"] for line in written.splitlines()]
    asked = len(list(vendor.requests))
    summary = run(dataset, vendor.url, tmp_path / "run").summary
    assert summary.rows.passed == 200
    assert len(list(vendor.requests)) - asked == 200 - len(kept)
    assert log.read_bytes().startswith(written)


def test_a_folder_that_cannot_be_made(tmp_path: Path, vendor: Vendor) -> None:
    """Nobody, not even root, makes folders under /proc."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    before = len(list(vendor.requests))
    with pytest.raises(OutputError, match="cannot write"):
        run(dataset, vendor.url, Path("/proc/toolcert/run"))
    assert len(list(vendor.requests)) == before


def test_a_file_where_the_folder_should_be(tmp_path: Path, vendor: Vendor) -> None:
    (tmp_path / "run").write_text("something of the user's")
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    before = len(list(vendor.requests))
    with pytest.raises(OutputError, match="cannot write"):
        run(dataset, vendor.url, tmp_path / "run")
    assert (tmp_path / "run").read_text() == "something of the user's"
    assert len(list(vendor.requests)) == before


def test_a_run_that_another_process_writes_is_not_touched(tmp_path: Path, vendor: Vendor) -> None:
    from toolcert.runs.writer import hold

    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    run(dataset, vendor.url, tmp_path / "run")
    before = (tmp_path / "run/records.jsonl").read_bytes()
    with hold(tmp_path / "run"), pytest.raises(OutputError, match="another toolcert"):
        run(dataset, vendor.url, tmp_path / "run")
    assert (tmp_path / "run/records.jsonl").read_bytes() == before


def test_a_run_in_a_place_that_became_unwritable(tmp_path: Path, vendor: Vendor) -> None:
    """A folder where the lock should be refuses everybody, also root."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2)])
    run(dataset, vendor.url, tmp_path / "run", limit=1)
    before = (tmp_path / "run/records.jsonl").read_bytes()
    (tmp_path / "run/.lock").unlink()
    (tmp_path / "run/.lock").mkdir()
    with pytest.raises(InputError, match="is no file"):
        run(dataset, vendor.url, tmp_path / "run")
    assert (tmp_path / "run/records.jsonl").read_bytes() == before


def test_an_earlier_run_is_not_replaced_by_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    def writer(folder: Path) -> RunWriter:
        return RunWriter(folder, Manifest(run="r", job="verify", started_at=1.0, toolcert="0"))

    def measured(reason: str) -> CaseFinished:
        return CaseFinished(record=Record(case="k", endpoint="e", model="m", outcome=Outcome.FAILED, reason=reason))

    with closing(writer(tmp_path)) as earlier:
        earlier(measured("as it was"))
    with closing(VerifyLog(tmp_path, writer, fresh=True)) as log:
        with pytest.raises(UnicodeEncodeError):
            log.finish_all([measured("\ud800")])
        assert log.kept_earlier
        assert b"as it was" in (tmp_path / RECORDS).read_bytes()
        log.finish_all([measured("new")])
        assert not log.kept_earlier
        assert b"as it was" not in (tmp_path / RECORDS).read_bytes()
