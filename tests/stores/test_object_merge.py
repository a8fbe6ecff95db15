"""Shards in an object store: merged from there, and merged to there."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from support.rows import row, write_rows
from support.verifying import timeless
from toolcert.api.endpoint import Endpoint
from toolcert.api.merge import merge
from toolcert.api.report import load_run
from toolcert.api.verify import verify
from toolcert.runs.location import list_runs, locate_run
from toolcert.simulate import Vendor
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.verify_options import VerifyOptions

pytestmark = [pytest.mark.needs("s3"), pytest.mark.heavy]


def test_shards_at_urls_are_merged_to_a_url_and_merged_again(tmp_path: Path, url: str) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(number) for number in range(20)])
    with Vendor(models=["faithful"]) as vendor:
        for shard in ("1/2", "2/2"):
            options = VerifyOptions(model="faithful", shard=shard, output=f"{url}/s{shard[0]}")
            verify(dataset, Endpoint(vendor.url), options)
        whole = verify(dataset, Endpoint(vendor.url), VerifyOptions(model="faithful", output=str(tmp_path / "whole")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merge(f"{url}/s1", output=f"{url}/all", allow_gaps=True)
    merge(f"{url}/s1", f"{url}/s2", output=f"{url}/all")
    summary = load_run(f"{url}/all").summary
    assert isinstance(summary, VerifySummary)
    assert timeless(summary) == timeless(whole.summary)
    # The merge begins when its first shard does, and stands at the same place in both orders.
    assert [locate_run(f"{url}/latest~{number}") for number in range(3)] == [one.folder for one in list_runs(url)]
