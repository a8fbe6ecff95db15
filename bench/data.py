"""Datasets for the benchmark: requests to replay, and finished results as other verifiers write them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMAS = 200
"""Distinct tool sets, so that neither side gains from knowing one schema only."""
REPLIES = {"valid": 60, "invalid": 10, "text": 20, "pair": 10}
WORDS = (
    "order",
    "parcel",
    "warehouse",
    "invoice",
    "customer",
    "address",
    "refund",
    "delay",
    "carrier",
    "customs",
    "stock",
)


def write_requests(path: Path, rows: int, *, stream: bool = False, padding: int = 1500) -> Path:
    """`rows` requests of about 4 KB each."""
    return _write(path, _requests(rows, stream=stream, padding=padding))


def write_results(path: Path, rows: int, *, seed: int, padding: int = 600) -> Path:
    """`rows` finished rows in the results.jsonl form; the seed stands for the vendor that answered."""
    return _write(path, _results(rows, random.Random(seed), padding))


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> Path:
    with path.open("w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    return path


def _requests(rows: int, *, stream: bool, padding: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(7)
    toolsets = [_tools(number) for number in range(SCHEMAS)]
    instructions = [_prose(chance, padding) for _ in range(64)]
    kinds, weights = list(REPLIES), list(REPLIES.values())
    for number in range(rows):
        (kind,) = chance.choices(kinds, weights)
        yield {
            "messages": [
                {"role": "system", "content": f"reply:{kind} You answer for a warehouse. {instructions[number % 64]}"},
                {"role": "user", "content": f"Request {number}: {instructions[number % 61][:200]}"},
            ],
            "tools": toolsets[number % SCHEMAS],
            "tool_choice": "auto",
            "temperature": 0.6,
            "max_tokens": 1024,
            "stream": stream,
        }


def _tools(number: int) -> list[dict[str, Any]]:
    chance = random.Random(number)
    tools = [_other_tool(chance, number, place) for place in range(chance.randint(2, 4))]
    tools.insert(chance.randint(0, len(tools)), _function("search_orders", "Find orders.", _order_schema(number)))
    return tools


def _order_schema(number: int) -> dict[str, Any]:
    """The schema of the tool that the vendor calls; it differs between the tool sets in one bound."""
    labels = {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 20}
    country = {"type": "string", "pattern": "^[a-z]{2}$"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["customer", "limit"],
        "properties": {
            "customer": {"type": "string", "minLength": 1, "maxLength": 300 + number},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "status": {"enum": ["open", "closed", "lost"]},
            "filter": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"country": country, "labels": labels},
            },
            "note": {"type": "string"},
        },
    }


def _other_tool(chance: random.Random, number: int, place: int) -> dict[str, Any]:
    item = {
        "type": "object",
        "required": ["sku"],
        "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
    }
    properties = {
        "id": {"type": "string", "description": _prose(chance, 60)},
        "amount": {"type": "number", "minimum": 0},
        "items": {"type": "array", "items": item},
    }
    schema = {"type": "object", "required": ["id"], "properties": properties}
    return _function(f"action_{number}_{place}", _prose(chance, 120), schema)


def _function(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _prose(chance: random.Random, length: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(length // 8 + 1))


def _results(rows: int, chance: random.Random, padding: int) -> Iterator[dict[str, Any]]:
    toolsets = [_tools(number)[:3] for number in range(SCHEMAS)]
    shared = random.Random(11)  # what was asked does not depend on who answered
    prompts = [_prose(shared, padding) for _ in range(64)]
    for number in range(1, rows + 1):
        request = {
            "messages": [{"role": "system", "content": prompts[number % 64]}, {"role": "user", "content": f"{number}"}],
            "tools": toolsets[number % SCHEMAS],
            "model": "bench-model",
        }
        yield _result(number, request, chance)


def _result(number: int, request: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    answered, called = chance.random() < 0.98, chance.random() < 0.6
    finish = ("tool_calls" if called else "stop") if answered else None
    valid = chance.random() < 0.95
    return {
        "data_index": number,
        "request": request,
        "extra_body": {},
        "response": _response(number, called=called) if answered else {"error": "connection reset"},
        "status": "success" if answered else "failed",
        "finish_reason": finish,
        "tool_calls_valid": valid if finish == "tool_calls" else None,
        "last_run_at": "2026-01-01T00:00:00.000000",
        "duration_ms": chance.randint(100, 9000),
        "hash": f"{number:032x}",
    }


def _response(number: int, *, called: bool) -> dict[str, Any]:
    arguments = json.dumps({"customer": f"customer {number}", "limit": 3})
    call = {"id": "call_1", "type": "function", "function": {"name": "search_orders", "arguments": arguments}}
    message = {
        "role": "assistant",
        "content": None if called else "No order fits.",
        "tool_calls": [call] if called else None,
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if called else "stop"}
    usage = {"prompt_tokens": 800, "completion_tokens": 90, "total_tokens": 890}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1760000000, "model": "bench-model"}
    return head | {"choices": [choice], "usage": usage}
