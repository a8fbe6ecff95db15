"""The example workflow of the daily run: safe by construction."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / "examples" / "github" / "daily.yml").read_text("utf-8"))
    return loaded


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_nothing_from_outside_becomes_shell_code(workflow: dict[Any, Any]) -> None:
    """No expression stands in a script: inputs and secrets come as environment."""
    scripts = [step["run"] for step in steps(workflow) if "run" in step]
    assert any("toolcert daily --config toolcert.toml" in script for script in scripts)
    assert [script for script in scripts if "${{" in script] == []


def test_permissions_are_none_but_those_of_each_job(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "watch": {"contents": "write"},
        "publish": {"pages": "write", "id-token": "write"},
    }


def test_one_at_a_time_by_schedule_or_hand(workflow: dict[Any, Any]) -> None:
    triggers = workflow[True]  # YAML 1.1 reads `on` as true
    assert re.fullmatch(r"\d+ \d+ \* \* \*", triggers["schedule"][0]["cron"])
    assert set(triggers) == {"schedule", "workflow_dispatch"}
    assert workflow["concurrency"] == {"group": "toolcert-daily", "cancel-in-progress": False}


def test_pages_get_the_reports_and_nothing_else(workflow: dict[Any, Any]) -> None:
    (upload,) = [step for step in steps(workflow) if "upload-pages-artifact" in step.get("uses", "")]
    assert upload["with"] == {"path": "reports"}
