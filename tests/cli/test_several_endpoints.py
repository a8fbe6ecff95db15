"""Endpoints of different dialects in one run, each with its own limits, and no secret in what is written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from toolcert.cli.main import cli
from toolcert.simulate import Vendor
from toolcert.simulate.watsonx import WatsonxVendor

KEY = "sk-vendor-0123456789"
GRANITE = "ibm/granite-3-3-8b-instruct"


def test_the_same_probes_at_two_vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Vendor(models=["faithful", "no-tools"], api_key=KEY) as vendor, WatsonxVendor() as watsonx:
        Path("toolcert.toml").write_text(
            f"""
            [endpoints.plain]
            base_url = "{vendor.root}"
            api_key_env = "PLAIN_KEY"
            concurrency = 2

            [endpoints.ibm]
            preset = "watsonx"
            base_url = "{watsonx.url}"
            iam_url = "{watsonx.iam_url}"
            ca_bundle = "{watsonx.ca_bundle}"
            project_id = "{watsonx.project_id}"
            model = "{GRANITE}"
            concurrency = 3
            """
        )
        words = ["probe", "plain", "ibm", "--suite", "hello", "--iterations", "2", "--output", "run", "--trust-config"]
        environment = {"PLAIN_KEY": KEY, "WATSONX_API_KEY": watsonx.api_key}
        result = CliRunner().invoke(cli, words, env=environment, catch_exceptions=False)
        token = next(iter(watsonx.tokens._good))
        peak = vendor.peak
        secrets = [KEY, watsonx.api_key, token]
    assert result.exit_code == 0, result.stderr
    records = [json.loads(line) for line in Path("run/records.jsonl").read_text().splitlines()]
    assert Counter((record["endpoint"], record["model"], record["outcome"]) for record in records) == {
        ("plain", "faithful", "passed"): 2,
        ("plain", "no-tools", "unsupported"): 2,
        ("ibm", GRANITE, "passed"): 2,
    }
    assert peak <= 2
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert {spec["name"]: spec["concurrency"] for spec in manifest["endpoints"]} == {"plain": 2, "ibm": 3}
    written = "".join(path.read_text() for path in Path("run").rglob("*") if path.is_file()) + result.output
    assert [secret for secret in secrets if secret in written] == []
