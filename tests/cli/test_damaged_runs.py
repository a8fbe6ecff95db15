"""Runs that were changed, joined, damaged or made by a later version: told, never a crash, never counted twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from support.rows import row, write_rows
from support.terminal import run_here as run
from toolcert.core.errors import ExitCode
from toolcert.simulate import Vendor


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a verify run `v` and a probe run `p`, both finished."""
    folder = tmp_path_factory.mktemp("made")
    write_rows(folder / "d.jsonl", [row(n) for n in range(3)])
    with Vendor(models=["fault:args.schema.required"]) as vendor:
        verify = ["verify", "d.jsonl", "--base-url", vendor.url, "-m", "fault:args.schema.required", "-q", "-o", "v"]
        assert run(*verify, cwd=folder).returncode == ExitCode.OK
        probe = ["probe", vendor.url, "-s", "quick", "-n", "2", "-q", "-o", "p"]
        assert run(*probe, cwd=folder).returncode == ExitCode.OK
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    for name in ("v", "p"):
        copytree(made / name, tmp_path / name)
    copytree(made / "v", tmp_path / "pristine")
    return tmp_path


READERS = [
    ["report", "v", "--html", "v.html", "--markdown", "v.md", "--junit", "v.xml", "--csv", "v.csv", "--json", "v.json"],
    ["verify", "--from", "v", "--html", "w.html", "--csv", "w.csv"],
    ["show", "v", "1"],
    ["compare", "--baseline", "pristine", "--vendor", "v", "--html", "c.html"],
    ["report", "p", "--html", "p.html", "--markdown", "p.md", "--junit", "p.xml", "--csv", "p.csv", "--json", "p.json"],
    ["history", "add", "p", "--history", "h.sqlite"],
]


def change_lines(log: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        change(line)
    log.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def of_later_version(line: dict[str, Any]) -> None:
    line["codes"] = ["future.marvel", *line.get("codes", ())]
    found = {"code": "future.marvel", "severity": "error", "evidence": "new"}
    line["detail"]["findings"] = [found, *line["detail"].get("findings", ())]


@pytest.mark.heavy
@pytest.mark.parametrize("words", READERS, ids=lambda words: " ".join(words[:2]))
def test_a_code_that_only_a_later_version_knows_is_shown_as_such(folder: Path, words: list[str]) -> None:
    for name in ("v", "p"):
        change_lines(folder / name / "records.jsonl", of_later_version)
    result = run(*words, cwd=folder)
    assert result.returncode == ExitCode.OK, result.stderr
    if words[0] == "report":
        assert "future.marvel" in (folder / f"{words[1]}.md").read_text()
    elif words[0] == "show":
        assert "A code that this version of toolcert does not know." in result.stdout


@pytest.mark.heavy
@pytest.mark.parametrize("words", READERS[:5], ids=lambda words: " ".join(words[:2]))
def test_doubled_lines_are_told_and_counted_once(folder: Path, words: list[str]) -> None:
    before = run(*words, cwd=folder)
    for name in ("v", "p"):
        log = folder / name / "records.jsonl"
        log.write_bytes(log.read_bytes() * 2)
    after = run(*words, cwd=folder)
    assert after.stdout == before.stdout
    assert "every case counts once" in after.stderr
    assert "every case counts once" not in before.stderr


@pytest.mark.heavy
def test_a_run_with_doubled_lines_is_continued_and_then_known_to_have_them(folder: Path) -> None:
    log = folder / "v/records.jsonl"
    log.write_bytes(log.read_bytes() * 2)
    write_rows(folder / "d.jsonl", [row(n) for n in range(5)])
    manifest = json.loads((folder / "v/manifest.json").read_text())
    with Vendor(models=["fault:args.schema.required"], port=_port(manifest)) as vendor:
        words = ["verify", "d.jsonl", "--base-url", vendor.url, "-m", "fault:args.schema.required", "-q", "-o", "v"]
        result = run(*words, cwd=folder)
        assert len(list(vendor.requests)) == 2
    assert "5 requests" in result.stdout
    assert json.loads((folder / "v/manifest.json").read_text())["has_stale_lines"] is True


def _port(manifest: dict[str, Any]) -> int:
    address = manifest["endpoints"][0]["base_url"]
    return int(address.rpartition(":")[2].partition("/")[0])


DAMAGE: dict[str, Callable[[dict[str, Any]], None]] = {
    "an exchange without a request": lambda line: line["detail"]["exchanges"][0].pop("request"),
    "a finding of no severity": lambda line: line["detail"].update(findings=[{"code": "a", "severity": "worst"}]),
    "findings that are none": lambda line: line["detail"].update(findings=5),
    "an expectation of another shape": lambda line: line["detail"].update(expected=5),
    "a status in words": lambda line: line["detail"]["exchanges"][0].update(status="fine"),
    "an answer in no encoding": lambda line: line["detail"]["exchanges"][0].update(response_bytes="%%%"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("words", READERS[:4], ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("name", DAMAGE)
def test_damage_inside_the_evidence_is_named_or_does_not_matter(folder: Path, name: str, words: list[str]) -> None:
    change_lines(folder / "v/records.jsonl", DAMAGE[name])
    result = run(*words, cwd=folder)
    assert result.returncode in (ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE), result.stderr
    assert "Traceback" not in result.stderr
    if result.returncode == ExitCode.USAGE:
        assert result.stderr.startswith("Error: ")


@pytest.mark.heavy
@pytest.mark.parametrize("words", [READERS[0], READERS[4]], ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("damage", [{"endpoints": []}, {"started_at": 1e308}, {"parameters": {"threshold": []}}])
def test_a_changed_manifest_is_a_sentence_or_does_not_matter(
    folder: Path, damage: dict[str, object], words: list[str]
) -> None:
    path = folder / words[1] / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    result = run(*words, cwd=folder)
    assert result.returncode in (ExitCode.OK, ExitCode.USAGE), result.stderr
