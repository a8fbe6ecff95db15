"""How a dataset is usually replayed, as an opponent: the openai SDK, jsonschema.validate and one task per row.

It does what such a script does for a row and leaves out what makes some of them quadratic.

python usual_way.py DATASET RESULTS BASE_URL [CONCURRENCY]
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import jsonschema
from openai import AsyncOpenAI


def call_is_valid(call: dict[str, Any], tools: list[dict[str, Any]]) -> bool:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    try:
        jsonschema.validate(json.loads(call["function"]["arguments"]), schemas[call["function"]["name"]])
    except (KeyError, ValueError, jsonschema.ValidationError):
        return False
    return True


async def ask(client: AsyncOpenAI, request: dict[str, Any]) -> dict[str, Any]:
    if request["stream"]:
        return await assemble(client, request)
    completion: dict[str, Any] = (await client.chat.completions.create(**request)).model_dump()
    return completion


async def assemble(client: AsyncOpenAI, request: dict[str, Any]) -> dict[str, Any]:
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    finish, usage = None, None
    async for chunk in await client.chat.completions.create(**request, stream_options={"include_usage": True}):
        usage = chunk.usage.model_dump() if chunk.usage else usage
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            text.append(choice.delta.content or "")
            for piece in choice.delta.tool_calls or []:
                empty = {"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}}
                function = calls.setdefault(piece.index, empty)["function"]
                function["name"] += piece.function.name or ""
                function["arguments"] += piece.function.arguments or ""
    message = {"role": "assistant", "content": "".join(text), "tool_calls": list(calls.values()) or None}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


async def measure(
    client: AsyncOpenAI, slots: asyncio.Semaphore, number: int, request: dict[str, Any]
) -> dict[str, Any]:
    request["model"] = "bench-model"
    async with slots:
        started = time.perf_counter()
        response = await ask(client, request)
    choice = response["choices"][0]
    calls = choice["message"]["tool_calls"]
    valid = all(call_is_valid(call, request["tools"]) for call in calls) if calls else None
    return {
        "data_index": number,
        "request": request,
        "response": response,
        "finish_reason": choice["finish_reason"],
        "tool_calls_valid": valid,
        "duration_ms": int((time.perf_counter() - started) * 1000),
    }


async def replay(rows: list[dict[str, Any]], results: TextIO, base_url: str, concurrency: int) -> None:
    client = AsyncOpenAI(base_url=base_url, api_key="none", timeout=600, max_retries=3)
    slots = asyncio.Semaphore(concurrency)
    tasks = [measure(client, slots, number, row) for number, row in enumerate(rows, 1)]
    for done in asyncio.as_completed(tasks):
        results.write(json.dumps(await done) + "\n")


def main(dataset: str, results: str, base_url: str, concurrency: str = "64") -> None:
    rows = [json.loads(line) for line in Path(dataset).read_text().splitlines()]
    with Path(results).open("w") as file:
        asyncio.run(replay(rows, file, base_url, int(concurrency)))


if __name__ == "__main__":
    main(*sys.argv[1:])
