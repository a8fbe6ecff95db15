"""watsonx.ai on the wire, over a scripted server: tokens, pages, fields, errors."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from support.scripted import Answer, Received, Scripted, completion, refusal
from toolcert.core.errors import ConfigurationError, ListingError, UnauthorisedError
from toolcert.core.exchanges import Exchange, FaultKind
from toolcert.core.requests import Request
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.endpoints.dialects.ibm_cloud import TokenSource, region_of
from toolcert.endpoints.registry import open_endpoint
from toolcert.endpoints.session import EndpointSession
from toolcert.http.retry import RetryPolicy

KEY = Secret("ibm-key-0123456789", source="WATSONX_API_KEY")


class Watsonx:
    """A scripted watsonx.ai that counts its tokens."""

    def __init__(self, answer: Answer | None = None, *, lifetime: int = 3600, good_for: int = 10**9) -> None:
        self.answer = answer or completion()
        self.lifetime = lifetime
        self.good_for = good_for
        """How many requests a token serves before the server calls it expired."""
        self.issued = 0
        self.used = 0
        self.pages: list[dict[str, Any]] = []

    def __call__(self, received: Received) -> Answer:
        path = urlsplit(received.path).path
        if path == "/identity/token":
            return self._token(received)
        if received.headers.get("authorization") != f"Bearer token-number-{self.issued}":
            return Answer({"errors": [{"code": "authentication_token_expired", "message": "expired"}]}, 401)
        self.used += 1
        if self.used > self.good_for:
            self.good_for = 10**9
            self.issued += 100
            return Answer({"errors": [{"code": "authentication_token_expired", "message": "expired"}]}, 401)
        if path == "/ml/v1/foundation_model_specs":
            return Answer(self.pages[int(parse_qs(urlsplit(received.path).query).get("start", ["0"])[0])])
        return self.answer

    def _token(self, received: Received) -> Answer:
        form = parse_qs(received.body.decode())
        if form["apikey"] != [KEY.reveal()]:
            return Answer({"errorCode": "BXNIM0415E", "errorMessage": "Provided API key could not be found."}, 400)
        assert form["grant_type"] == ["urn:ibm:params:oauth:grant-type:apikey"]
        self.issued += 1
        token = {"access_token": f"token-number-{self.issued}", "expires_in": self.lifetime, "expiration": 1}
        return Answer(token, delay=0.05)


def session_with(server: Scripted, key: Secret = KEY, **options: Any) -> EndpointSession:
    options = {"project_id": "p-1", "iam_url": server.root, **options}
    spec = EndpointSpec(name="wx", dialect="watsonx", base_url=server.root, concurrency=64, options=options)
    return open_endpoint(spec, key, policy=RetryPolicy.without_waits(1))


async def ask(script: Watsonx, body: dict[str, Any] | None = None, **options: Any) -> tuple[Exchange, Received]:
    with Scripted(script) as server:
        async with session_with(server, **options) as session:
            exchange = await session.ask(Request(body={"model": "ibm/granite", "messages": [], **(body or {})}))
    return exchange, server.received[-1]


async def test_chat_in_watsonx_terms() -> None:
    exchange, received = await ask(Watsonx(), {"tool_choice": "required", "temperature": 0, "stream": False})
    assert received.path == "/ml/v1/text/chat?version=2023-05-29"
    assert received.json == exchange.sent
    assert received.json == {
        "model_id": "ibm/granite",
        "project_id": "p-1",
        "messages": [],
        "tool_choice_option": "required",
        "temperature": 0,
        "time_limit": 120_000,
    }
    assert exchange.fault is None
    assert exchange.request.body["tool_choice"] == "required"


async def test_a_named_tool_keeps_its_field() -> None:
    choice = {"type": "function", "function": {"name": "f"}}
    _, received = await ask(Watsonx(), {"tool_choice": choice})
    assert received.json["tool_choice"] == choice
    assert "tool_choice_option" not in received.json


async def test_streams_have_their_own_address_and_no_field() -> None:
    _, received = await ask(Watsonx(), {"stream": True, "stream_options": {"include_usage": True}})
    assert received.path.startswith("/ml/v1/text/chat_stream?")
    assert not {"stream", "stream_options"} & set(received.json)


async def test_space_version_and_deployment() -> None:
    _, received = await ask(Watsonx(), project_id=None, space_id="s-1", api_version="2025-01-01")
    assert received.path.endswith("?version=2025-01-01")
    assert received.json["space_id"] == "s-1"
    assert "project_id" not in received.json
    _, received = await ask(Watsonx(), deployment="d-1")
    assert received.path.startswith("/ml/v1/deployments/d-1/text/chat?")
    assert not {"model_id", "project_id"} & set(received.json)


async def test_gateway_speaks_openai_with_the_project_in_a_header() -> None:
    _, received = await ask(Watsonx(), {"tool_choice": "auto"}, gateway=True)
    assert received.path == "/ml/gateway/v1/chat/completions"
    assert received.headers["x-ibm-project-id"] == "p-1"
    assert received.headers["authorization"] == "Bearer token-number-1"
    assert received.json["tool_choice"] == "auto"


@pytest.mark.parametrize(
    ("place", "header"), [({}, "x-ibm-project-id"), ({"project_id": "", "space_id": "s-1"}, "x-ibm-space-id")]
)
async def test_gateway_is_told_project_or_space_at_every_request(place: dict[str, str], header: str) -> None:
    _, received = await ask(Watsonx(), gateway=True, **place)
    assert received.headers[header] == ("p-1" if header == "x-ibm-project-id" else "s-1")


async def test_many_callers_need_one_token() -> None:
    script = Watsonx()
    with Scripted(script) as server:
        async with session_with(server) as session:
            await asyncio.gather(*(session.ask(Request(body={"model": "m"})) for _ in range(40)))
    assert script.issued == 1


async def test_a_token_is_renewed_before_it_expires() -> None:
    times = iter([0.0, 3530.0, 3545.0, 3545.0, 7000.0])  # a token is fetched at 0 and at 3545
    script = Watsonx(lifetime=3600)
    with Scripted(script) as server:
        spec = EndpointSpec(name="wx", dialect="watsonx", base_url=server.root, options={"iam_url": server.root})
        tokens = TokenSource(spec, region_of(server.root), KEY, Eraser(), clock=lambda: next(times))
        seen = [(await tokens.header())["Authorization"] for _ in range(4)]
    assert seen == ["Bearer token-number-1"] * 2 + ["Bearer token-number-2"] * 2


async def test_the_same_token_may_be_issued_again() -> None:
    """A token that is known already is erased from what is kept, not from the answer that brings it."""

    def script(received: Received) -> Answer:
        return Answer({"access_token": "token-for-ever", "expires_in": 0}) if "token" in received.path else completion()

    with Scripted(script) as server:
        async with session_with(server) as session:
            for _ in range(2):
                exchange = await session.ask(Request(body={"model": "m"}))
    assert exchange.fault is None
    assert server.received[-1].headers["authorization"] == "Bearer token-for-ever"


async def test_an_expired_token_costs_one_more_attempt_and_one_refresh_for_all() -> None:
    script = Watsonx(good_for=20)
    with Scripted(script) as server:
        async with session_with(server) as session:
            exchanges = await asyncio.gather(*(session.ask(Request(body={"model": "m"})) for _ in range(200)))
    tokens = [received for received in server.received if received.path == "/identity/token"]
    assert len(tokens) == 2
    assert [exchange.fault for exchange in exchanges if exchange.fault] == []
    assert max(len(exchange.attempts) for exchange in exchanges) == 2


async def test_a_wrong_key_is_told_by_its_source() -> None:
    with Scripted(Watsonx()) as server:
        async with session_with(server, Secret("another-key-1", source="MY_VARIABLE")) as session:
            with pytest.raises(UnauthorisedError, match=r"refuses the key from MY_VARIABLE.*could not be found"):
                await session.models()
            exchange = await session.ask(Request(body={"model": "m"}))
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.AUTH
    assert "another-key-1" not in str(exchange)


async def test_the_token_is_erased_from_what_is_kept() -> None:
    script = Watsonx(Answer({"errors": [{"code": "x", "message": "you sent token-number-1"}]}, 400))
    exchange, _ = await ask(script)
    assert b"token-number-1" not in exchange.payload
    assert "token-number-1" not in str(exchange)


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (
            400,
            "model_no_support_for_function",
            "Model 'm' does not support function 'text_chat'",
            FaultKind.UNSUPPORTED,
        ),
        (404, "model_not_supported", "Model 'm' is not supported for this environment.", FaultKind.UNKNOWN_MODEL),
        (429, "consumption_limit_reached", "limit reached", FaultKind.RATE_LIMITED),
        (403, "consumption_limit_reached", "limit reached", FaultKind.RATE_LIMITED),
        (400, "invalid_request_entity", "Missing either space_id or project_id", FaultKind.CONFIGURATION),
        (404, "container_not_found", "project id p-1 not found", FaultKind.CONFIGURATION),
        (400, "json_validation_error", "json: messages is required", FaultKind.REJECTED),
        (500, "downstream_request_failed", "boom", FaultKind.SERVER_ERROR),
    ],
)
async def test_errors(status: int, code: str, message: str, kind: FaultKind) -> None:
    body = {"errors": [{"code": code, "message": message, "more_info": "url"}], "trace": "t", "status_code": status}
    exchange, _ = await ask(Watsonx(Answer(body, status)))
    assert exchange.fault is not None
    assert exchange.fault.kind is kind
    assert message in exchange.fault.message


async def test_a_wrong_project_says_which_option_to_mend() -> None:
    body = {"errors": [{"code": "container_not_found", "message": "project id p-1 not found"}]}
    exchange, _ = await ask(Watsonx(Answer(body, 404)))
    assert exchange.fault is not None
    assert "--project-id" in exchange.fault.message


async def test_a_deployment_without_project_can_be_refused_for_its_place_too() -> None:
    body = {"errors": [{"code": "not_found", "message": "deployment is in another space id"}]}
    exchange, _ = await ask(Watsonx(Answer(body, 404)), project_id=None, deployment="d-1")
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.CONFIGURATION
    assert "--space-id" in exchange.fault.message


async def test_a_token_service_that_disappears_leaves_the_refusal_standing() -> None:
    script = Watsonx(good_for=0)

    def vanishing(received: Received) -> Answer:
        return Answer({}, 404) if script.used and received.path == "/identity/token" else script(received)

    with Scripted(vanishing) as server:
        async with session_with(server) as session:
            exchange = await session.ask(Request(body={"model": "m"}))
    assert exchange.fault is not None
    assert exchange.fault.kind is FaultKind.AUTH


async def test_no_project_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="--project-id or --space-id"):
        await ask(Watsonx(), project_id=None)


async def test_no_key_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="WATSONX_API_KEY"):
        open_endpoint(EndpointSpec(name="wx", dialect="watsonx", options={"project_id": "p"}))


def resource(model: str, *functions: str, **more: Any) -> dict[str, Any]:
    return {"model_id": model, "label": model.upper(), "functions": [{"id": name} for name in functions], **more}


async def list_models(*pages: list[dict[str, Any]], foreign: bool = False) -> list[ModelInfo]:
    script = Watsonx()
    with Scripted(script) as server:
        host = "http://elsewhere.example" if foreign else server.root
        for number, resources in enumerate(pages, start=1):
            page: dict[str, Any] = {"total_count": 3, "limit": 200, "resources": resources}
            if number < len(pages):
                page["next"] = {"href": f"{host}/ml/v1/foundation_model_specs?start={number}&version=2023-05-29"}
            script.pages.append(page)
        async with session_with(server) as session:
            return await session.models()


async def test_all_pages_with_what_each_model_can() -> None:
    models = await list_models(
        [resource("a", "text_generation", "text_chat", task_ids=["function_calling"]), resource("b", "embedding")],
        [resource("c", "text_chat", task_ids=["summarization"]), resource("d", "rerank")],
        [resource("e", "text_chat", lifecycle=[{"id": "withdrawn", "start_date": "2020-01-01"}]), {"broken": 1}],
        [{"model_id": "f", "functions": 5, "tasks": {}, "task_ids": [{}]}],
    )
    assert [(info.id, info.can_chat, info.declares_tools) for info in models] == [
        ("a", True, True),
        ("b", False, None),
        ("c", True, False),
        ("d", False, None),
        ("e", False, None),
        ("f", True, None),
    ]
    assert models[1].why_not == "has no chat function (only embedding)"
    assert models[0].label == "A"


async def test_a_next_page_elsewhere_is_not_followed_with_our_token() -> None:
    with pytest.raises(ListingError, match="another server"):
        await list_models([resource("a")], [resource("b")], foreign=True)


async def test_an_empty_list_is_an_error() -> None:
    with pytest.raises(ListingError, match="lists no model"):
        await list_models([])


async def test_a_refused_page_is_an_error() -> None:
    def script(received: Received) -> Answer:
        return Answer({"access_token": "t-0123456789"}) if "token" in received.path else refusal(500, "boom")

    with Scripted(script) as server:
        async with session_with(server) as session:
            began = time.monotonic()
            with pytest.raises(ListingError, match="500: boom"):
                await session.models()
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-de", "https://eu-de.ml.cloud.ibm.com"),
        ("us-east-1", "https://us-east-1.aws.wxai.ibm.com"),
        ("us-gov", "https://wxai.ibmforusgov.com"),
    ],
)
async def test_regions(region: str, host: str) -> None:
    spec = EndpointSpec(name="wx", dialect="watsonx", options={"project_id": "p", "region": region})
    async with open_endpoint(spec, KEY) as session:
        assert session.dialect.spec.base_url == host


async def test_unknown_region() -> None:
    spec = EndpointSpec(name="wx", dialect="watsonx", options={"project_id": "p", "region": "eu-dee"})
    with pytest.raises(ConfigurationError, match="Did you mean eu-de"):
        open_endpoint(spec, KEY)
