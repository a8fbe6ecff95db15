"""The same dataset through every dialect."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.rows import row, write_rows
from support.verifying import records, run
from toolcert.core.cases import Outcome
from toolcert.runs.reader import RunReader
from toolcert.simulate.litellm_proxy import LiteLlmVendor
from toolcert.simulate.watsonx import WatsonxVendor
from toolcert.verification.rejudgement import rejudge

GRANITE = "ibm/granite-3-3-8b-instruct"


@pytest.fixture
def dataset(tmp_path: Path) -> str:
    return write_rows(tmp_path / "d.jsonl", [row(1, tool_choice="auto"), row(2, stream=True)])


def test_watsonx(tmp_path: Path, dataset: str) -> None:
    """Another body, another address for streams, a token instead of a key: the records look as they always do."""
    with WatsonxVendor() as vendor:
        endpoint = {
            "dialect": "watsonx",
            "api_key": vendor.api_key,
            "ca_bundle": vendor.ca_bundle,
            "options": {"iam_url": vendor.iam_url, "project_id": vendor.project_id},
        }
        options = {"model": GRANITE, "extra_body": {"top_p": 0.9}}
        summary = run(dataset, vendor.url, tmp_path / "run", endpoint=endpoint, **options).summary
        assert vendor.api_key not in (tmp_path / "run/records.jsonl").read_text()
    assert summary.rows.passed == 2
    first, second = records(tmp_path / "run")
    assert first.row.streamed is False
    assert second.row.streamed is True
    for record in (first, second):
        exchange = record.detail.exchanges[0]
        assert exchange.request.body["top_p"] == 0.9
        assert exchange.sent["model_id"] == GRANITE
        assert exchange.sent["top_p"] == 0.9
        assert "model" not in exchange.sent
    assert rejudge(tmp_path / "run").differences == ()
    assert RunReader(tmp_path / "run").manifest.endpoints[0].dialect == "watsonx"


def test_litellm(tmp_path: Path, dataset: str) -> None:
    with LiteLlmVendor(models=["faithful"], master_key="sk-simulated") as vendor:
        endpoint = {"dialect": "litellm", "api_key": "sk-simulated"}
        summary = run(dataset, vendor.root, tmp_path / "run", endpoint=endpoint).summary
    assert summary.rows.answered == 2
    assert {one.outcome for one in records(tmp_path / "run")} == {Outcome.PASSED}
