"""`toolcert merge`: the union of shards is the run of one machine; what does not belong together is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

import toolcert
from support.rows import row, write_rows
from support.verifying import index_of, run, timeless
from toolcert.api.endpoint import Endpoint
from toolcert.api.merge import merge
from toolcert.api.probe import ProbeOptions, ProbeRun, probe
from toolcert.cli.main import cli
from toolcert.comparison.pipeline import compare
from toolcert.core.cases import Outcome
from toolcert.core.errors import ExitCode, InputError, UsageError
from toolcert.core.verdict import Word
from toolcert.runs.encoding import decode_record
from toolcert.runs.marks import MARKS, Mark, MarkKind, append_mark, read_marks
from toolcert.runs.reader import RunReader, read_manifest
from toolcert.runs.writer import MANIFEST, RECORDS
from toolcert.simulate import Vendor
from toolcert.verification.rejudgement import rejudge
from toolcert.verification.summary.tally import summarise

SHARDS = ("1/3", "2/3", "3/3")
PERSONAS = ("faithful", "text-caller", "json-fencer", "fault:args.schema.required", "no-tools")


@pytest.fixture(scope="module")
def vendor():
    with Vendor(models=[*PERSONAS, "flaky:7/10:text-caller"]) as one:
        yield one


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows of which two ask the same, with a tag, an expectation and a line that cannot be asked."""
    rows = [row(number, toolcert={"tags": ["a" if number % 2 else "b"]}) for number in range(30)]
    rows[7] = row(7, toolcert={"expected": {"call": False}})
    return write_rows(tmp_path_factory.mktemp("data") / "d.jsonl", [*rows, row(4), "no request"])


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, vendor: Vendor, dataset: str) -> list[Path]:
    """The finished runs of three shards; tests must not change them."""
    folder = tmp_path_factory.mktemp("three")
    for shard in SHARDS:
        run(dataset, vendor.url, folder / f"s{shard[0]}", shard=shard)
    return [folder / f"s{shard[0]}" for shard in SHARDS]


@pytest.fixture
def shards(three: list[Path], tmp_path: Path) -> list[Path]:
    """Copies of them, free to be changed."""
    return [Path(shutil.copytree(folder, tmp_path / folder.name)) for folder in three]


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def change(folder: Path, **fields: Any) -> None:
    """Change the manifest of a run."""
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_bytes()) | fields))


def lines(folder: Path) -> list[bytes]:
    return (folder / RECORDS).read_bytes().splitlines(keepends=True)


def judged(folder: Path) -> list[Any]:
    """Records in the order of the log, without what the clock decides."""
    found = []
    for line in lines(folder):
        record = decode_record(line)
        facts = record.row and msgspec.structs.replace(record.row, seconds=None, first_token=None)
        exchanges = [(one.request, one.status) for one in record.detail.exchanges]
        found.append((record.case, record.outcome, record.codes, facts, record.detail.findings, exchanges))
    return found


def test_the_merge_is_the_run_of_one_machine_in_the_order_of_the_dataset(
    tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]
) -> None:
    whole = run(dataset, vendor.url, tmp_path / "whole")
    merged = merge(*three, output=tmp_path / "all")
    assert judged(tmp_path / "all") == sorted(judged(tmp_path / "whole"), key=lambda one: one[3].index)
    assert timeless(merged.summary) == timeless(whole.summary) == timeless(summarise(tmp_path / "all"))
    one, other = read_manifest(tmp_path / "all"), read_manifest(tmp_path / "whole")
    for name in ("job", "endpoints", "dataset", "planned", "parameters", "shard", "has_stale_lines", "interrupted"):
        assert getattr(one, name) == getattr(other, name), name
    parts = [read_manifest(folder) for folder in three]
    assert [part.shard for part in one.parts] == list(SHARDS)
    assert [part.run for part in one.parts] == [part.run for part in parts]
    assert one.started_at == min(part.started_at for part in parts)
    assert one.finished_at == max(part.finished_at or 0 for part in parts)


def test_the_order_in_which_shards_are_named_does_not_matter(tmp_path: Path, three: list[Path]) -> None:
    merge(*three, output=tmp_path / "a")
    merge(*reversed(three), output=tmp_path / "b")
    assert lines(tmp_path / "a") == lines(tmp_path / "b")
    assert read_manifest(tmp_path / "a") == read_manifest(tmp_path / "b")


def test_a_merge_of_merges_equals_the_merge_of_all(tmp_path: Path, three: list[Path]) -> None:
    merge(*three, output=tmp_path / "all")
    with pytest.warns(toolcert.core.errors.ToolcertWarning, match="shard 3/3 is missing"):
        merge(*three[:2], output=tmp_path / "two", allow_gaps=True)
    merge(tmp_path / "two", three[2], output=tmp_path / "again")
    assert lines(tmp_path / "again") == lines(tmp_path / "all")
    assert read_manifest(tmp_path / "again").run == read_manifest(tmp_path / "all").run
    assert not read_manifest(tmp_path / "again").interrupted


def test_nothing_counts_twice(tmp_path: Path, three: list[Path]) -> None:
    """Not a folder that is named twice, nor a copy, nor a shard beside a merge that holds it."""
    merge(*three, output=tmp_path / "all")
    copy = shutil.copytree(three[0], tmp_path / "copy")
    with pytest.warns(toolcert.core.errors.ToolcertWarning, match="is given twice, and counts once"):
        merge(*three, three[1], output=tmp_path / "a")
    merge(*three, copy, output=tmp_path / "b")
    merge(tmp_path / "all", three[2], output=tmp_path / "c")
    assert lines(tmp_path / "a") == lines(tmp_path / "b") == lines(tmp_path / "c") == lines(tmp_path / "all")


def test_two_runs_of_one_shard_are_refused(tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]) -> None:
    run(dataset, vendor.url, tmp_path / "other", shard="2/3")
    with pytest.raises(InputError, match="are two runs of shard 2/3") as refusal:
        merge(*three, tmp_path / "other", output=tmp_path / "all")
    assert "Name the one that counts" in refusal.value.remedy
    assert not (tmp_path / "all").exists()


def test_copies_from_different_times_are_refused(tmp_path: Path, shards: list[Path]) -> None:
    copy = shutil.copytree(shards[0], tmp_path / "copy")
    first, *rest = lines(copy)
    (copy / RECORDS).write_bytes(b"".join([first.replace(b'"case"', b'"case" '), *rest]))
    with pytest.raises(InputError, match="disagree on row"):
        merge(*shards, copy, output=tmp_path / "all")
    assert not (tmp_path / "all" / RECORDS).exists()


@pytest.mark.parametrize(
    "other",
    [
        ({"model": "text-caller"}, "model was faithful, now text-caller"),
        ({"temperature": 0.5}, "temperature was not set, now 0.5"),
        ({"sample": 9}, "sample is None and 9"),
        ({"threshold": 0.9}, "threshold is 0.99 and 0.9"),
    ],
)
def test_shards_that_asked_otherwise_are_refused(
    tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path], other: tuple[dict[str, Any], str]
) -> None:
    options, told = other
    run(dataset, vendor.url, tmp_path / "other", shard="3/3", **options)
    with pytest.raises(InputError, match="are not shards of one run") as refusal:
        merge(*three[:2], tmp_path / "other", output=tmp_path / "all")
    assert told in refusal.value.message


def test_shards_of_another_dataset_endpoint_or_number_are_refused(
    tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]
) -> None:
    short = write_rows(tmp_path / "short.jsonl", [row(number) for number in range(9)])
    run(short, vendor.url, tmp_path / "dataset", shard="3/3")
    run(dataset, vendor.url, tmp_path / "number", shard="3/4")
    with Vendor(models=["faithful"]) as elsewhere:
        run(dataset, elsewhere.url, tmp_path / "endpoint", shard="3/3")
    for name, told in {
        "dataset": "their datasets differ",
        "number": "is shard 3/4: they were dealt in different ways",
        "endpoint": "endpoint was http",
    }.items():
        with pytest.raises(InputError, match=told):
            merge(*three[:2], tmp_path / name, output=tmp_path / "all")


def test_a_run_that_is_no_shard_and_a_folder_that_is_no_run_are_refused(
    tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]
) -> None:
    run(dataset, vendor.url, tmp_path / "whole", limit=2)
    with pytest.raises(InputError, match="is not a shard"):
        merge(*three, tmp_path / "whole", output=tmp_path / "all")
    with pytest.raises(InputError, match="is not a run of toolcert"):
        merge(*three, tmp_path, output=tmp_path / "all")
    with pytest.raises(UsageError, match="no run to merge"):
        merge(output=tmp_path / "all")


def test_gaps_are_refused_with_the_remedy(tmp_path: Path, shards: list[Path]) -> None:
    change(shards[1], finished_at=None)
    with pytest.raises(InputError) as refusal:
        merge(*shards[:2], output=tmp_path / "all")
    assert refusal.value.message == "shard 3/3 is missing; shard 2/3 has not finished."
    assert "--allow-gaps" in refusal.value.remedy
    assert not (tmp_path / "all").exists()


def test_a_log_that_was_not_copied_to_its_end_is_a_gap(tmp_path: Path, shards: list[Path]) -> None:
    log = shards[0] / RECORDS
    log.write_bytes(log.read_bytes()[:-10])
    with pytest.raises(InputError, match="was it copied to its end"):
        merge(*shards, output=tmp_path / "all")


def test_with_gaps_the_coverage_floor_keeps_the_gates_closed(tmp_path: Path, shards: list[Path]) -> None:
    result = call("merge", *shards[:2], "-o", tmp_path / "all", "--allow-gaps", "--require", "passes")
    assert result.exit_code == ExitCode.NOTHING_MEASURED, result.output
    assert "Warning: shard 3/3 is missing." in result.stderr
    assert "The gates cannot be judged: stopped at" in result.stderr
    assert read_manifest(tmp_path / "all").planned == 32
    assert call("merge", *shards[:2], "-o", tmp_path / "all", "--allow-gaps").exit_code == ExitCode.OK


def test_a_verdict_that_stands_without_the_missing_rows_says_that_they_are_missing(
    tmp_path: Path, dataset: str
) -> None:
    with Vendor(models=["fault:args.empty"]) as vendor:
        run(dataset, vendor.url, tmp_path / "one", shard="1/3", model="fault:args.empty")
    with pytest.warns(UserWarning, match="shards 2/3, 3/3 are missing"):
        merged = merge(tmp_path / "one", output=tmp_path / "all", allow_gaps=True).summary
    assert merged.verdict.word is Word.FAILS
    assert f"{32 - len(lines(tmp_path / 'all'))} rows of 32 are not in this run." in merged.lines


def test_merging_again_with_more_shards_replaces_the_earlier_merge(tmp_path: Path, shards: list[Path]) -> None:
    assert call("merge", *shards[:2], "-o", tmp_path / "all", "--allow-gaps").exit_code == ExitCode.OK
    assert call("merge", *shards, "-o", tmp_path / "all").exit_code == ExitCode.OK
    assert len(lines(tmp_path / "all")) == 32
    # The other way round a shard would be lost.
    result = call("merge", *shards[:2], "-o", tmp_path / "all", "--allow-gaps")
    assert result.exit_code == ExitCode.USAGE
    assert "cannot make again" in result.stderr
    assert len(lines(tmp_path / "all")) == 32


def test_no_run_is_replaced_that_the_shards_cannot_make_again(
    tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]
) -> None:
    run(dataset, vendor.url, tmp_path / "own", limit=3)
    before = lines(tmp_path / "own")
    with pytest.raises(InputError, match="cannot make again"):
        merge(*three, output=tmp_path / "own")
    assert lines(tmp_path / "own") == before
    with pytest.raises(UsageError, match="is one of the runs that are merged"):
        merge(*three, output=three[0])
    merge(*three, output=tmp_path / "own", fresh=True)
    assert len(lines(tmp_path / "own")) == 32


def test_a_merged_run_goes_on_like_any_other_and_is_then_no_longer_replaced(
    tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merge(*three[:2], output=tmp_path / "all", allow_gaps=True)
    asked = len(list(vendor.requests))
    gone_on = run(dataset, vendor.url, tmp_path / "all")
    assert len(list(vendor.requests)) - asked == len(lines(three[2])) - sum(
        b"dataset.not_json" in x for x in lines(three[2])
    )
    assert gone_on.summary.rows.lines == 32
    assert read_manifest(tmp_path / "all").parts == ()
    with pytest.raises(InputError, match="cannot make again"):
        merge(*three, output=tmp_path / "all")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("model", "gate", "code"),
    [
        ("faithful", ["--require", "passes"], ExitCode.OK),
        ("fault:args.schema.required", ["--fail-on", "args.schema.required"], ExitCode.FAILED),
        ("fault:args.schema.required", ["--fail-under", "schema=0.98"], ExitCode.FAILED),
        ("fault:args.schema.required", [], ExitCode.OK),
        ("faithful", ["--fail-under", "trigger=0.9"], ExitCode.USAGE),
        ("faithful", ["--fail-on", "no.such.code"], ExitCode.USAGE),
    ],
)
def test_gates_end_the_merge_as_they_would_have_ended_the_run(
    tmp_path: Path, vendor: Vendor, model: str, gate: Sequence[str], code: ExitCode
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(number) for number in range(12)])
    for shard in SHARDS:
        run(dataset, vendor.url, tmp_path / f"s{shard[0]}", model=model, shard=shard)
    folders = [tmp_path / f"s{shard[0]}" for shard in SHARDS]
    assert call("merge", *folders, "-o", tmp_path / "all", *gate).exit_code == code


def test_reports_are_written_and_the_result_is_printed(tmp_path: Path, three: list[Path]) -> None:
    files = [word for name in ("html", "json", "junit", "markdown", "csv") for word in (f"--{name}", tmp_path / name)]
    result = call("merge", *three, "-o", tmp_path / "all", *files)
    assert result.exit_code == ExitCode.OK, result.output
    assert "100.0 % of the answers with calls are valid (31/31" in result.stdout
    assert json.loads((tmp_path / "json").read_bytes())["summary"]["rows"]["lines"] == 32
    assert all((tmp_path / name).stat().st_size for name in ("html", "junit", "markdown", "csv"))


def test_every_reader_takes_the_merged_run(tmp_path: Path, vendor: Vendor, dataset: str, three: list[Path]) -> None:
    """Comparison with a blessed baseline, judging again, single rows."""
    run(dataset, vendor.url, tmp_path / "whole")
    merge(*three, output=tmp_path / "all")
    assert compare([str(tmp_path / "whole")], [str(tmp_path / "all")]).vendors[0].missing.rows == 0
    assert rejudge(tmp_path / "all").summary.rows.lines == 32
    assert call("bless", tmp_path / "all", "--as", "b", "--baselines", tmp_path / "kept").exit_code == ExitCode.OK
    compared = call("compare", "--baseline", "b", "--vendor", tmp_path / "whole", "--baselines", tmp_path / "kept")
    assert compared.exit_code == ExitCode.OK, compared.output
    assert call("show", tmp_path / "all", "5").exit_code == ExitCode.OK


def test_a_row_that_was_asked_again_counts_once_by_its_last_answer(tmp_path: Path, vendor: Vendor) -> None:
    rows = [row(number, toolcert={"expected": {"call": False}}) for number in range(9)]
    dataset = write_rows(tmp_path / "d.jsonl", rows)
    folders = [tmp_path / f"s{shard[0]}" for shard in SHARDS]
    for folder, shard in zip(folders, SHARDS, strict=True):
        for again in (False, True):
            run(dataset, vendor.url, folder, shard=shard, only_failed=again)
    assert sum(len(lines(folder)) for folder in folders) == 18
    merged = merge(*folders, output=tmp_path / "all")
    assert [index_of(record) for record in RunReader(tmp_path / "all").records()] == list(range(1, 10))
    assert merged.summary.rows.failed == 9


def test_shards_without_a_row_are_merged(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(0)])
    folders = [tmp_path / f"s{shard[0]}" for shard in SHARDS]
    for folder, shard in zip(folders, SHARDS, strict=True):
        run(dataset, vendor.url, folder, shard=shard)
    (next(folder for folder in folders if not lines(folder)) / RECORDS).unlink()
    assert merge(*folders, output=tmp_path / "all").summary.rows.sent == 1


@pytest.mark.parametrize("bad", [b"garbage\n", b'{"code":"zz"}\n', b"{}\n", b'{"code":"' + b"0" * 52 + b'","x":[[\n'])
def test_a_damaged_line_is_named_and_an_earlier_merge_stays(tmp_path: Path, shards: list[Path], bad: bytes) -> None:
    merge(*shards, output=tmp_path / "all")
    before = lines(tmp_path / "all")
    log = shards[1] / RECORDS
    log.write_bytes(b"".join([*lines(shards[1])[:-1], bad]))
    result = call("merge", *shards, "-o", tmp_path / "all")
    assert result.exit_code == ExitCode.USAGE, result.output
    assert "not a record of a toolcert run" in result.stderr
    assert lines(tmp_path / "all") == before
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == [".lock", MANIFEST, RECORDS]


@pytest.mark.parametrize("shard", ["0/0", "x", "9/3", "\x1b[31m"])
def test_a_manifest_with_an_impossible_shard_is_damaged(tmp_path: Path, shards: list[Path], shard: str) -> None:
    change(shards[0], shard=shard)
    result = call("merge", *shards, "-o", tmp_path / "all")
    assert result.exit_code == ExitCode.USAGE
    assert "is damaged: it names a shard" in result.stderr
    assert "\x1b" not in result.stderr


def test_marks_of_all_shards_are_marks_of_the_merge(tmp_path: Path, shards: list[Path]) -> None:
    for number, folder in enumerate(shards):
        append_mark(folder / MARKS, Mark(case=f"case {number}", kind=MarkKind.KNOWN))
    merge(*shards, output=tmp_path / "all")
    append_mark(tmp_path / "all" / MARKS, Mark(case="case 1", kind=MarkKind.WRONG))
    merge(*shards, output=tmp_path / "all")
    kinds = {mark.case: mark.kind for mark in read_marks(tmp_path / "all" / MARKS)}
    assert kinds == {"case 0": MarkKind.KNOWN, "case 1": MarkKind.WRONG, "case 2": MarkKind.KNOWN}


def test_the_summary_of_the_merge_knows_the_marks(tmp_path: Path, shards: list[Path]) -> None:
    failed = [
        (folder, head.case) for folder in shards for head in RunReader(folder).heads() if head.outcome is Outcome.FAILED
    ]
    (folder, case), *_ = failed
    append_mark(folder / MARKS, Mark(case=case, kind=MarkKind.KNOWN))
    merged = merge(*shards, output=tmp_path / "all").summary
    assert [mark.cases for mark in merged.marks] == [1]
    assert timeless(merged) == timeless(summarise(tmp_path / "all"))


def test_merge_needs_an_output_and_knows_nothing_of_shards_of_its_own(three: list[Path]) -> None:
    assert "merge needs --output" in call("merge", *three).stderr
    assert call("merge", "-o", "x").exit_code == ExitCode.USAGE


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory, vendor: Vendor) -> list[Path]:
    """A probe run in three shards; tests must not change them."""
    folder = tmp_path_factory.mktemp("probed")
    for shard in SHARDS:
        probe_some(vendor, folder / f"s{shard[0]}", shard=shard)
    return [folder / f"s{shard[0]}" for shard in SHARDS]


def probe_some(vendor: Vendor, output: Path, **options: Any) -> ProbeRun:
    given: dict[str, Any] = {"model": PERSONAS, "suite": "quick", "iterations": 3, "seed": 5} | options
    return probe(Endpoint(vendor.url, name="here"), options=ProbeOptions(output=str(output), **given))


def verdicts(result: Any) -> dict[str, Any]:
    return {
        model.model: (model.verdict, model.score, model.counts, [(one.code, one.count) for one in model.findings])
        for model in result.summary.models
    }


def test_the_merge_of_a_probe_run_says_what_one_machine_would_say(
    tmp_path: Path, vendor: Vendor, probed: list[Path]
) -> None:
    whole = probe_some(vendor, tmp_path / "whole")
    merged = merge(*probed, output=tmp_path / "all")
    assert verdicts(merged) == verdicts(whole)
    cases = [
        sorted(head.case for head in RunReader(folder).heads()) for folder in (tmp_path / "all", tmp_path / "whole")
    ]
    assert cases[0] == cases[1]
    moments = [head.at for head in RunReader(tmp_path / "all").heads()]
    assert moments == sorted(moments)
    one, other = read_manifest(tmp_path / "all"), read_manifest(tmp_path / "whole")
    for name in ("job", "endpoints", "suite", "probes", "iterations", "parameters", "planned", "shard", "partial"):
        assert getattr(one, name) == getattr(other, name), name
    assert {info.id for info in next(iter(one.models.values()))} == set(PERSONAS)


@pytest.mark.heavy
def test_an_adaptive_probe_run_is_merged_to_what_one_machine_would_say(tmp_path: Path, vendor: Vendor) -> None:
    how = {"adaptive": True, "iterations": 12, "model": (*PERSONAS, "flaky:7/10:text-caller")}
    whole = probe_some(vendor, tmp_path / "whole", **how)
    folders = [tmp_path / f"s{shard[0]}" for shard in SHARDS]
    for folder, shard in zip(folders, SHARDS, strict=True):
        probe_some(vendor, folder, shard=shard, **how)
    merged = merge(*folders, output=tmp_path / "all")
    steady = [name for name in verdicts(whole) if not name.startswith("flaky")]
    assert {name: verdicts(merged)[name] for name in steady} == {name: verdicts(whole)[name] for name in steady}
    assert set(verdicts(merged)) == set(verdicts(whole))


def test_probe_shards_that_saw_different_models_are_refused(tmp_path: Path, probed: list[Path], vendor: Vendor) -> None:
    probe_some(vendor, tmp_path / "s3", shard="3/3", model=PERSONAS[:2])
    with pytest.raises(InputError, match="do not agree on the number of cases"):
        merge(*probed[:2], tmp_path / "s3", output=tmp_path / "all")


@pytest.mark.parametrize(
    ("options", "told"), [({"iterations": 4}, "iterations differ"), ({"suite": "hello"}, "suite differ")]
)
def test_probe_shards_of_other_plans_are_refused(
    tmp_path: Path, probed: list[Path], vendor: Vendor, options: dict[str, Any], told: str
) -> None:
    probe_some(vendor, tmp_path / "s3", shard="3/3", **options)
    with pytest.raises(InputError, match=told):
        merge(*probed[:2], tmp_path / "s3", output=tmp_path / "all")


def test_probe_gates_and_history_work_on_the_merge(tmp_path: Path, probed: list[Path]) -> None:
    failed = call("merge", *probed, "-o", tmp_path / "all", "--require", "passes")
    assert failed.exit_code == ExitCode.FAILED, failed.output
    assert call("merge", *probed, "-o", tmp_path / "all").exit_code == ExitCode.OK
    store = f"sqlite:///{tmp_path / 'h.db'}"
    assert call("history", "add", tmp_path / "all", "--history", store).exit_code == ExitCode.OK


def test_a_probe_merge_without_a_shard_keeps_its_gates_closed(tmp_path: Path, probed: list[Path]) -> None:
    fullest = max(probed, key=lambda folder: len(lines(folder)))
    rest = [folder for folder in probed if folder != fullest]
    result = call("merge", *rest, "-o", tmp_path / "all", "--allow-gaps", "--fail-on", "error")
    assert result.exit_code == ExitCode.NOTHING_MEASURED, result.output
    assert "are in shards that are missing" in result.stderr


@pytest.mark.heavy
def test_a_merge_that_is_killed_leaves_the_earlier_one_and_can_be_repeated(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n, filler="x" * 40_000) for n in range(500)])
    folders = [tmp_path / f"s{shard[0]}" for shard in SHARDS]
    for folder, shard in zip(folders, SHARDS, strict=True):
        run(dataset, vendor.url, folder, shard=shard)
    whole = merge(*folders, output=tmp_path / "all").summary
    before = (tmp_path / "all" / RECORDS).read_bytes()
    command = [sys.executable, "-m", "toolcert", "merge", *map(str, folders), "-o", str(tmp_path / "all")]
    for pause in (0.5, 0.8):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(pause)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert (tmp_path / "all" / RECORDS).read_bytes() == before
        assert read_manifest(tmp_path / "all").parts
    assert timeless(merge(*folders, output=tmp_path / "all").summary) == timeless(whole)
    assert not list((tmp_path / "all").glob(".records*"))
    assert all(record.outcome is Outcome.PASSED for record in RunReader(tmp_path / "all").heads())


def test_a_shard_under_another_name_is_a_gap(tmp_path: Path, shards: list[Path]) -> None:
    small, large = sorted(shards, key=lambda folder: len(lines(folder)))[::2]
    number = read_manifest(large).shard
    shutil.rmtree(large)
    shutil.copytree(small, large)
    change(large, shard=number, run="another")
    with pytest.raises(InputError, match="fell to none of these shards"):
        merge(*shards, output=tmp_path / "all")


def test_runs_and_diff_tell_that_a_run_is_a_shard(tmp_path: Path, shards: list[Path]) -> None:
    listed = json.loads(call("runs", tmp_path, "--json").stdout)
    assert sorted(one["about"].rpartition(", ")[2] for one in listed) == [f"shard {shard}" for shard in SHARDS]
    merge(*shards, output=tmp_path / "all")
    assert "asked differently: shard 1/3 → not set" in call("diff", shards[0], tmp_path / "all").stdout
