"""A run folder that somebody sent: reading, marking or continuing it writes nothing outside of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from toolcert.cli.main import cli
from toolcert.core.errors import ExitCode, InputError, OutputError
from toolcert.runs.marks import MARKS
from toolcert.runs.reader import read_manifest
from toolcert.runs.resume import SUPERSEDED
from toolcert.runs.writer import hold
from toolcert.simulate import Vendor

FAULT = "fault:args.schema.required"
OWN = "precious\nwithout an end"
links = pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A verify run `v` and a probe run `p`."""
    folder = tmp_path_factory.mktemp("made")
    dataset = write_rows(folder / "d.jsonl", [row(n) for n in range(3)])
    with Vendor(models=[FAULT]) as vendor:
        call("verify", dataset, "--base-url", vendor.url, "-m", FAULT, "-q", "-o", folder / "v")
        call("probe", vendor.url, "-s", "quick", "-n", "2", "-q", "-o", folder / "p")
    return folder


@pytest.fixture
def sent(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runs in a folder, with a file of the user beside it."""
    folder = copytree(made, tmp_path / "sent" / "here")
    (tmp_path / "own").write_text(OWN)
    monkeypatch.chdir(folder)
    return folder


def change_lines(log: Path, change: Callable[[dict[str, Any]], object]) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        line.pop("code", None)
        change(line)
    log.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


@pytest.mark.parametrize("code", ["../../../x", "ABSOLUTE", "..", ".x", "a/b"])
def test_a_code_is_no_path(sent: Path, code: str) -> None:
    code = str(sent.parent / "x") if code == "ABSOLUTE" else code
    found = [{"code": code, "severity": "error", "evidence": "e"}]
    change_lines(
        sent / "p/records.jsonl", lambda line: line.update(codes=[code], detail=line["detail"] | {"findings": found})
    )
    rmtree(sent / "p/examples")
    before = sorted(sent.parent.parent.rglob("*"))
    result = call("report", "p")
    assert result.exit_code == ExitCode.OK, result.output
    assert sorted(sent.parent.parent.rglob("*")) == before


NAMES = [".lock", "records.jsonl", "manifest.json", SUPERSEDED, MARKS, ".records.merged"]


def timed(line: dict[str, Any], seconds: float) -> None:
    line["detail"]["exchanges"][0]["attempts"][0]["timing"]["last_byte"] = seconds


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a call without a digest": lambda line: line["row"].update(calls=["=1+1"]),
    "a negative digest": lambda line: line["row"].update(content="-1", sampling="-1", turns=-1),
    "more time than there is": lambda line: line["row"].update(seconds=1e308, first_token=1e308),
    "less than no time": lambda line: line["row"].update(seconds=-1),
    "no time at all in an attempt": lambda line: timed(line, -1),
    "messages that are a number": lambda line: line["detail"]["exchanges"][0]["request"]["body"].update(messages=5),
}
COMMANDS = ["report v", "verify --from v -q", "diff v w", "compare --baseline w --vendor v", "runs .", "show v 1"]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_record_is_read_or_named(sent: Path, change: str, command: str) -> None:
    copytree(sent / "v", sent / "w")
    change_lines(sent / "v/records.jsonl", CHANGES[change])
    result = call(*command.split())
    assert result.exit_code in (ExitCode.OK, ExitCode.USAGE, ExitCode.NOTHING_MEASURED), result.output


def test_a_result_of_an_older_tool_that_took_less_than_no_time_has_no_time(tmp_path: Path) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    choice = {"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    result = {"data_index": 1, "request": request, "response": {"choices": [choice]}, "duration_ms": -5}
    (tmp_path / "results.jsonl").write_text(json.dumps(result | {"status": "success", "hash": "a"}) + "\n")
    assert call("report", tmp_path / "results.jsonl").exit_code == ExitCode.OK


@links
@pytest.mark.parametrize("name", NAMES)
def test_no_run_is_continued_through_a_link(sent: Path, name: str) -> None:
    (sent / "v" / name).unlink(missing_ok=True)
    (sent / "v" / name).symlink_to(sent.parent.parent / "own")
    with pytest.raises(OutputError, match="is a link"):
        hold(sent / "v")


@links
def test_no_mark_is_written_through_a_link(sent: Path) -> None:
    own = sent.parent.parent / "own"
    (sent / "v" / MARKS).symlink_to(own)
    result = call("mark", "v", 1, "--known")
    assert result.exit_code == ExitCode.USAGE
    assert own.read_text() == OWN


@links
@pytest.mark.parametrize("name", ["examples", f"examples/{FAULT.removeprefix('fault:')}.json"])
def test_a_report_leads_no_example_through_a_link(sent: Path, name: str) -> None:
    own = sent.parent.parent / "own"
    link = sent / "p" / name
    rmtree(link) if link.is_dir() else link.unlink()
    link.symlink_to(own.parent if name == "examples" else own)
    before = sorted(own.parent.iterdir())
    result = call("report", "p")
    assert result.exit_code == ExitCode.OK, result.output
    assert own.read_text() == OWN
    assert sorted(own.parent.iterdir()) == before


@links
@pytest.mark.parametrize("name", NAMES)
def test_nobody_waits_for_a_pipe_in_place_of_a_file(sent: Path, name: str) -> None:
    (sent / "v" / name).unlink(missing_ok=True)
    os.mkfifo(sent / "v" / name)
    with pytest.raises(InputError, match="is no file"):
        read_manifest(sent / "v")


@links
@pytest.mark.parametrize("name", [".lock", "records.jsonl", MARKS])
def test_no_run_is_continued_into_a_pipe(sent: Path, name: str) -> None:
    (sent / "v" / name).unlink(missing_ok=True)
    os.mkfifo(sent / "v" / name)
    with pytest.raises(OutputError, match="is no file"):
        hold(sent / "v")


@links
def test_nobody_waits_for_a_pipe_in_place_of_marks(sent: Path) -> None:
    os.mkfifo(sent / "v" / MARKS)
    assert call("verify", "--from", "v", "-q").exit_code == ExitCode.USAGE


@links
@pytest.mark.parametrize("name", ["records.jsonl", MARKS])
def test_nothing_is_appended_to_a_file_that_has_a_second_name(sent: Path, name: str) -> None:
    own = sent.parent.parent / "own"
    (sent / "v" / name).unlink(missing_ok=True)
    (sent / "v" / name).hardlink_to(own)
    with pytest.raises(OutputError, match="hard link"):
        hold(sent / "v")
    call("mark", "v", 1, "--known")
    assert own.read_text() == OWN


READERS = [
    "report v",
    "verify --from v",
    "diff v w",
    "compare --baseline w --vendor v",
    "mark v 1 --known",
]


@pytest.mark.parametrize("command", READERS)
def test_a_line_that_would_fill_the_memory_is_refused(
    sent: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copytree(sent / "v", sent / "w")
    monkeypatch.setattr("toolcert.runs.reader.LONGEST_LINE", 1 << 20)
    with (sent / "v/records.jsonl").open("ab") as log:
        log.truncate(log.tell() + (2 << 20))
    result = call(*command.split())
    assert result.exit_code == ExitCode.USAGE, result.output
    assert "line 4: longer than 1 MiB" in result.output


def test_records_put_aside_by_an_earlier_version_that_are_damaged_are_named(sent: Path) -> None:
    (sent / "v" / SUPERSEDED).write_text("precious\n")
    result = call("verify", "d.jsonl", "--base-url", "http://127.0.0.1:9/v1", "-m", FAULT, "-o", "v")
    assert result.exit_code == ExitCode.USAGE, result.output


def test_a_manifest_that_would_fill_the_memory_is_refused(sent: Path) -> None:
    with (sent / "v/manifest.json").open("ab") as manifest:
        manifest.truncate(1 << 29)  # a hole: it takes no space on the disk
    result = call("report", "v")
    assert result.exit_code == ExitCode.USAGE
    assert "larger than 256 MiB" in result.output


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file of Linux that cannot be read")
@pytest.mark.parametrize("command", READERS)
def test_a_disk_that_fails_while_a_run_is_read_is_one_sentence(sent: Path, command: str) -> None:
    copytree(sent / "v", sent / "w")
    (sent / "v/records.jsonl").unlink()
    (sent / "v/records.jsonl").symlink_to("/proc/self/mem")
    result = call(*command.split())
    assert result.exit_code == ExitCode.USAGE, result.output
    assert "Input/output error" in result.output


@pytest.mark.parametrize("command", ["report v --html page", "diff v w --html page", "report p --html page"])
def test_pages_show_the_controls_in_a_code_as_signs(sent: Path, command: str) -> None:
    copytree(sent / "v", sent / "w")
    code = "args.\x1b]0;t\x07\x9b\u202e<b>"
    found = [{"code": code, "severity": "error", "evidence": "e"}]
    for run in ("v", "p"):
        change_lines(
            sent / run / "records.jsonl",
            lambda line: line.update(codes=[code], detail=line["detail"] | {"findings": found}),
        )
    assert call(*command.split()).exit_code == ExitCode.OK
    page = (sent / "page").read_text()
    assert not set("\x1b\x07\x9b\u202e") & set(page)
    assert "\\u202e&lt;b&gt;" in page
