"""Small datasets for tests of verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
            "required": ["city"],
        },
    },
}
TIME = {
    "type": "function",
    "function": {"name": "get_time", "description": "The time now", "parameters": {"type": "object", "properties": {}}},
}


def row(number: int = 0, **fields: Any) -> dict[str, Any]:
    """A request about the weather; each number asks another one."""
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": f"What is the weather in Paris? ({number})"}],
        "tools": [WEATHER],
        "temperature": 0.0,
    }
    return body | fields


def write_rows(path: Path, rows: list[Any]) -> str:
    """A JSONL file; text stands as it is, everything else as JSON."""
    lines = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)
