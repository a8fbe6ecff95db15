"""The examples for Kubernetes and Slurm: their files are well formed, and their commands do what they promise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.rows import row, write_rows
from toolcert.runs.reader import read_manifest
from toolcert.simulate import Vendor
from toolcert.verification.summary.tally import summarise

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SLURM = EXAMPLES / "slurm"
SCRIPTS = ("verify.sbatch", "merge.sbatch", "submit.sh")

SBATCH = """#!/usr/bin/env bash
# Stands for a cluster with one machine: what is submitted is run at once, one task after the other.
set -euo pipefail
echo "$*" >> "$SUBMITTED"
range=1-1
for word in "$@"; do
    case $word in --array=*) range=${word#--array=} ;; *.sbatch) script=$word ;; esac
done
for task in $(seq "${range%-*}" "${range#*-}"); do
    SLURM_ARRAY_TASK_ID=$task bash "$script" >> "$SUBMITTED.log"
done
echo 4711
"""


def job(name: str) -> dict[str, Any]:
    documents = yaml.safe_load_all((EXAMPLES / "kubernetes" / name).read_text("utf-8"))
    found: dict[str, Any] = next(one for one in documents if one["kind"] == "Job")
    return found


def container(name: str) -> dict[str, Any]:
    (only,) = job(name)["spec"]["template"]["spec"]["containers"]
    return dict(only)


def variables(name: str) -> dict[str, str]:
    return {one["name"]: one["value"] for one in container(name)["env"] if "value" in one}


@pytest.fixture
def vendor():
    with Vendor(models={"the-model": "faithful"}) as one:
        yield one


@pytest.fixture
def environment(tmp_path: Path, vendor: Vendor) -> dict[str, str]:
    """What a cluster would set, on this machine."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "toolcert").write_text(f'#!/bin/sh\nexec {sys.executable} -m toolcert "$@"\n')
    (programs / "sbatch").write_text(SBATCH)
    for program in programs.iterdir():
        program.chmod(0o755)
    return dict(os.environ) | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "TOOLCERT_BASE_URL": vendor.url,
        "TOOLCERT_MODEL": "the-model",
        "SUBMITTED": str(tmp_path / "submitted"),
        "SHARDS": "2",
        "RUNS": str(tmp_path / "runs"),
        "DATASET": write_rows(tmp_path / "requests.jsonl", [row(number) for number in range(12)]),
    }


def run(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_the_pods_of_the_job_are_as_many_as_the_shards() -> None:
    spec = job("shards.yaml")["spec"]
    assert spec["completionMode"] == "Indexed"
    assert str(spec["completions"]) == variables("shards.yaml")["SHARDS"]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert variables("shards.yaml")["RUNS"] == variables("merge.yaml")["RUNS"]
    assert job("merge.yaml")["spec"]["backoffLimit"] == 0


def test_the_key_comes_from_a_secret() -> None:
    (key,) = [one for one in container("shards.yaml")["env"] if one["name"] == "TOOLCERT_API_KEY"]
    assert "secretKeyRef" in key["valueFrom"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_are_bash(name: str) -> None:
    checked = run(["bash", "-n", str(SLURM / name)], os.environ)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert os.access(SLURM / name, os.X_OK)


@pytest.mark.heavy
def test_the_pods_run_their_shards_and_the_merge_passes(environment: dict[str, str]) -> None:
    runs = Path(environment["RUNS"])
    shards, merge = (container(name)["command"] + container(name)["args"] for name in ("shards.yaml", "merge.yaml"))
    for index in ("0", "1"):
        done = run(shards, environment | {"JOB_COMPLETION_INDEX": index})
        assert done.returncode == 0, done.stderr
    assert [read_manifest(runs / f"shard-{number}").shard for number in (1, 2)] == ["1/2", "2/2"]
    done = run(merge, environment)
    assert done.returncode == 0, done.stderr
    assert summarise(runs / "all").rows.sent == 12
    assert (runs / "all.html").exists()
    # A merge that lacks a shard is no success.
    shutil.rmtree(runs / "shard-2")
    shutil.rmtree(runs / "all")
    assert run(merge, environment).returncode == 2


@pytest.mark.heavy
def test_the_array_is_submitted_with_a_merge_that_waits_for_it(environment: dict[str, str]) -> None:
    done = run([str(SLURM / "submit.sh"), environment["DATASET"], environment["RUNS"]], environment)
    assert done.returncode == 0, done.stderr
    submitted = Path(environment["SUBMITTED"]).read_text().splitlines()
    assert "--array=1-2" in submitted[0]
    assert "--dependency=afterok:4711" in submitted[1]
    assert summarise(Path(environment["RUNS"]) / "all").rows.sent == 12
