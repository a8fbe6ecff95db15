"""A session over real HTTP: what is tried again, what is learnt, and that every attempt is recorded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.scripted import Answer, Received, Script, Scripted, completion, in_turn, refusal
from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Attempt, Exchange, FaultKind
from toolcert.core.requests import Request
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.registry import open_endpoint
from toolcert.http.retry import RetryPolicy
from toolcert.protocol.reply import read_reply

KEY = Secret("sk-test-0123456789", source="TEST_KEY")


async def ask(script: Script, *, body: dict[str, Any] | None = None, **spec: Any) -> tuple[Exchange, Scripted]:
    """Put one request to a server that answers by the script, without waits between attempts."""
    with Scripted(script) as server:
        endpoint = EndpointSpec(name="e", base_url=server.url, **spec)
        policy = RetryPolicy.without_waits(endpoint.retries)
        async with open_endpoint(endpoint, KEY, policy=policy) as session:
            exchange = await session.ask(Request(body={"model": "m", "messages": [], **(body or {})}))
    return exchange, server


async def test_a_good_answer() -> None:
    exchange, server = await ask(in_turn(completion("hi")))
    assert exchange.status == 200
    assert exchange.fault is None
    assert exchange.sent is None
    assert read_reply(exchange).content == "hi"
    assert server.received[0].path == "/v1/chat/completions"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY.reveal()}"
    assert server.received[0].json == exchange.request.body
    assert exchange.last.timing.last_byte is not None


async def test_passing_faults_are_tried_again_and_recorded() -> None:
    answers = in_turn(refusal(500, "boom"), refusal(429, "slow", code="x"), completion())
    exchange, _ = await ask(answers)
    assert [attempt.status for attempt in exchange.attempts] == [500, 429, 200]
    assert [attempt.fault.kind if attempt.fault else None for attempt in exchange.attempts] == [
        FaultKind.SERVER_ERROR,
        FaultKind.RATE_LIMITED,
        None,
    ]
    assert exchange.fault is None


async def test_retries_end() -> None:
    exchange, server = await ask(in_turn(refusal(503, "busy")), retries=1)
    assert len(server.received) == 2
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.fault.message) == (FaultKind.SERVER_ERROR, "busy")


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "messages: field required", FaultKind.REJECTED),
        (400, "m does not support tools", FaultKind.UNSUPPORTED),
        (404, "model 'm' not found", FaultKind.UNKNOWN_MODEL),
        (403, "no", FaultKind.AUTH),
    ],
)
async def test_answers_that_will_not_change_are_not_asked_again(status: int, message: str, kind: FaultKind) -> None:
    exchange, server = await ask(in_turn(refusal(status, message)))
    assert len(server.received) == 1
    assert exchange.fault is not None
    assert exchange.fault.kind is kind


async def test_a_refused_key_is_told_by_its_source_and_never_shown() -> None:
    echo = refusal(401, f"Incorrect API key provided: {KEY.reveal()}")
    exchange, server = await ask(in_turn(echo))
    assert len(server.received) == 1
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.AUTH
    assert "TEST_KEY" in exchange.fault.message
    assert KEY.reveal() not in str(exchange)
    assert KEY.reveal().encode() not in exchange.payload


async def test_retry_after_is_waited_out() -> None:
    answers = in_turn(Answer({"error": "slow"}, 429, {"Retry-After": "0.2"}), completion())
    with Scripted(answers) as server:
        spec = EndpointSpec(name="e", base_url=server.url)
        async with open_endpoint(spec, policy=RetryPolicy(retries=1, base=0.0)) as session:
            exchange = await session.ask(Request(body={"model": "m"}))
    first, second = exchange.attempts
    assert first.retry_after == 0.2
    assert second.waited == 0.2
    assert second.started_at - first.started_at >= 0.19


async def test_overload_lowers_the_limit_and_other_faults_do_not() -> None:
    for status, limit in ((429, 4), (500, 8)):
        with Scripted(in_turn(refusal(status, "x"))) as server:
            spec = EndpointSpec(name="e", base_url=server.url, concurrency=8, retries=0)
            async with open_endpoint(spec) as session:
                await session.ask(Request(body={"model": "m"}))
                assert session.limiter.limit == limit


def picky(received: Received) -> Answer:
    """A model that takes neither max_tokens nor a temperature, and says so one at a time."""
    for name in ("max_tokens", "temperature"):
        if name in received.json:
            return refusal(400, f"Unsupported parameter: '{name}'", param=name, code="unsupported_parameter")
    return completion()


async def test_refused_sampling_parameters_are_left_out_and_noted() -> None:
    exchange, server = await ask(picky, body={"max_tokens": 5, "temperature": 0}, retries=0)
    assert exchange.fault is None
    assert exchange.notes == (
        "sent max_completion_tokens instead of max_tokens, which the server refuses",
        "left out temperature, which the server refuses",
    )
    assert exchange.left_out == ("temperature",), "max_tokens went under its other name"
    assert exchange.request.body["max_tokens"] == 5
    assert exchange.sent == server.received[-1].json == {"model": "m", "messages": [], "max_completion_tokens": 5}
    assert len(exchange.attempts) == 3


async def test_a_refusal_is_learnt_for_the_model() -> None:
    with Scripted(picky) as server:
        spec = EndpointSpec(name="e", base_url=server.url, retries=0)
        async with open_endpoint(spec) as session:
            for _ in range(3):
                exchange = await session.ask(Request(body={"model": "m", "temperature": 0}))
    assert len(server.received) == 4
    assert exchange.notes == ("left out temperature, which the server refuses",)


async def test_a_measured_feature_is_never_left_out() -> None:
    message = "Unsupported parameter: 'tool_choice'"
    exchange, server = await ask(in_turn(refusal(400, message, param="tool_choice")), body={"tool_choice": "required"})
    assert len(server.received) == 1
    assert exchange.notes == ()


async def test_adapting_ends() -> None:
    """A server that refuses whatever is sent is not asked for ever."""
    names = iter(["temperature", "top_p", "seed", "top_k", "presence_penalty"] * 9)
    body = {"temperature": 1, "top_p": 1, "seed": 1, "top_k": 1, "presence_penalty": 1}
    exchange, server = await ask(lambda _: refusal(400, "unsupported", param=next(names)), body=body)
    assert len(server.received) == 4
    assert exchange.fault is not None


async def test_extra_headers_and_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "team-secret-1")
    exchange, server = await ask(
        lambda received: completion(received.headers["x-team"]),
        headers={"X-Team": "${TEAM_KEY}", "X-Plain": "a"},
        extra_body={"top_k": 5, "model": "other"},
        options={"organization": "org-1"},
    )
    received = server.received[0]
    assert received.headers["x-team"] == "team-secret-1"
    assert received.headers["x-plain"] == "a"
    assert received.headers["openai-organization"] == "org-1"
    assert received.json["top_k"] == 5
    assert exchange.sent == received.json
    assert b"team-secret-1" not in exchange.payload


async def test_a_variable_inside_a_header_is_erased_also_where_it_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "team-secret-1")
    exchange, _ = await ask(
        in_turn(completion("you are team-secret-1")), headers={"X-Team": "Token token=${TEAM_KEY};v=1"}
    )
    assert read_reply(exchange).content == "you are [secret]"


@pytest.mark.parametrize("value", ["schlüßel-9876", "team-secret-1\n", "team\tsecret-1"])
async def test_a_variable_with_characters_that_no_key_has_is_refused_unshown(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """Servers echo such a value in encodings of their own, in which it would not be known for a secret."""
    monkeypatch.setenv("TEAM_KEY", value)
    with pytest.raises(ConfigurationError, match="the key from TEAM_KEY has characters that no key has") as refused:
        await ask(in_turn(completion()), headers={"X-Api-Key": "Token ${TEAM_KEY}"})
    assert value not in f"{refused.value!r} {refused.value}"


async def test_every_attempt_is_told() -> None:
    seen: list[Attempt] = []
    with Scripted(in_turn(refusal(500, "x"), completion())) as server:
        spec = EndpointSpec(name="e", base_url=server.url)
        async with open_endpoint(spec, policy=RetryPolicy.without_waits()) as session:
            exchange = await session.ask(Request(body={"model": "m"}), on_attempt=seen.append)
    assert tuple(seen) == exchange.attempts


async def test_a_dead_server_is_a_fault_in_bounded_time() -> None:
    spec = EndpointSpec(name="e", base_url="http://127.0.0.1:9", retries=1)
    async with open_endpoint(spec, policy=RetryPolicy.without_waits(1)) as session:
        exchange = await session.ask(Request(body={"model": "m"}))
    assert exchange.status is None
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.CONNECT
    assert len(exchange.attempts) == 2


async def test_a_redirect_to_another_host_is_told_and_carries_no_key_away() -> None:
    with Scripted(in_turn(completion())) as other:
        away = Answer(b"", 307, {"Location": f"http://localhost:{other.root.rpartition(':')[2]}/v1/chat/completions"})
        exchange, _ = await ask(in_turn(away))
        assert all("authorization" not in received.headers for received in other.received)
    assert exchange.fault is not None


async def test_no_more_requests_at_once_than_allowed() -> None:
    at_once, most = 0, 0

    def script(_: Received) -> Answer:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        answer = completion()
        import time

        time.sleep(0.02)
        at_once -= 1
        return answer

    with Scripted(script) as server:
        spec = EndpointSpec(name="e", base_url=server.url, concurrency=3)
        async with open_endpoint(spec) as session:
            exchanges = await asyncio.gather(*(session.ask(Request(body={"model": "m"})) for _ in range(12)))
    assert most <= 3
    assert max(exchange.last.timing.queue for exchange in exchanges) > 0


@pytest.mark.parametrize("header", ["set-cookie", "authorization", "x-api-key"])
async def test_no_credential_is_kept_from_the_answer(header: str) -> None:
    answer = Answer(completion().body, 200, {header: "abc", "x-request-id": "r1", "x-ratelimit-remaining": "3"})
    exchange, _ = await ask(in_turn(answer))
    assert header not in exchange.headers
    assert exchange.headers["x-request-id"] == "r1"
    assert exchange.headers["x-ratelimit-remaining"] == "3"
