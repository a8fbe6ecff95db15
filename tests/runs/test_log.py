"""Writing, repairing, resuming and refusing run folders."""

import errno
import os
import resource
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, OutputError
from toolcert.core.events import CaseFinished
from toolcert.core.records import Manifest, Record
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import JsonObject
from toolcert.runs import reader
from toolcert.runs.reader import RunReader
from toolcert.runs.resume import resume, start_afresh
from toolcert.runs.writer import MANIFEST, RECORDS, RunWriter, hold, repair_tail


def manifest(
    base_url: str = "http://127.0.0.1:1/v1", job: str = "probe", extra_body: JsonObject | None = None, **parameters: Any
) -> Manifest:
    spec = EndpointSpec(name="e", base_url=base_url, extra_body=extra_body or {})
    return Manifest(run="r1", job=job, started_at=1.0, toolcert="0", endpoints=(spec,), parameters=parameters)


def record(number: int, outcome: Outcome = Outcome.PASSED) -> Record:
    return Record(case=f"e/m/p/{number}", endpoint="e", model="m", outcome=outcome)


def write(folder: Path, *records: Record) -> None:
    writer = RunWriter(folder, manifest())
    for item in records:
        writer.append(item)
    writer.finish()


def cases(folder: Path) -> list[str]:
    return [head.case for head in RunReader(folder).heads()]


def test_a_record_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    """No buffer of ours holds a reported record: kill -9 loses nothing."""
    writer = RunWriter(tmp_path, manifest())
    writer.append(record(1))
    assert (tmp_path / RECORDS).read_bytes().endswith(b"\n")
    writer.close()


def test_records_that_are_written_together_are_those_written_one_by_one(tmp_path: Path) -> None:
    records = [record(number, outcome) for number, outcome in enumerate(Outcome)]
    write(tmp_path / "one by one", *records)
    writer = RunWriter(tmp_path / "together", manifest())
    writer.finish_all([CaseFinished(record=item) for item in records])
    written = (tmp_path / "together" / RECORDS).read_bytes()
    writer.close()
    assert written == (tmp_path / "one by one" / RECORDS).read_bytes()


@pytest.mark.parametrize("torn", [b'{"case":"e/m/p/3"', b"{", b"\x00" * 70_000])
def test_a_torn_last_line_is_cut_off_on_resume(tmp_path: Path, torn: bytes) -> None:
    write(tmp_path, record(1), record(2))
    with (tmp_path / RECORDS).open("ab") as file:
        file.write(torn)
    measured = resume(tmp_path, manifest())
    assert len(measured) == 2
    assert cases(tmp_path) == ["e/m/p/1", "e/m/p/2"]


@pytest.mark.parametrize("longest", [1 << 30, 40])
@pytest.mark.parametrize("added", [b'":1}\n', b'":1}\n{"b":2}\n', b'":1', b"\n"])
def test_what_is_added_to_a_torn_line_while_it_is_read_is_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest: int, added: bytes
) -> None:
    """A run in progress may complete its last line just after it was read, and write more."""
    monkeypatch.setattr(reader, "LONGEST_LINE", longest)
    path = tmp_path / RECORDS
    written = [b'{"number":1,"text":"one"}\n', b'{"number":2,"text":"two"}\n', b'{"a']
    path.write_bytes(b"".join(written))
    with path.open("rb") as file:
        lines = reader.bounded_lines(file, path)
        read = [next(lines) for _ in written]
        with path.open("ab") as more:
            more.write(added)
        assert [*read, *lines] == written


def test_resume_keeps_what_is_settled_and_asks_the_rest_again(tmp_path: Path) -> None:
    write(
        tmp_path,
        record(1),
        record(2, Outcome.FAILED),
        record(3, Outcome.NOT_MEASURED),
        record(4, Outcome.SKIPPED),
        record(5, Outcome.UNSUPPORTED),
    )
    measured = resume(tmp_path, manifest())
    assert [number for number in range(1, 7) if f"e/m/p/{number}" in measured] == [1, 2, 5]
    assert len(measured) == 3


def outcomes(folder: Path) -> dict[str, Outcome]:
    heads = list(RunReader(folder).heads())
    assert len({head.case for head in heads}) == len(heads), "a case counts twice"
    return {head.case: head.outcome for head in heads}


P, F, U, N, S = Outcome.PASSED, Outcome.FAILED, Outcome.UNSUPPORTED, Outcome.NOT_MEASURED, Outcome.SKIPPED


@pytest.mark.parametrize(
    ("lines", "counts"),
    [((F, P), P), ((P, F), F), ((F, N), F), ((F, N, P), P), ((N, S), S), ((S, N), N), ((U, N), U), ((N, F, N, S), F)],
    ids=str,
)
def test_of_a_case_asked_again_the_last_answer_counts(
    tmp_path: Path, lines: tuple[Outcome, ...], counts: Outcome
) -> None:
    """A retry without an answer never hides an answer; every line stays in the log."""
    write(tmp_path, record(7), record(1, lines[0]))
    for outcome in lines[1:]:
        earlier = resume(tmp_path, manifest(), again=lambda head: head.outcome in {P, F, U})
        assert earlier.manifest is not None
        writer = RunWriter(tmp_path, earlier.manifest)
        writer.append(record(1, outcome))
        writer.close()
    assert outcomes(tmp_path) == {"e/m/p/7": P, "e/m/p/1": counts}
    reader = RunReader(tmp_path)
    assert [one.outcome for one in reader.records()] == [P, counts]
    assert len(list(reader.lines())) == 2
    content = reader.path.read_bytes()
    assert [content[start : start + len(line)] == line for start, line in reader.placed_lines()] == [True, True]
    assert content.count(b"\n") == 1 + len(lines)


def test_a_run_that_was_only_extended_is_read_once(tmp_path: Path) -> None:
    """To look for lines that do not count costs a reading of the log; only where there may be some it is done."""
    write(tmp_path, record(1))
    earlier = resume(tmp_path, manifest())
    assert earlier.manifest is not None
    assert not earlier.manifest.has_stale_lines
    write(tmp_path, record(1, Outcome.NOT_MEASURED))
    again = resume(tmp_path, manifest())
    assert again.manifest is not None
    assert again.manifest.has_stale_lines


def test_a_folder_of_another_endpoint_or_job_is_refused(tmp_path: Path) -> None:
    """Figures of two endpoints in one run would belong to neither."""
    write(tmp_path, record(1))
    told = r"endpoint was http://127.0.0.1:1/v1, now http://127.0.0.1:2/v1.*another --output, or --fresh"
    with pytest.raises(InputError, match=told):
        resume(tmp_path, manifest(base_url="http://127.0.0.1:2/v1"))
    with pytest.raises(InputError, match="probe run"):
        resume(tmp_path, manifest(job="verify"))


def test_measurements_of_another_way_of_asking_are_not_taken_over(tmp_path: Path) -> None:
    """The key of a case names endpoint, model, probe and iteration, and not how it was asked."""
    write(tmp_path, record(1))
    with pytest.raises(InputError, match=r"max tokens was not set, now 16.*--fresh"):
        resume(tmp_path, manifest(max_tokens=16))
    with pytest.raises(InputError, match="extra body was another"):
        resume(tmp_path, manifest(extra_body={"top_k": 1}))
    assert len(resume(tmp_path, manifest(temperature=None))) == 1


def test_all_that_makes_it_another_run_is_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, record(1))
    with pytest.raises(InputError, match=r"endpoint was .*; temperature was not set, now 0\.5\."):
        resume(tmp_path, manifest(base_url="http://127.0.0.1:2/v1", temperature=0.5))


@pytest.mark.parametrize("change", [{"dialect": "azure"}, {"options": {"api_version": "2025-01-01"}}], ids=str)
def test_another_dialect_is_another_endpoint(tmp_path: Path, change: dict[str, Any]) -> None:
    write(tmp_path, record(1))
    spec = msgspec.structs.replace(manifest().endpoints[0], **change)
    with pytest.raises(InputError, match="another run"):
        resume(tmp_path, msgspec.structs.replace(manifest(), endpoints=(spec,)))


def test_another_key_timeout_or_number_of_workers_goes_on_with_the_run(tmp_path: Path) -> None:
    write(tmp_path, record(1))
    changed = {"headers": {"X-Trace": "2"}, "retries": 9, "concurrency": 1, "key_env": "OTHER_KEY"}
    spec = msgspec.structs.replace(manifest().endpoints[0], **changed, base_url="http://127.0.0.1:1/v1/")
    assert len(resume(tmp_path, msgspec.structs.replace(manifest(), endpoints=(spec,)))) == 1


def test_more_endpoints_and_scenarios_extend_a_probe_run(tmp_path: Path) -> None:
    """A scenario that reads otherwise than it did is another question."""
    RunWriter(tmp_path, manifest(scenarios={"refund": "abc"})).finish()
    more = EndpointSpec(name="f", base_url="http://127.0.0.1:2/v1")
    both = msgspec.structs.replace(
        manifest(scenarios={"refund": "abc", "order": "def"}), endpoints=(*manifest().endpoints, more)
    )
    assert resume(tmp_path, both).known == 0
    with pytest.raises(InputError, match="scenario refund was another"):
        resume(tmp_path, manifest(scenarios={"refund": "xyz"}))


def test_the_choice_of_rows_makes_no_other_run_of_verify(tmp_path: Path) -> None:
    RunWriter(tmp_path, manifest(job="verify", model="m", limit=5)).finish()
    resume(tmp_path, manifest(job="verify", model="m", sample=3, seed=7, keep="verdicts"))
    with pytest.raises(InputError, match="model was m, now n"):
        resume(tmp_path, manifest(job="verify", model="n", limit=5))


def test_fresh_forgets_the_records_only(tmp_path: Path) -> None:
    write(tmp_path, record(1))
    (tmp_path / "notes.txt").write_text("mine")
    start_afresh(tmp_path, "probe")
    assert len(resume(tmp_path, manifest())) == 0
    assert (tmp_path / "notes.txt").exists()


def test_after_fresh_the_folder_takes_any_run_of_the_job(tmp_path: Path) -> None:
    write(tmp_path, record(1))
    start_afresh(tmp_path, "probe")
    assert len(resume(tmp_path, manifest(base_url="http://127.0.0.1:2/v1"))) == 0


def test_fresh_forgets_no_run_of_another_job(tmp_path: Path) -> None:
    write(tmp_path, record(1))
    with pytest.raises(InputError, match="probe run"):
        start_afresh(tmp_path, "verify")
    assert cases(tmp_path) == ["e/m/p/1"]


def test_a_writer_leaves_a_lock_that_is_not_its_own(tmp_path: Path) -> None:
    with hold(tmp_path) as lock:
        RunWriter(tmp_path, manifest(), lock=lock).finish()
        with pytest.raises(OutputError, match="another toolcert"):
            RunWriter(tmp_path, manifest())
    RunWriter(tmp_path, manifest()).close()


def test_two_writers_cannot_share_a_folder(tmp_path: Path) -> None:
    first = RunWriter(tmp_path, manifest())
    with pytest.raises(OutputError, match="another toolcert"):
        RunWriter(tmp_path, manifest())
    first.close()


def test_a_writer_that_cannot_begin_lets_go_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(OutputError):
        RunWriter(tmp_path, manifest())
    (tmp_path / MANIFEST).rmdir()
    RunWriter(tmp_path, manifest()).close()


def test_a_full_disk_leaves_whole_lines_and_a_clear_error(tmp_path: Path) -> None:
    """The limit on file size stands for a full disk: the kernel takes part of a line, then refuses."""
    writer = RunWriter(tmp_path, manifest())
    writer.append(record(1))
    size = (tmp_path / RECORDS).stat().st_size
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, old[1]))
    try:
        with pytest.raises(OutputError, match=os.strerror(errno.EFBIG)):
            writer.append(record(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / RECORDS).stat().st_size == size
    writer.append(record(3))
    writer.close()
    assert cases(tmp_path) == ["e/m/p/1", "e/m/p/3"]


def test_repair_finds_the_last_newline_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\n" + b"x" * 200_000)
    assert repair_tail(path) == 200_000
    assert path.read_bytes() == b"a\n"


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run"):
        RunReader(tmp_path)


def test_a_damaged_line_is_named_with_its_number(tmp_path: Path) -> None:
    write(tmp_path, record(1))
    with (tmp_path / RECORDS).open("ab") as file:
        file.write(b"garbage\n")
    with pytest.raises(InputError, match="line 2"):
        list(RunReader(tmp_path).heads())
