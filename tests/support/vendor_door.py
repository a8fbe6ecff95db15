"""Running vendor_verifier in a test, and reading what it wrote by the schemas of its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from click.testing import CliRunner, Result

from support.scripted import Scripted
from toolcert.simulate.vendor import Simulation
from vendor_verifier.cli import cli

FIELDS = {
    "data_index": {"type": "integer", "minimum": 1},
    "request": {"type": "object"},
    "response": {"type": "object"},
    "status": {"enum": ["success", "failed"]},
    "finish_reason": {"type": ["string", "null"]},
    "tool_calls_valid": {"type": ["boolean", "null"]},
    "duration_ms": {"type": "integer", "minimum": 0},
    "hash": {"type": "string", "minLength": 8},
}
ROW_SCHEMA = {"type": "object", "required": list(FIELDS), "properties": FIELDS}
"""The text's eight fields with their types; others are ignored."""
COUNT = {"type": "integer", "minimum": 0}
COUNTS = (
    "success_count",
    "failure_count",
    "finish_stop",
    "finish_tool_calls",
    "finish_others",
    "schema_validation_error_count",
    "successful_tool_call_count",
    "eval_duration_ms",
)
SUMMARY_SCHEMA = {
    "type": "object",
    "required": ["model", *COUNTS, "finish_others_detail", "usage", "eval_started_at", "eval_finished_at"],
    "properties": {
        "model": {"type": "string"},
        **dict.fromkeys(COUNTS, COUNT),
        "usage": {"type": "object", "required": ["prompt_tokens", "completion_tokens", "total_tokens"]},
    },
}


def run(*words: str, code: int = 0, **env: str) -> Result:
    result = CliRunner().invoke(cli, words, env=env, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def verify(server: Simulation | Scripted, *words: str, model: str = "faithful", code: int = 0) -> Result:
    return run("rows.jsonl", "--model", model, "--base-url", server.url, *words, code=code)


def rows(path: str = "results.jsonl") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    for one in found:
        jsonschema.validate(one, ROW_SCHEMA)
    return found


def summary(path: str = "summary.json") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    jsonschema.validate(content, SUMMARY_SCHEMA)
    return content
