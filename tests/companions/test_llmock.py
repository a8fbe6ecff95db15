"""llmock as a hostile vendor: its faults become the right outcomes, and it finds nothing wrong with our client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from support.llmock_server import LlMock, llmock_server
from toolcert.cli.main import cli
from toolcert.core.exchanges import Exchange, FaultKind
from toolcert.core.requests import Request, tool, user
from toolcert.core.targets import EndpointSpec, Timeouts
from toolcert.diagnose import examine
from toolcert.endpoints.registry import open_endpoint
from toolcert.http.retry import RetryPolicy
from toolcert.protocol.reply import read_reply

pytestmark = pytest.mark.needs("llmock")

WEATHER = tool(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.fixture(scope="module")
def mock() -> Iterator[LlMock]:
    with llmock_server() as server:
        yield server


class Steady(RetryPolicy):
    """The real policy with the longest waits its jitter can draw: two draws may otherwise come out alike."""

    def decide(self, attempt: int, **facts: Any) -> float | None:
        return super().decide(attempt, **facts, draw=lambda: 1.0)


async def ask(mock: LlMock, *, retries: int = 2, **body: Any) -> Exchange:
    timeouts = Timeouts(connect=5, read=5, between_chunks=0.4, total=10)
    spec = EndpointSpec(name="llmock", base_url=mock.url, retries=retries, timeouts=timeouts)
    async with open_endpoint(spec, policy=Steady(retries=retries, base=0.2)) as session:
        request = {"model": "gpt-4o", "messages": [user("What is the weather in Paris?")], **body}
        return await session.ask(Request(body=request))


def fail(status: int, times: int | None = 1, **more: Any) -> dict[str, Any]:
    return {"type": "fail", "status": status, "times": times, **more}


def codes(exchange: Exchange) -> set[str]:
    assert exchange.fault is None
    return {finding.code for finding in examine(exchange, read_reply(exchange))}


def is_clean(mock: LlMock) -> None:
    verdict = mock.verdict()
    assert verdict["findings"] == []
    assert verdict["calls"] > 0


@pytest.mark.parametrize("stream", [False, True])
async def test_a_good_answer(mock: LlMock, stream: bool) -> None:
    mock.script()
    exchange = await ask(mock, tools=[WEATHER], stream=stream)
    reply = read_reply(exchange)
    assert [call.name for call in reply.tool_calls] == ["get_weather"]
    assert reply.complete
    is_clean(mock)


async def test_retry_after_is_respected(mock: LlMock) -> None:
    mock.script(fail(429, times=2, retry_after=0.6))
    exchange = await ask(mock)
    assert [attempt.status for attempt in exchange.attempts] == [429, 429, 200]
    assert exchange.attempts[1].waited >= 0.6
    is_clean(mock)


async def test_passing_errors_are_backed_off_from(mock: LlMock) -> None:
    mock.script(fail(500), fail(503))
    exchange = await ask(mock)
    assert [attempt.status for attempt in exchange.attempts] == [500, 503, 200]
    is_clean(mock)


async def test_an_outage_ends_in_bounded_attempts(mock: LlMock) -> None:
    mock.script(fail(503, times=None))
    exchange = await ask(mock)
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.SERVER_ERROR
    assert len(exchange.attempts) == 3
    is_clean(mock)


@pytest.mark.parametrize(("status", "kind"), [(400, FaultKind.REJECTED), (401, FaultKind.AUTH), (403, FaultKind.AUTH)])
async def test_errors_that_no_retry_mends_are_not_retried(mock: LlMock, status: int, kind: FaultKind) -> None:
    mock.script(fail(status))
    exchange = await ask(mock)
    assert exchange.fault is not None
    assert exchange.fault.kind is kind
    assert len(exchange.attempts) == 1
    is_clean(mock)


async def test_a_stalled_stream_is_given_up_in_time(mock: LlMock) -> None:
    mock.script({"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 5})
    exchange = await ask(mock, stream=True, retries=0)
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.TIMEOUT
    assert "no_read_timeout" not in [finding["code"] for finding in mock.verdict()["findings"]]


async def test_a_dropped_stream_is_transport(mock: LlMock) -> None:
    """Not measured, and not asked again: the answer had begun, and a verifier keeps what it was given."""
    mock.script({"type": "stream_fault", "kind": "disconnect", "after_chunks": 2})
    exchange = await ask(mock, stream=True)
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.RESET
    assert mock.verdict()["errors"] == 0


async def test_a_truncated_stream_is_a_finding(mock: LlMock) -> None:
    """Here the mock cannot see that we noticed: it expects a retry, we report the vendor."""
    mock.script({"type": "stream_fault", "kind": "truncate", "after_chunks": 2})
    exchange = await ask(mock, tools=[WEATHER], stream=True)
    assert "stream.cut" in codes(exchange)
    assert read_reply(exchange).complete is False


async def test_a_corrupted_chunk_is_a_finding(mock: LlMock) -> None:
    mock.script({"type": "stream_fault", "kind": "malformed", "after_chunks": 2})
    exchange = await ask(mock, stream=True)
    assert "stream.framing" in codes(exchange)


@pytest.mark.parametrize(
    ("kind", "code"), [("malformed_arguments", "finish.truncation_hidden"), ("unknown_tool", "call.unknown_tool")]
)
async def test_broken_tool_calls_are_findings(mock: LlMock, kind: str, code: str) -> None:
    mock.script({"type": "tool_fault", "kind": kind})
    exchange = await ask(mock, tools=[WEATHER])
    assert code in codes(exchange)


def test_probing_a_vendor_that_limits_us(mock: LlMock, tmp_path: Path) -> None:
    mock.script(fail(429, times=3, retry_after=0.3))
    words = ["probe", mock.url, "--suite", "hello", "--model", "gpt-4o", "--iterations", "3", "--concurrency", "2"]
    result = CliRunner().invoke(cli, [*words, "--output", str(tmp_path / "run")], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    verdict = mock.verdict()
    assert verdict["errors"] == 0
    assert verdict["faults_injected"] == 3
