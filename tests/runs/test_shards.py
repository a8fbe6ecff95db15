"""Shards: every case falls to one of them, whatever the order, and a run of one keeps to its share."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from support.verifying import records, run
from toolcert.api.endpoint import Endpoint
from toolcert.api.probe import ProbeOptions, probe
from toolcert.cli.main import cli
from toolcert.core.cases import Shard
from toolcert.core.errors import ExitCode, InputError, UsageError
from toolcert.runs.reader import RunReader, read_manifest
from toolcert.simulate import Vendor
from toolcert.verification.verify_options import VerifyOptions

ALL = [f"{number}/3" for number in (1, 2, 3)]
MODELS = ["faithful", "text-caller", "json-fencer", "fault:args.empty", "fault:args.schema.required"]


@pytest.fixture(scope="module")
def vendor():
    with Vendor(models=MODELS) as one:
        yield one


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def cases(folder: Path) -> set[str]:
    return {head.case for head in RunReader(folder).heads()}


def lines(folder: Path) -> set[int]:
    return {head.row.index for head in RunReader(folder).heads() if head.row is not None}


def test_every_key_falls_to_exactly_one_shard_and_all_get_about_as_many() -> None:
    shards = [Shard(index=index, count=8) for index in range(1, 9)]
    keys = [f"key {number}" for number in range(4000)]
    shares = [[key for key in keys if shard.takes(key)] for shard in shards]
    assert sorted(key for share in shares for key in share) == sorted(keys)
    assert all(400 < len(share) < 600 for share in shares)


def test_a_key_falls_to_the_same_shard_in_every_process_and_version() -> None:
    dealt = [key for key in ("a", "b", "c", "d", "e", "\ud800") if Shard.parse("1/4").takes(key)]
    assert dealt == ["\ud800"]


@pytest.mark.parametrize("text", ["", "0/3", "4/3", "1", "1/", "/3", "a/b", "-1/3", "1/0", "1/1000001", "٣/8"])
def test_what_is_no_shard_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as 2/8"):
        Shard.parse(text)


@pytest.mark.heavy
def test_the_shards_of_a_dataset_have_each_row_once_and_plan_their_own(tmp_path: Path, vendor: Vendor) -> None:
    # Rows that ask the same, and a line that cannot be asked, are dealt as well.
    dataset = write_rows(tmp_path / "d.jsonl", [*map(row, range(20)), row(3), row(3), "not json", "not json"])
    for number, shard in enumerate(ALL):
        run(dataset, vendor.url, tmp_path / f"s{number}", shard=shard)
    whole = run(dataset, vendor.url, tmp_path / "whole")
    folders = [tmp_path / f"s{number}" for number in range(3)]
    manifests = [read_manifest(folder) for folder in folders]
    assert [manifest.shard for manifest in manifests] == ALL
    assert [manifest.planned for manifest in manifests] == [len(lines(folder)) for folder in folders]
    assert {manifest.planned_by_all for manifest in manifests} == {24}
    assert sorted(case for folder in folders for case in cases(folder)) == sorted(cases(tmp_path / "whole"))
    assert whole.summary.rows.lines == 24


def test_a_row_stays_in_its_shard_when_the_dataset_is_shuffled_so_nothing_is_asked_again(
    tmp_path: Path, vendor: Vendor
) -> None:
    rows = [row(number) for number in range(12)]
    dataset = write_rows(tmp_path / "d.jsonl", rows)
    run(dataset, vendor.url, tmp_path / "s", shard="1/3")
    before, asked = cases(tmp_path / "s"), len(list(vendor.requests))
    random.Random(4).shuffle(rows)
    run(write_rows(tmp_path / "d.jsonl", rows), vendor.url, tmp_path / "s", shard="1/3")
    assert cases(tmp_path / "s") == before
    assert len(list(vendor.requests)) == asked


def test_the_sample_is_drawn_before_the_rows_are_dealt(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(number) for number in range(30)])
    for number, shard in enumerate(ALL):
        run(dataset, vendor.url, tmp_path / f"s{number}", shard=shard, sample=9, seed=2)
    run(dataset, vendor.url, tmp_path / "whole", sample=9, seed=2)
    dealt = [line for number in range(3) for line in lines(tmp_path / f"s{number}")]
    assert sorted(dealt) == sorted(lines(tmp_path / "whole"))


def test_a_folder_of_another_shard_is_refused(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(number) for number in range(3)])
    run(dataset, vendor.url, tmp_path / "s", shard="1/3")
    for other in ("2/3", "1/4", None):
        with pytest.raises(InputError, match="holds another run: shard was 1/3, now"):
            run(dataset, vendor.url, tmp_path / "s", shard=other)


def test_a_shard_without_a_row_ends_well(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row()])
    results = [
        call("verify", dataset, "--base-url", vendor.url, "-m", "faithful", "-o", tmp_path / shard[0], "--shard", shard)
        for shard in ALL
    ]
    assert [result.exit_code for result in results] == [ExitCode.OK] * 3
    assert sum("No row falls to shard" in result.stderr for result in results) == 2
    assert sum(len(records(tmp_path / shard[0])) for shard in ALL) == 1


def test_gates_are_refused_for_a_shard_and_left_to_merge_where_a_variable_sets_them(
    tmp_path: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row()])
    command = ["verify", dataset, "--base-url", vendor.url, "-m", "fault:args.empty", "--shard", "1/1"]
    refused = call(*command, "-o", tmp_path / "a", "--require", "passes")
    assert refused.exit_code == ExitCode.USAGE
    assert "give it to `toolcert merge`" in refused.stderr
    assert not (tmp_path / "a").exists()
    monkeypatch.setenv("TOOLCERT_REQUIRE", "passes")
    assert call(*command, "-o", tmp_path / "b").exit_code == ExitCode.OK
    with pytest.raises(UsageError, match="toolcert merge"):
        VerifyOptions(model="m", shard="1/2", require="passes")


def test_the_models_of_an_endpoint_are_dealt_whole(tmp_path: Path, vendor: Vendor) -> None:
    seen: list[str] = []
    for number, shard in enumerate(ALL):
        options = ProbeOptions(suite="quick", iterations=2, shard=shard, output=str(tmp_path / f"s{number}"))
        summary = probe(Endpoint(vendor.url), options=options).summary
        manifest = read_manifest(tmp_path / f"s{number}")
        assert manifest.shard == shard
        assert manifest.planned_by_all == len(MODELS) * 2 * len(manifest.probes)
        assert manifest.planned == len(summary.models) * 2 * len(manifest.probes)
        seen += [model.model for model in summary.models]
    assert sorted(seen) == sorted(MODELS)


def test_a_shard_without_a_model_ends_well(tmp_path: Path, vendor: Vendor) -> None:
    codes = {
        call(
            "probe", vendor.url, "-m", "faithful", "-s", "quick", "-n", "1", "-o", tmp_path / shard[0], "--shard", shard
        ).exit_code
        for shard in ALL
    }
    assert codes == {ExitCode.OK}
