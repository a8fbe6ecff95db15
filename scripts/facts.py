"""Make the files of tests/data again, from the folder that TOOLCERT_TEST_MATERIAL names.

The files hold facts and figures only: every text of a request, an answer or a page is replaced by a digest of it.
Equal texts have equal digests, so rows that agree still agree, and a parameter that is missing is still missing.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "tests/data"
RUNS = ("official-run1", "official-run2", "vendor-a")


def made(material: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of tests/data: its name without `.xz`, and what it holds."""
    for name in ("test_results.csv", "models_registry.csv"):
        yield f"watsonx-history/{name}", (material / "data/watsonx-history" / name).read_bytes()
    results = material / "data/vendor-results"
    yield "vendor-results/requests.jsonl", _lines([_request(row) for row in _rows(results / "requests.jsonl")])
    for run in RUNS:
        yield f"vendor-results/{run}.jsonl", _lines(_results(results / f"{run}.jsonl"))
    for page in sorted((material / "seeds").glob("*.md")):
        yield f"older-pages/{page.stem}.headings", "".join(f"{one}\n" for one in headings(page)).encode()


def headings(page: Path) -> list[str]:
    """The digests of a page's headings, in order."""
    found = re.findall(r"^#+ .+$", page.read_text("utf-8"), re.MULTILINE)
    return [digest(heading.strip(" #").lower()) for heading in found]


def digest(text: str) -> str:
    """What stands for a text; no text stands for itself."""
    return text and hashlib.sha256(text.encode()).hexdigest()[:10]


def _rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode()


def _request(request: Any) -> Any:
    messages = [{**message, "content": digest(message["content"])} for message in request["messages"]]
    return {**request, "messages": messages, "tools": [_tool(tool["function"]) for tool in request["tools"]]}


def _tool(function: Any) -> Any:
    """The description stands for the whole tool, so that tools that differ anywhere still differ."""
    whole = digest(json.dumps(function, sort_keys=True))
    masked = {"name": digest(function["name"]), "description": whole, "parameters": _schema(function["parameters"])}
    return {"type": "function", "function": masked}


def _schema(schema: Any) -> Any:
    """Which parameters there are and which are required, at every depth; a `required` that is no list stays none."""
    if schema.get("type") != "object":
        return {}
    properties = {digest(name): _schema(inner) for name, inner in schema.get("properties", {}).items()}
    required = schema.get("required", [])
    names = [digest(name) for name in required] if isinstance(required, list) else {}
    return {"type": "object", "properties": properties, "required": names}


def _results(path: Path) -> list[Any]:
    """The rows of a results file; what was asked is in the requests, under the same number."""
    from toolcert.verification.rejudgement import rejudged

    judged = {one.record.row.index: one.record for one in rejudged(path) if one.record.row}
    rows = []
    for row in _rows(path):
        record, asked = judged[row["data_index"]], row["request"]
        options = {name: value for name, value in asked.items() if name not in ("messages", "tools")}
        kept = ("status", "finish_reason", "tool_calls_valid", "duration_ms")
        rows.append(
            {"data_index": row["data_index"], "request": options, "response": _answer(row["response"])}
            | {name: row[name] for name in kept}
            | {"valid_by_our_rules": record.row and record.row.valid}
            | {"findings": [finding.code for finding in record.detail.findings]}
        )
    return rows


def _answer(response: Any) -> Any:
    if "error" in response:
        status = re.match(r"Error code: \d+", response["error"])
        assert status, "an error of another form"
        return {"error": status[0]}
    (choice,) = response["choices"]
    message = choice["message"]
    calls = message["tool_calls"] and [_call(call) for call in message["tool_calls"]]
    masked = {"role": "assistant", "content": digest(message["content"] or ""), "tool_calls": calls}
    usage = {name: response["usage"][name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
    kept = {name: response[name] for name in ("model", "system_fingerprint")}
    return {
        **kept,
        "choices": [{"index": 0, "finish_reason": choice["finish_reason"], "message": masked}],
        "usage": usage,
    }


def _call(call: Any) -> Any:
    """The style of the identity is kept: its first word and its length."""
    word, bar, rest = call["id"].partition("_")
    arguments = call["function"]["arguments"]
    masked = arguments and json.dumps(_value(json.loads(arguments, parse_float=_number)), separators=(",", ":"))
    function = {"name": digest(call["function"]["name"]), "arguments": masked}
    return {"id": word + bar + re.sub(r"\w", "x", rest), "type": "function", "function": function}


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {digest(name): _value(inner) for name, inner in value.items()}
    return digest(json.dumps(value, sort_keys=True))


def _number(digits: str) -> float:
    """1.0 and 1 are the same number."""
    number = float(digits)
    return int(number) if number.is_integer() else number


def main() -> None:
    for name, content in made(Path(os.environ["TOOLCERT_TEST_MATERIAL"])):
        path = DATA / f"{name}.xz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
        print(f"{path.relative_to(DATA.parents[1])}  {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
