"""Runs, datasets and reports at URLs, as the command handles them, over a real S3 server and real processes."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, TypeAlias

import msgspec
import obstore
import pytest
import zstandard

from support.patience import PATIENCE, hurry, until
from support.rows import row, write_rows
from support.s3_server import BUCKET, KEYS, Door
from support.verifying import records, run, timeless
from toolcert.api.load import LoadOptions, load
from toolcert.api.probe import ProbeOptions, probe
from toolcert.api.report import load_run
from toolcert.core.errors import InputError
from toolcert.runs.location import RunState, list_runs, locate_run, run_name
from toolcert.simulate import Vendor
from toolcert.stores.lease import LEASE, read_lease
from toolcert.stores.object_store import ObjectStore
from toolcert.stores.object_url import parse_url
from toolcert.verification.summary.tally import summarise

pytestmark = pytest.mark.needs("s3")
Process: TypeAlias = "subprocess.Popen[str]"
ROWS = 240


@pytest.fixture
def dataset(tmp_path: Path) -> str:
    return write_rows(tmp_path / "d.jsonl", [row(number) for number in range(ROWS)])


def words(dataset: str, vendor: Vendor, url: str, *more: str) -> list[str]:
    options = ["--base-url", vendor.url, "-m", "faithful", "-c", "8", "-o", url, *more]
    return [sys.executable, "-m", "toolcert", "verify", dataset, *options]


def finished(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def lines_in(url: str) -> int:
    """Lines that the store has."""
    store = ObjectStore(parse_url(url))
    found = read_lease(store)
    parts = [] if found is None else [one for series in found[0].series for one in store.entries(series.log)]
    return sum(content[0].count(b"\n") for part in parts if (content := store.read(part.name)))


def started(command: list[str], url: str, lines: int, stderr: IO[str] | int = subprocess.PIPE) -> Process:
    """The command, once so many lines are in the store."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    until(lambda: lines_in(url) >= lines or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def age_lease(url: str) -> None:
    """As if its holder had died a minute ago."""
    store = ObjectStore(parse_url(url))
    found = read_lease(store)
    assert found is not None
    store.write(LEASE, msgspec.json.encode(msgspec.structs.replace(found[0], beat=time.time() - 60)))


def test_a_run_killed_in_the_middle_is_resumed_on_another_machine(
    dataset: str, url: str, other_machine: dict[str, str], tmp_path: Path
) -> None:
    """Each row stands exactly once, and the summary equals that of a run that nobody killed."""
    with Vendor(models=["faithful"], latency=0.5) as vendor:
        process = started(words(dataset, vendor, url), url, ROWS // 10)
        process.kill()
        process.communicate()
        hurry(vendor)
        kept, before = lines_in(url), len(vendor.requests)
        assert ROWS // 10 <= kept < ROWS
        refused = finished(words(dataset, vendor, url), other_machine)
        assert refused.returncode == 2
        assert re.search(rf"Error: process {process.pid} on .* is writing to {url}\.", refused.stderr)
        assert "if it has died, its lease ends in" in refused.stderr
        assert len(vendor.requests) == before
        age_lease(url)
        done = finished(words(dataset, vendor, url), other_machine)
        assert done.returncode == 0, done.stderr
        assert len(vendor.requests) - before == ROWS - kept, "what the store had is not asked again"
        whole = run(dataset, vendor.url, tmp_path / "whole")
    there = locate_run(url)
    assert [one.row.index for one in records(there) if one.row] == list(range(1, ROWS + 1))
    assert (there / "records.jsonl").read_bytes().count(b"\n") == ROWS
    assert timeless(summarise(there)) == timeless(whole.summary)


def test_a_run_killed_in_the_middle_goes_on_at_once_on_its_own_machine(dataset: str, url: str) -> None:
    with Vendor(models=["faithful"], latency=0.5) as vendor:
        process = started(words(dataset, vendor, url), url, 10)
        process.kill()
        process.communicate()
        hurry(vendor)
        done = finished(words(dataset, vendor, url))
        assert done.returncode == 0, done.stderr
        asked = len(vendor.requests)
    assert asked <= ROWS + 9, "only what was on its way is asked again"
    assert len(records(locate_run(url))) == ROWS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_uploaded_before_it_exits(
    number: signal.Signals, dataset: str, url: str, other_machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Vendor(models=["faithful"], latency=0.5) as vendor:
        process = started(words(dataset, vendor, url), url, 10)
        process.send_signal(number)
        _, told = process.communicate(timeout=PATIENCE)
        answered = len(vendor.requests)
    assert process.returncode == 130
    assert f"what was measured is in {url}. Run again with this --output" in told
    assert f"{url} is uploaded every 2 seconds; a kill loses no more than that." in told
    monkeypatch.setenv("XDG_CACHE_HOME", other_machine["XDG_CACHE_HOME"])
    assert len(records(locate_run(url))) == answered
    found = read_lease(ObjectStore(parse_url(url)))
    assert found is not None
    assert found[0].released


def test_a_store_out_of_reach_delays_nothing_and_gets_all_later(
    dataset: str, url: str, door: Door, tmp_path: Path
) -> None:
    said = tmp_path / "stderr"
    with Vendor(models=["faithful"], latency=0.5) as vendor, said.open("w") as stderr:
        process = started(words(dataset, vendor, url), url, 10, stderr)
        door.close()
        before = len(vendor.requests)
        until(lambda: "Warning" in said.read_text() or process.poll() is not None)
        assert process.poll() is None, said.read_text()
        until(lambda: len(vendor.requests) > before, "the run goes on")
        door.open()
        hurry(vendor)
        process.communicate(timeout=PATIENCE)
    told = said.read_text()
    assert process.returncode == 0, told
    assert re.search(rf"Warning: {url}: \S+ does not answer\. The run goes on in \S+ and is uploaded later\.", told)
    assert lines_in(url) == ROWS


def test_a_store_that_never_comes_back_ends_with_an_error_that_names_the_mirror(
    dataset: str, url: str, door: Door, tmp_path: Path
) -> None:
    said = tmp_path / "stderr"
    with Vendor(models=["faithful"], latency=0.5) as vendor, said.open("w") as stderr:
        process = started(words(dataset, vendor, url), url, 1, stderr)
        door.close()
        hurry(vendor)
        until(lambda: len(vendor.requests) >= ROWS)
        until(lambda: "Ctrl-C ends the wait" in said.read_text() or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        told = said.read_text()
        assert process.returncode == 2, told
        found = re.search(
            rf"Error: \d+ bytes of the run are not in {url}: .*\nRemedy: The whole run is in (\S+);", told
        )
        assert found
        assert len(records(Path(found[1]))) == ROWS
        door.open()
        done = finished(words(dataset, vendor, url))
        assert done.returncode == 0, done.stderr
        assert len(vendor.requests) == ROWS, "nothing is asked again"
    assert lines_in(url) == ROWS


def test_a_writer_that_lost_its_lease_stops_its_run(dataset: str, url: str, other_machine: dict[str, str]) -> None:
    with Vendor(models=["faithful"], latency=0.5) as vendor:
        process = started(words(dataset, vendor, url), url, 10)
        process.send_signal(signal.SIGSTOP)  # a machine that sleeps
        age_lease(url)
        hurry(vendor)
        done = finished(words(dataset, vendor, url), other_machine)
        process.send_signal(signal.SIGCONT)
        _, told = process.communicate(timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert process.returncode == 2, told
    assert f"Error: another toolcert has taken over {url}" in told
    assert [one.row.index for one in records(locate_run(url)) if one.row] == list(range(1, ROWS + 1))


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_dataset_and_reports_may_be_objects(ending: str, door: Door, tmp_path: Path) -> None:
    text = Path(write_rows(tmp_path / "d", [row(number) for number in range(5)])).read_bytes()
    packed = {"": text, ".gz": gzip.compress(text), ".zst": zstandard.compress(text)}[ending]
    name = f"s3://{BUCKET}/data/d.jsonl{ending}"
    ObjectStore(parse_url(name)).write("", packed)
    pages = {kind: f"s3://{BUCKET}/pages/{ending}/report.{kind}" for kind in ("html", "json")}
    with Vendor(models=["faithful"]) as vendor:
        options = [part for kind, place in pages.items() for part in (f"--{kind}", place)]
        done = finished(words(name, vendor, str(tmp_path / "run"), *options))
    assert done.returncode == 0, done.stderr
    assert f"Report: {pages['html']}" in done.stdout
    html, report = (ObjectStore(parse_url(place)).read() for place in pages.values())
    assert html is not None
    assert html[0].startswith(b"<!doctype html>")
    assert report is not None
    assert json.loads(report[0])["summary"]["dataset"]["path"] == name
    page = ObjectStore(parse_url(pages["html"]))
    assert obstore.get(page._store, page.url.key).attributes["Content-Type"] == "text/html", "a browser shows it"


@pytest.mark.filterwarnings("ignore::toolcert.core.errors.ToolcertWarning")
def test_every_command_that_reads_a_run_takes_a_url(dataset: str, url: str, tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        finished(words(dataset, vendor, f"{url}/first", "--limit", "20"))
        finished(words(dataset, vendor, f"{url}/second", "--limit", "20"))
        probed = probe(vendor.url, options=ProbeOptions(probe=("basic",), output=f"{url}/probed", all_models=True))
        commands = {
            f"report {url}/first": f"Run: {url}/first",
            f"report {url}/latest~1": f"Run: {url}/second",
            f"show {url}/first 3": "row 3",
            f"verify --from {url}/first": "20 answers are sound",
            f"compare --baseline {url}/first --vendor {url}/second": "second",
            f"runs {url}": f"{url}/second",
            f"report {url}/first --json {url}/first/report.json": "",
            f"history add {url}/probed --history {tmp_path / 'h.sqlite'}": "1 model added",
            f"history add {url}/latest --history {tmp_path / 'h.sqlite'}": "1 model added",
        }
        for command, shown in commands.items():
            done = finished([sys.executable, "-m", "toolcert", *command.split()])
            assert done.returncode == 0, (command, done.stderr)
            assert shown in done.stdout + done.stderr, command
    assert run_name(probed.folder) == f"{url}/probed"


def test_a_fresh_run_replaces_the_one_in_the_store(dataset: str, url: str, other_machine: dict[str, str]) -> None:
    with Vendor(models=["faithful"]) as vendor:
        finished(words(dataset, vendor, url))
        first = locate_run(url) / "manifest.json"
        before = json.loads(first.read_bytes())["run"]
        done = finished(words(dataset, vendor, url, "--fresh", "--limit", "7"), other_machine)
    assert done.returncode == 0, done.stderr
    assert len(records(locate_run(url))) == 7
    assert json.loads(first.read_bytes())["run"] != before


def test_rows_that_moved_in_the_dataset_get_their_new_numbers_in_the_store(
    url: str, tmp_path: Path, other_machine: dict[str, str]
) -> None:
    with Vendor(models=["faithful"]) as vendor:
        finished(words(write_rows(tmp_path / "a", [row(1), row(2), row(3)]), vendor, url))
        moved = write_rows(tmp_path / "b", [row(0), row(3), row(1)])
        done = finished(words(moved, vendor, url), other_machine)
    assert done.returncode == 0, done.stderr
    asked = {one.row.index: one.detail.exchanges[0].request for one in records(locate_run(url)) if one.row}
    texts = {index: request.body["messages"][-1]["content"][-3:] for index, request in asked.items()}
    assert texts == {1: "(0)", 2: "(3)", 3: "(1)"}


def test_no_credential_reaches_the_store_a_message_or_the_mirror(dataset: str, url: str, tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        done = finished(words(dataset, vendor, url, "--limit", "3"))
        wrong = finished([*words(dataset, vendor, url, "--limit", "3"), "--html", "s3://hush:hush@bucket/x"])
        missing = finished(words(dataset, vendor, "s3://no-such-bucket/x"))
    assert (done.returncode, wrong.returncode, missing.returncode) == (0, 2, 2)
    store = ObjectStore(parse_url(url))
    kept = [content[0] for stored in store.entries("") if (content := store.read(stored.name))]
    kept += [path.read_bytes() for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("*") if path.is_file()]
    said = "".join(one.stdout + one.stderr for one in (done, wrong, missing))
    for secret in (*KEYS.values(), "hush"):
        assert secret not in said
        assert not any(secret.encode() in content for content in kept)
    assert "there is no bucket no-such-bucket" in missing.stderr


def test_a_folder_of_runs_is_not_taken_for_a_run(dataset: str, url: str) -> None:
    with Vendor(models=["faithful"]) as vendor:
        finished(words(dataset, vendor, f"{url}/first", "--limit", "2"))
    with pytest.raises(InputError, match=rf"there is no run at {url}\."):
        locate_run(url)


def test_a_run_that_is_written_elsewhere_is_listed_as_running(dataset: str, url: str, tmp_path: Path) -> None:
    with Vendor(models=["faithful"], latency=0.5) as vendor, pytest.MonkeyPatch.context() as patch:
        process = started(words(dataset, vendor, f"{url}/x"), f"{url}/x", 10)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
        assert [entry.state for entry in list_runs(url)] == [RunState.RUNNING]
        hurry(vendor)
        process.communicate(timeout=PATIENCE)
        assert [entry.state for entry in list_runs(url)] == [RunState.FINISHED]


def test_a_load_run_may_be_at_a_url(url: str) -> None:
    with Vendor(models=["faithful"]) as vendor:
        result = load(vendor.url, LoadOptions(model=("faithful",), at_load=4, pairs=8, output=url))
    assert run_name(result.folder) == url
    assert load_run(url).job == "load"
