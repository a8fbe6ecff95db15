"""Names of runs, lists of runs, and marks about their cases."""

import subprocess
import sys
from pathlib import Path

import pytest

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, ToolcertWarning
from toolcert.core.records import Manifest, ProbeFacts, Record, RowFacts
from toolcert.runs.location import RunState, list_runs, locate_run
from toolcert.runs.marks import Mark, MarkKind, append_mark, read_marks
from toolcert.runs.writer import RECORDS, RunWriter, hold, write_manifest


def run(folder: Path, started_at: float, *, run: str = "0a1b2c3d", finished: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    finished_at = started_at + 1 if finished else None
    write_manifest(folder, Manifest(run=run, job="probe", started_at=started_at, toolcert="0", finished_at=finished_at))
    return folder


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs below toolcert-runs whose names are not in the order of their times."""
    monkeypatch.chdir(tmp_path)
    for name, started_at, id_ in (("b", 30.0, "000000b0"), ("c", 10.0, "000000c0"), ("a", 20.0, "000000a0")):
        run(Path("toolcert-runs", name), started_at, run=id_)
    return Path("toolcert-runs")


def test_latest_is_the_run_that_started_last_and_a_number_counts_back(runs: Path) -> None:
    assert [locate_run(name) for name in ("latest", "latest~1", "latest~2")] == [runs / "b", runs / "a", runs / "c"]
    with pytest.raises(InputError, match="no run latest~3: toolcert-runs holds 3"):
        locate_run("latest~3")


def test_a_run_is_found_by_its_id(runs: Path) -> None:
    assert locate_run("000000c0") == runs / "c"


def test_a_path_that_exists_comes_before_the_word(runs: Path) -> None:
    run(Path("latest"), 1.0)
    assert locate_run("latest") == Path("latest")
    assert locate_run(str(runs / "b")) == runs / "b"


def test_the_log_of_a_run_names_the_run(runs: Path) -> None:
    (runs / "b" / RECORDS).touch()
    assert locate_run(runs / "b" / RECORDS) == runs / "b"


@pytest.mark.parametrize("name", ["nothing", "x" * 5000, "a\0b", "", "latest~x", "ffffffff"])
def test_what_names_nothing_is_left_to_the_reader(runs: Path, name: str) -> None:
    assert locate_run(name) == Path(name)


def test_latest_without_any_run_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"no run latest: toolcert-runs holds none\. Name the folder"):
        locate_run("latest")


def test_a_list_of_runs_leaves_out_a_damaged_one_with_a_warning(runs: Path) -> None:
    (runs / "b" / "manifest.json").write_text("{")
    with pytest.warns(ToolcertWarning, match="left out"):
        found = list_runs(runs)
    assert [entry.folder.name for entry in found] == ["a", "c"]


def test_a_run_is_listed_by_its_own_folder_too(runs: Path) -> None:
    assert [entry.folder for entry in list_runs(runs / "a")] == [runs / "a"]
    assert list_runs(runs / "nowhere") == []


def test_the_state_says_whether_somebody_is_writing(runs: Path) -> None:
    run(runs / "b", 30.0, finished=False)
    assert list_runs(runs)[0].state is RunState.INTERRUPTED
    with hold(runs / "b"):
        assert list_runs(runs)[0].state is RunState.RUNNING
    assert list_runs(runs)[0].state is RunState.INTERRUPTED
    assert list_runs(runs)[1].state is RunState.FINISHED


def test_a_look_at_a_folder_writes_nothing_there(runs: Path) -> None:
    run(runs / "b", 30.0, finished=False)
    list_runs(runs)
    assert [path.name for path in (runs / "b").iterdir()] == ["manifest.json"]


def case(key: str = "e/m/basic/1") -> Record:
    return Record(
        case=key, endpoint="e", model="m", outcome=Outcome.FAILED, probe=ProbeFacts(probe="basic", iteration=1)
    )


def row(key: str, content: str) -> Record:
    return Record(case=key, endpoint="e", model="m", outcome=Outcome.FAILED, row=RowFacts(index=1, content=content))


def test_marks_are_kept_in_order_and_a_later_one_replaces_an_earlier(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    first = append_mark(path, Mark(case="a", kind=MarkKind.KNOWN, finding="stream.cut", note="ticket 4"))
    append_mark(path, Mark(case="b", kind=MarkKind.WRONG))
    assert first.at > 0
    assert [mark.case for mark in read_marks(path)] == ["a", "b"]
    append_mark(path, Mark(case="a", kind=MarkKind.WRONG, finding="stream.cut"))
    assert [(mark.case, mark.kind) for mark in read_marks(path)] == [("b", MarkKind.WRONG), ("a", MarkKind.WRONG)]


def test_a_mark_after_a_writer_that_was_killed_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    append_mark(path, Mark(case="a", kind=MarkKind.KNOWN))
    with path.open("ab") as file:
        file.write(b'{"case":"b","ki')
    assert [mark.case for mark in read_marks(path)] == ["a"]
    append_mark(path, Mark(case="c", kind=MarkKind.KNOWN))
    assert [mark.case for mark in read_marks(path)] == ["a", "c"]


_WRITER = """
import sys
from pathlib import Path
from toolcert.runs.marks import Mark, MarkKind, append_mark
for number in range(150):
    append_mark(Path(sys.argv[1]), Mark(case=f"{sys.argv[2]}-{number}", kind=MarkKind.KNOWN, note="x" * 3000))
    print(f"{sys.argv[2]}-{number}", flush=True)
"""


@pytest.mark.heavy
def test_marks_of_several_writers_survive_each_other_and_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), str(one)], stdout=subprocess.PIPE, text=True)
        for one in range(4)
    ]
    assert writers[0].stdout is not None
    writers[0].stdout.readline()  # they are at work
    writers[0].kill()
    writers[1].kill()
    said = {word for one in writers for word in one.communicate(timeout=180)[0].split()}
    said.discard("0-0")
    kept = {mark.case for mark in read_marks(path)}
    assert said <= kept
    assert {f"{one}-149" for one in (2, 3)} <= kept


def test_a_file_written_by_hand_needs_no_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    path.write_text('{"case":"a","kind":"known"}')
    append_mark(path, Mark(case="c", kind=MarkKind.KNOWN))
    assert [mark.case for mark in read_marks(path)] == ["a", "c"]


def test_a_line_that_is_no_mark_is_named(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    path.write_text('{"case":"a","kind":"known"}\n{"case":"b","kind":"fine"}\n')
    with pytest.raises(InputError, match=r"marks.jsonl, line 2: not a mark"):
        read_marks(path)
    assert read_marks(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize(
    ("marked", "covered"), [("e/m/basic/1", True), ("e/m/basic", True), ("e/m", True), ("e/m/bas", False), ("", False)]
)
def test_a_mark_speaks_of_a_case_or_of_all_below_a_key(marked: str, covered: bool) -> None:
    assert Mark(case=marked, kind=MarkKind.KNOWN).covers(case()) is covered


def test_a_mark_about_a_row_is_found_again_by_what_was_asked() -> None:
    mark = Mark(case="t1-aa", kind=MarkKind.KNOWN, content="c0ffee")
    assert mark.covers(row("t2-bb", "c0ffee"))
    assert not mark.covers(row("t2-bb", "c0ffe0"))


def test_a_mark_about_a_family_of_findings_excuses_its_members() -> None:
    mark = Mark(case="a", kind=MarkKind.KNOWN, finding="args.schema")
    assert mark.excuses("args.schema.required")
    assert not mark.excuses("args.invalid_json")
    assert Mark(case="a", kind=MarkKind.KNOWN).excuses("args.invalid_json")


def test_a_writer_waits_for_one_who_only_looks(tmp_path: Path) -> None:
    """A list of runs that is made at the same moment must not refuse a run its folder."""
    manifest = Manifest(run="r", job="probe", started_at=1.0, toolcert="0")
    RunWriter(tmp_path, manifest).close()
    for _ in range(3):
        assert list_runs(tmp_path)[0].state is RunState.INTERRUPTED
        RunWriter(tmp_path, manifest).close()
