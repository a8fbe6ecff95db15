"""aimock (npm `@copilotkit/aimock`) replays fixtures: its answers, plain and streamed, are read as they are meant."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcert.core.exchanges import Exchange, FaultKind
from toolcert.core.requests import Request, tool, user
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.diagnose import examine
from toolcert.endpoints.registry import open_endpoint
from toolcert.http.retry import RetryPolicy
from toolcert.protocol.reply import read_reply

pytestmark = pytest.mark.needs("node", "aimock")

WEATHER = tool("get_weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
FIXTURES = [
    {"match": {"userMessage": "hello"}, "response": {"content": "Hello! How can I help?"}},
    {
        "match": {"userMessage": "weather in two cities"},
        "response": {
            "toolCalls": [
                {"name": "get_weather", "arguments": {"city": "Paris"}},
                {"name": "get_weather", "arguments": {"city": "Zürich"}},
            ]
        },
    },
    {
        "match": {"userMessage": "tool first"},
        "response": {
            "blocks": [
                {"type": "toolCall", "name": "get_weather", "arguments": '{"city": "NYC"}'},
                {"type": "text", "text": "Let me look."},
            ]
        },
    },
    {
        "match": {"userMessage": "paced"},
        "response": {"content": "One two three four five six seven eight."},
        "streamingProfile": {"ttft": 150, "tps": 100, "jitter": 0},
    },
    {
        "match": {"userMessage": "limited"},
        "response": {"error": {"message": "Rate limit exceeded.", "code": "rate_limit_exceeded"}, "status": 429},
    },
    {
        "match": {"userMessage": "wrong reason"},
        "response": {"toolCalls": [{"name": "get_weather", "arguments": "{}"}], "finishReason": "stop"},
    },
]


@pytest.fixture(scope="module")
def url(part: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": FIXTURES}))
    (folder / "aimock.json").write_text(json.dumps({"llm": {"fixtures": str(folder / "fixtures.json")}}))
    command = [str(part("node")), str(part("aimock")), "--config", str(folder / "aimock.json"), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield f"{_address(server)}/v1"
    finally:
        server.kill()
        server.communicate()


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    said = []
    for line in server.stdout:
        said.append(line)
        if found := re.search(r"http://[\w.]+:\d+", line):
            return found[0]
    raise RuntimeError("".join(said))


async def ask(url: str, prompt: str, **body: Any) -> Exchange:
    spec = EndpointSpec(name="aimock", base_url=url, retries=1)
    async with open_endpoint(
        spec, Secret("sk-any-0123456789", source="KEY"), policy=RetryPolicy.without_waits(1)
    ) as session:
        return await session.ask(
            Request(body={"model": "gpt-4o", "messages": [user(prompt)], "tools": [WEATHER], **body})
        )


def codes(exchange: Exchange) -> set[str]:
    return {finding.code for finding in examine(exchange, read_reply(exchange)) if finding.severity != "note"}


@pytest.mark.parametrize("stream", [False, True])
async def test_text(url: str, stream: bool) -> None:
    exchange = await ask(url, "hello", stream=stream)
    reply = read_reply(exchange)
    assert (reply.content, reply.finish_reason, reply.complete) == ("Hello! How can I help?", "stop", True)
    assert codes(exchange) == set()


@pytest.mark.parametrize("stream", [False, True])
async def test_parallel_calls(url: str, stream: bool) -> None:
    exchange = await ask(url, "weather in two cities", stream=stream)
    reply = read_reply(exchange)
    assert [json.loads(call.arguments)["city"] for call in reply.tool_calls] == ["Paris", "Zürich"]
    assert reply.finish_reason == "tool_calls"
    assert codes(exchange) == set()


async def test_a_call_streamed_before_its_text(url: str) -> None:
    reply = read_reply(await ask(url, "tool first", stream=True))
    assert reply.content == "Let me look."
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [("get_weather", {"city": "NYC"})]


async def test_first_token_of_a_paced_stream(url: str) -> None:
    timing = (await ask(url, "paced", stream=True)).last.timing
    assert timing.first_token is not None
    assert timing.last_byte is not None
    assert timing.first_token >= 0.14
    assert timing.last_byte > timing.first_token


async def test_an_error_fixture(url: str) -> None:
    exchange = await ask(url, "limited")
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.message) == (FaultKind.RATE_LIMITED, "Rate limit exceeded.")
    assert len(exchange.attempts) == 2


async def test_a_wrong_finish_reason_is_a_finding(url: str) -> None:
    assert codes(await ask(url, "wrong reason")) == {"finish.stop_with_calls"}
