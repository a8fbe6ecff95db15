"""The simulated watsonx.ai under three clients: IBM's SDK and LiteLLM's provider prove it, toolcert gets the same."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcert.core.exchanges import Exchange, FaultKind
from toolcert.core.requests import Request, tool, user
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.registry import open_endpoint
from toolcert.endpoints.session import EndpointSession
from toolcert.protocol.reply import read_reply
from toolcert.simulate.watsonx import DEPLOYMENT, WatsonxVendor

CLIENTS = Path(__file__).resolve().parents[1] / "support" / "clients"
MODEL = "ibm/granite-3-3-8b-instruct"
EMBEDDER = "ibm/slate-125m-english-rtrvr-v2"
WEATHER = tool(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
NAMED = {"type": "function", "function": {"name": "get_weather"}}
QUESTIONS: dict[str, dict[str, Any]] = {
    "chat": {"messages": [user("Say hello.")]},
    "auto": {"tools": [WEATHER], "tool_choice": "auto"},
    "named": {"tools": [WEATHER], "tool_choice": NAMED},
    "stream": {"tools": [WEATHER], "tool_choice": "auto", "stream": True},
}


@pytest.fixture(scope="module")
def watsonx() -> Iterator[WatsonxVendor]:
    with WatsonxVendor() as running:
        yield running


def connect(watsonx: WatsonxVendor, *, key: str | None = None, **options: Any) -> EndpointSession:
    options = {"project_id": watsonx.project_id, "iam_url": watsonx.iam_url, **options}
    spec = EndpointSpec(
        name="watsonx",
        dialect="watsonx",
        base_url=watsonx.url,
        ca_bundle=watsonx.ca_bundle,
        concurrency=64,
        retries=0,
        options={name: value for name, value in options.items() if value is not None},
    )
    return open_endpoint(spec, Secret(key or watsonx.api_key, source="WATSONX_API_KEY"))


def body(**parameters: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [user("What is the weather in Paris?")], **parameters}


def gist(exchange: Exchange) -> dict[str, Any]:
    """An answer in the terms in which the other clients print theirs."""
    assert exchange.fault is None, exchange.fault
    reply = read_reply(exchange)
    calls = [[call.name, json.loads(call.arguments)] for call in reply.tool_calls]
    return {"finish_reason": reply.finish_reason, "calls": calls, "text": reply.content or None}


@pytest.fixture(scope="module")
def ours(watsonx: WatsonxVendor) -> dict[str, Any]:
    """What toolcert gets for the same questions."""

    async def ask_all() -> dict[str, Any]:
        async with connect(watsonx) as session:
            answers = {
                name: gist(await session.ask(Request(body=body(**question)))) for name, question in QUESTIONS.items()
            }
            return {**answers, "models": sorted(info.id for info in await session.models())}

    return asyncio.run(ask_all())


def run_client(python: Path, script: str, *arguments: str, **environment: str) -> dict[str, Any]:
    command = [str(python), str(CLIENTS / script), *arguments]
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def without_empty_text(answers: dict[str, Any]) -> dict[str, Any]:
    """Beside a call, clients write no text as null or as an empty string."""
    return {name: {**answers[name], "text": answers[name]["text"] or None} for name in QUESTIONS}


@pytest.mark.needs("ibm_sdk")
def test_ibms_own_sdk(watsonx: WatsonxVendor, ours: dict[str, Any], part: Callable[[str], Path]) -> None:
    """Token, pages of three, chat, automatic and named tools, stream and errors."""
    account = (watsonx.url, watsonx.ca_bundle, watsonx.api_key, watsonx.project_id)
    theirs = run_client(part("ibm_sdk"), "ibm_client.py", *account, MODEL, EMBEDDER)
    assert without_empty_text(theirs) == {name: ours[name] for name in QUESTIONS}
    assert theirs["models"] == ours["models"]
    assert "Provided API key could not be found" in theirs["wrong_key"]
    assert "model_not_supported" in theirs["unknown_model"]
    assert "model_no_support_for_function" in theirs["embedder"]


@pytest.mark.needs("proxy")
def test_litellms_watsonx_provider(watsonx: WatsonxVendor, ours: dict[str, Any], part: Callable[[str], Path]) -> None:
    theirs = run_client(
        part("proxy"),
        "litellm_client.py",
        watsonx.url,
        watsonx.api_key,
        watsonx.project_id,
        MODEL,
        SSL_CERT_FILE=watsonx.ca_bundle,
        WATSONX_IAM_URL=watsonx.iam_url,
    )
    assert without_empty_text(theirs) == {name: ours[name] for name in QUESTIONS}
    assert "model_not_supported" in theirs["unknown_model"]


async def test_errors_over_tls(watsonx: WatsonxVendor) -> None:
    async with connect(watsonx) as session:
        unknown = await session.ask(Request(body=body(model="ibm/nothing")))
        embedder = await session.ask(Request(body=body(model=EMBEDDER)))
    async with connect(watsonx, project_id="00000000-0000-4000-8000-000000000000") as session:
        elsewhere = await session.ask(Request(body=body()))
    async with connect(watsonx, key="not-the-key") as session:
        unauthorised = await session.ask(Request(body=body()))
    kinds = [exchange.fault.kind for exchange in (unknown, embedder, elsewhere, unauthorised) if exchange.fault]
    assert kinds == [FaultKind.UNKNOWN_MODEL, FaultKind.UNSUPPORTED, FaultKind.CONFIGURATION, FaultKind.AUTH]
    assert elsewhere.fault is not None
    assert "--project-id" in elsewhere.fault.message


async def test_a_server_that_is_not_trusted_is_told_so(watsonx: WatsonxVendor) -> None:
    spec = EndpointSpec(name="watsonx", dialect="watsonx", base_url=watsonx.url, retries=0, options={"project_id": "p"})
    async with open_endpoint(spec, Secret(watsonx.api_key, source="K")) as session:
        exchange = await session.ask(Request(body=body()))
    assert exchange.fault is not None
    assert exchange.fault.kind is not FaultKind.AUTH


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({"project_id": None, "space_id": "the space"}, MODEL),
        ({"deployment": DEPLOYMENT}, DEPLOYMENT),
        ({"gateway": True}, MODEL),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_space_deployment_and_gateway(
    watsonx: WatsonxVendor, options: dict[str, Any], model: str, stream: bool
) -> None:
    if "space_id" in options:
        options = {**options, "space_id": watsonx.space_id}
    async with connect(watsonx, **options) as session:
        exchange = await session.ask(Request(body=body(model=model, tools=[WEATHER], stream=stream)))
    assert gist(exchange)["calls"] == [["get_weather", {"city": "Paris"}]]
    assert exchange.event_stream is stream


@pytest.mark.parametrize("place", ["project_id", "space_id"])
async def test_the_gateway_lists_its_models_to_project_and_space(watsonx: WatsonxVendor, place: str) -> None:
    options = {"project_id": None, place: getattr(watsonx, place), "gateway": True}
    async with connect(watsonx, **options) as session:
        assert MODEL in {info.id for info in await session.models()}


@pytest.mark.heavy
async def test_token_expiry_amid_two_hundred_calls_causes_one_refresh() -> None:
    with WatsonxVendor(latency=0.02) as watsonx:
        async with connect(watsonx) as session:
            await session.ask(Request(body=body()))
            running = [asyncio.create_task(session.ask(Request(body=body()))) for _ in range(200)]
            await asyncio.sleep(0.1)
            watsonx.tokens.expire_all()
            exchanges = await asyncio.gather(*running)
        assert [exchange.fault for exchange in exchanges if exchange.fault] == []
        assert any(len(exchange.attempts) == 2 for exchange in exchanges)
        assert watsonx.tokens.issued == 2
        assert watsonx.tokens.asked == 2
