"""Listing models at OpenAI-compatible servers and Azure: every shape in use, and never an invented model."""

from __future__ import annotations

from typing import Any

import pytest

from support.scripted import Answer, Received, Script, Scripted, completion, in_turn, refusal
from toolcert.core.errors import ListingError, ToolcertError, UnauthorisedError, UnreachableError
from toolcert.core.requests import Request
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.endpoints.registry import open_endpoint

KEY = Secret("sk-test-0123456789", source="TEST_KEY")
PAGE = b"<!DOCTYPE html><html><title>Sign in</title></html>"


async def list_models(script: Script, *, path: str = "/v1", key: Secret | None = KEY, **spec: Any) -> list[ModelInfo]:
    with Scripted(script) as server:
        async with open_endpoint(
            EndpointSpec(name="e", base_url=server.root + path, retries=0, **spec), key
        ) as session:
            return await session.models()


@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": [{"id": "a"}, {"id": "b"}]},
        [{"id": "a"}, {"id": "b"}],
        {"models": [{"name": "a"}, {"name": "b"}]},
        {"data": ["a", "b"]},
        {"data": [{"id": "a"}, None, {"object": "x"}, {"id": ""}, {"id": "b"}]},
    ],
)
async def test_shapes_of_the_list(body: Any) -> None:
    assert [info.id for info in await list_models(in_turn(Answer(body)))] == ["a", "b"]


async def test_a_model_listed_twice_is_one_model() -> None:
    listing = {"data": [{"id": "b", "owned_by": "first"}, {"id": "a"}, {"id": "b", "owned_by": "second"}]}
    assert [(info.id, info.owned_by) for info in await list_models(in_turn(Answer(listing)))] == [
        ("b", "first"),
        ("a", None),
    ]


async def test_listing_sends_the_headers_that_every_request_sends() -> None:
    """A gateway that wants a header of its own wants it at the list, too."""

    def script(received: Received) -> Answer:
        known = received.headers.get("x-team") == "tools" and received.headers.get("openai-organization") == "org-1"
        return Answer({"data": [{"id": "a"}]}) if known else refusal(400, "who are you?")

    found = await list_models(script, headers={"X-Team": "tools"}, options={"organization": "org-1"})
    assert [info.id for info in found] == ["a"]


async def test_abilities_and_facts_are_read() -> None:
    entry = {"id": "text-embedding-3", "owned_by": "o", "description": "d" * 500, "created": 1}
    [info] = await list_models(in_turn(Answer({"data": [entry]})))
    assert (info.can_chat, info.owned_by) == (False, "o")
    assert info.why_not == "an embedding model"
    assert info.raw == {"owned_by": "o", "created": 1}


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
async def test_the_address_may_be_given_with_or_without_version(path: str) -> None:
    def script(received: Received) -> Answer:
        return Answer({"data": [{"id": "a"}]}) if received.path == "/v1/models" else refusal(404, "Not Found")

    assert [info.id for info in await list_models(script, path=path)] == ["a"]


async def test_a_server_without_version_is_found_and_used_from_then_on() -> None:
    def script(received: Received) -> Answer:
        if received.path == "/api/models":
            return Answer({"data": [{"id": "a"}]})
        return completion() if received.path == "/api/chat/completions" else Answer(PAGE)

    with Scripted(script) as server:
        async with open_endpoint(EndpointSpec(name="e", base_url=f"{server.root}/api")) as session:
            assert [info.id for info in await session.models()] == ["a"]
            assert (await session.ask(Request(body={"model": "a"}))).url == f"{server.root}/api/chat/completions"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (Answer({"data": []}), ListingError, "lists no model"),
        (Answer({"data": None}), ListingError, "lists no model"),
        (Answer({"status": "ok"}), ListingError, "no list of models"),
        (Answer("text"), ListingError, "no list of models"),
        (Answer({"error": {"message": "out of order"}}), ListingError, "answers with an error: out of order"),
        (Answer(PAGE), ListingError, "answers with a web page"),
        (Answer(b"pong"), ListingError, "not JSON"),
        (Answer(b""), ListingError, "not JSON"),
        (Answer(b"[" * 100_000 + b"]" * 100_000), ListingError, "not JSON"),
        (refusal(404, "Not Found"), ListingError, "answers 404: Not Found"),
        (refusal(500, "boom"), ListingError, "answers 500: boom"),
        (refusal(401, "bad key"), UnauthorisedError, "refuses the key from TEST_KEY; it says 401: bad key"),
        (refusal(403, "bad key"), UnauthorisedError, "TEST_KEY"),
        (Answer(PAGE, 403), UnauthorisedError, "a web page, not JSON: Sign in"),
    ],
)
async def test_no_list_is_an_error_that_says_why(answer: Answer, error: type[ToolcertError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        await list_models(in_turn(answer))
    assert caught.value.exit_code == 3
    assert KEY.reveal() not in str(caught.value)


async def test_an_error_of_the_server_is_not_blamed_on_the_address() -> None:
    with pytest.raises(ListingError) as caught:
        await list_models(in_turn(refusal(500, "boom")))
    assert "log" in caught.value.remedy


async def test_a_server_without_tls_is_not_called_untrusted() -> None:
    with Scripted(in_turn(Answer({"data": []}))) as server:
        url = server.root.replace("http://", "https://")
        async with open_endpoint(EndpointSpec(name="e", base_url=url, retries=0)) as session:
            with pytest.raises(UnreachableError) as caught:
                await session.models()
    assert "http://" in caught.value.remedy


async def test_a_missing_key_names_the_variable_to_set() -> None:
    with pytest.raises(UnauthorisedError, match=r"none was given.*MY_VARIABLE"):
        await list_models(in_turn(refusal(401, "no")), key=None, key_env="MY_VARIABLE")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://nowhere.invalid/v1"])
async def test_no_server_is_unreachable(url: str) -> None:
    async with open_endpoint(EndpointSpec(name="e", base_url=url, retries=0)) as session:
        with pytest.raises(UnreachableError, match=f"no answer from {url}/models"):
            await session.models()


async def test_a_silent_server_is_unreachable_in_bounded_time() -> None:
    from toolcert.core.targets import Timeouts

    timeouts = Timeouts(connect=1, read=0.1, between_chunks=0.1, total=0.2)
    with pytest.raises(UnreachableError):
        await list_models(in_turn(Answer({"data": []}, delay=0.5)), timeouts=timeouts)


async def test_azure_puts_deployment_and_version_into_the_address() -> None:
    with Scripted(lambda _: completion()) as server:
        spec = EndpointSpec(
            name="e", dialect="azure", base_url=server.root, options={"deployment": "dep", "api_version": "2024-10-21"}
        )
        async with open_endpoint(spec, KEY) as session:
            assert [info.id for info in await session.models()] == ["dep"]
            await session.ask(Request(body={"model": "dep"}))
    [received] = server.received
    assert received.path == "/openai/deployments/dep/chat/completions?api-version=2024-10-21"
    assert received.headers["api-key"] == KEY.reveal()
    assert "authorization" not in received.headers


async def test_azure_is_seen_from_its_address() -> None:
    with Scripted(lambda _: completion()) as server:
        url = f"{server.root}/openai/deployments/d2/chat/completions?api-version=2025-01-01"
        async with open_endpoint(EndpointSpec(name="e", base_url=url), KEY) as session:
            await session.ask(Request(body={"model": "m"}))
    assert server.received[0].path == "/openai/deployments/d2/chat/completions?api-version=2025-01-01"


async def test_azure_lists_deployments_where_it_may() -> None:
    listing = {"data": [{"id": "mine", "model": "gpt-4o", "status": "succeeded"}]}
    assert [info.id for info in await list_models(in_turn(Answer(listing)), path="", dialect="azure")] == ["mine"]
    with pytest.raises(ListingError, match="404"):
        await list_models(in_turn(refusal(404, "Resource not found")), path="", dialect="azure")
