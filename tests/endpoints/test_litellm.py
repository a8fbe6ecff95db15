"""The LiteLLM proxy's own ways, in the words its version 1.106 uses."""

from __future__ import annotations

import pytest

from support.scripted import Answer, Received, Script, Scripted, in_turn, refusal
from toolcert.core.errors import UnauthorisedError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.requests import Request
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.endpoints.registry import open_endpoint
from toolcert.http.retry import RetryPolicy

KEY = Secret("sk-test-0123456789", source="LITELLM_API_KEY")


async def list_models(script: Script, key: Secret | None = KEY) -> list[ModelInfo]:
    with Scripted(script) as server:
        spec = EndpointSpec(name="proxy", dialect="litellm", base_url=server.root, retries=0)
        async with open_endpoint(spec, key) as session:
            return await session.models()


async def fault_of(answer: Answer) -> Fault:
    with Scripted(in_turn(answer)) as server:
        spec = EndpointSpec(name="proxy", dialect="litellm", base_url=server.root, retries=0)
        async with open_endpoint(spec, KEY, policy=RetryPolicy.without_waits(0)) as session:
            fault = (await session.ask(Request(body={"model": "m"}))).fault
    assert fault is not None
    return fault


def proxy(received: Received) -> Answer:
    if received.path == "/v1/models":
        return Answer({"data": [{"id": name, "owned_by": "openai"} for name in ("chat", "embed", "plain")]})
    chat = {"mode": "chat", "supports_function_calling": True, "litellm_provider": "anthropic"}
    details = [
        {"model_name": "chat", "litellm_params": {"model": "anthropic/x"}, "model_info": chat},
        {"model_name": "embed", "model_info": {"mode": "embedding"}},
        {"model_name": "not-listed", "model_info": {}},
    ]
    return Answer({"data": details}) if received.path == "/v1/model/info" else refusal(404, "Not Found")


async def test_the_listing_is_completed_with_what_the_proxy_knows() -> None:
    chat, embed, plain = await list_models(proxy)
    assert (chat.owned_by, chat.can_chat, chat.declares_tools) == ("anthropic", True, True)
    assert (embed.can_chat, embed.why_not) == (False, "an embedding model")
    assert (plain.owned_by, plain.declares_tools) == ("openai", None)


@pytest.mark.parametrize("status", [401, 403, 404, 500])
async def test_details_that_we_may_not_see_do_no_harm(status: int) -> None:
    def script(received: Received) -> Answer:
        return proxy(received) if received.path == "/v1/models" else refusal(status, "no")

    assert [info.id for info in await list_models(script)] == ["chat", "embed", "plain"]


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, "No connected db.", type="no_db_connection", code="400"),
        refusal(401, "Authentication Error, Invalid proxy server token passed", code="401"),
    ],
)
async def test_a_bad_key_in_all_its_disguises(answer: Answer) -> None:
    fault = await fault_of(answer)
    assert fault.kind is FaultKind.AUTH
    assert "LITELLM_API_KEY" in fault.message
    with pytest.raises(UnauthorisedError):
        await list_models(in_turn(answer))


async def test_a_missing_key_is_a_500_in_plain_text() -> None:
    stumble = Answer(b"Internal Server Error", 500, {"Content-Type": "text/plain; charset=utf-8"})
    assert (await fault_of(stumble)).kind is FaultKind.SERVER_ERROR
    with pytest.raises(UnauthorisedError, match="none was given"):
        await list_models(in_turn(stumble), key=None)


@pytest.mark.parametrize(
    ("status", "message", "kind", "cause"),
    [
        (
            429,
            "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached",
            FaultKind.RATE_LIMITED,
            "Rate limit reached",
        ),
        (408, "litellm.Timeout: APITimeoutError - Request timed out.", FaultKind.TIMEOUT, "Request timed out."),
        (
            400,
            "/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models.",
            FaultKind.UNKNOWN_MODEL,
            "Invalid model name",
        ),
        (500, "litellm.InternalServerError: OpenAIException - boom", FaultKind.SERVER_ERROR, "boom"),
        (
            400,
            'litellm.BadRequestError: OpenAIException - {"error":{"message":"m does not support tools"}}',
            FaultKind.UNSUPPORTED,
            "m does not support tools",
        ),
    ],
)
async def test_upstream_errors_are_unwrapped(status: int, message: str, kind: FaultKind, cause: str) -> None:
    postscript = "\n\nLiteLLM: model group 'm' failed with the error above. No fallback was attempted."
    fault = await fault_of(refusal(status, message + postscript, code=str(status)))
    assert fault.kind is kind
    assert cause in fault.message
    assert "litellm" not in fault.message.lower()


async def test_retry_after_in_the_proxys_spelling_is_waited_out() -> None:
    slow = Answer({"error": {"message": "slow"}}, 429, {"llm_provider-retry-after": "0.1"})
    with Scripted(in_turn(slow, Answer({"choices": []}))) as server:
        spec = EndpointSpec(name="proxy", dialect="litellm", base_url=server.root, retries=1)
        async with open_endpoint(spec, KEY) as session:
            exchange = await session.ask(Request(body={"model": "m"}))
    assert exchange.attempts[1].waited == 0.1
