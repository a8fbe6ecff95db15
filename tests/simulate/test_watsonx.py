"""The simulated watsonx.ai: tokens, pages, both forms of chat, and its errors, over TLS."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from support.raw_http import Got, fetch
from toolcert.core.requests import user
from toolcert.simulate.situations import A_CALL, WORDS
from toolcert.simulate.watsonx import DEPLOYMENT, WatsonxVendor

GRANT = "urn:ibm:params:oauth:grant-type:apikey"
GRANITE = "ibm/granite-3-3-8b-instruct"


@pytest.fixture(scope="module")
def watsonx() -> Iterator[WatsonxVendor]:
    with WatsonxVendor() as running:
        yield running


class Client:
    """As little of a client as the tests need."""

    def __init__(self, vendor: WatsonxVendor) -> None:
        self._vendor = vendor
        self._tls = ssl.create_default_context(cafile=vendor.ca_bundle)
        self.token = ""

    def log_in(self, key: str | None = None) -> Got:
        form = urlencode({"grant_type": GRANT, "apikey": key or self._vendor.api_key})
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        got = fetch("POST", self._vendor.iam_url, form, headers, tls=self._tls)
        self.token = got.json.get("access_token", "")
        return got

    def get(self, path: str) -> Got:
        return fetch("GET", f"{self._vendor.url}{path}", None, self._headers(), tls=self._tls)

    def follow(self, address: str) -> Got:
        return fetch("GET", address, None, self._headers(), tls=self._tls)

    def post(self, path: str, body: Any, **headers: str) -> Got:
        return fetch("POST", f"{self._vendor.url}{path}", body, {**self._headers(), **headers}, tls=self._tls)

    def chat(self, body: Any, way: str = "chat") -> Got:
        return self.post(f"/ml/v1/text/{way}?version=2024-10-10", body)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@pytest.fixture
def client(watsonx: WatsonxVendor) -> Client:
    client = Client(watsonx)
    client.log_in()
    return client


def asked(vendor: WatsonxVendor, situation: Any = A_CALL, **more: Any) -> dict[str, Any]:
    return {"model_id": GRANITE, "project_id": vendor.project_id, **situation.body, **more}


def code(got: Got) -> tuple[int, str]:
    return got.status, got.json["errors"][0]["code"]


def test_only_those_who_trust_the_ca_get_in(watsonx: WatsonxVendor) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        fetch("GET", f"{watsonx.url}/ml/v1/foundation_model_specs", tls=ssl.create_default_context())


def test_a_token_is_given_for_the_right_key_only(watsonx: WatsonxVendor) -> None:
    client = Client(watsonx)
    good, bad = client.log_in().json, client.log_in("wrong")
    assert good["token_type"] == "Bearer"
    assert good["expiration"] > good["expires_in"] > 0
    assert good["access_token"].count(".") == 2
    assert (bad.status, bad.json["errorCode"]) == (400, "BXNIM0415E")


def test_tokens_are_needed_and_expire(watsonx: WatsonxVendor) -> None:
    client = Client(watsonx)
    assert code(client.chat(asked(watsonx))) == (401, "authentication_token_missing")
    client.token = "made.up.token"
    assert code(client.chat(asked(watsonx))) == (401, "authentication_token_not_valid")
    before = watsonx.tokens.issued
    client.log_in()
    assert client.chat(asked(watsonx)).status == 200
    watsonx.tokens.expire_all()
    assert code(client.chat(asked(watsonx))) == (401, "authentication_token_expired")
    client.log_in()
    assert client.chat(asked(watsonx)).status == 200
    assert watsonx.tokens.issued == before + 2


def test_the_specs_come_in_pages_and_say_who_can_chat(client: Client) -> None:
    page = client.get("/ml/v1/foundation_model_specs?version=2024-10-10&limit=4").json
    found = list(page["resources"])
    while "next" in page:
        page = client.follow(page["next"]["href"]).json
        found += page["resources"]
    chatty = {entry["model_id"] for entry in found if {"id": "text_chat"} in entry["functions"]}
    assert len(found) == page["total_count"] == 9
    assert GRANITE in chatty
    assert "ibm/slate-125m-english-rtrvr-v2" not in chatty
    assert page["first"]["href"].startswith("https://")


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ("function_text_chat", 5),
        ("!function_text_chat", 4),
        ("function_embedding,function_rerank:or", 2),
        ("function_embedding,function_rerank:and", 0),
        ("!lifecycle_withdrawn", 9),
        (f"modelid_{GRANITE}", 1),
    ],
)
def test_specs_can_be_filtered(client: Client, filters: str, count: int) -> None:
    query = urlencode({"version": "2024-10-10", "filters": filters})
    assert client.get(f"/ml/v1/foundation_model_specs?{query}").json["total_count"] == count


def test_a_chat_is_answered_with_model_id_and_usage(watsonx: WatsonxVendor, client: Client) -> None:
    body = client.chat(asked(watsonx, time_limit=5000, tool_choice_option="auto")).json
    choice = body["choices"][0]
    assert body["model_id"] == GRANITE
    assert "object" not in body
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])["guests"] == 4
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]


def test_a_word_as_choice_has_its_own_field(watsonx: WatsonxVendor, client: Client) -> None:
    named = {"type": "function", "function": {"name": "look_up_code"}}
    call = client.chat(asked(watsonx, tool_choice=named)).message["tool_calls"][0]
    assert call["function"]["name"] == "look_up_code"
    assert "tool_calls" not in client.chat(asked(watsonx, tool_choice_option="none")).message
    assert code(client.chat(asked(watsonx, tool_choice="auto"))) == (400, "json_type_error")
    assert code(client.chat(asked(watsonx, tool_choice_option="always"))) == (400, "json_validation_error")
    both = asked(watsonx, tool_choice=named, tool_choice_option="auto")
    assert code(client.chat(both)) == (400, "invalid_request_entity")


def test_a_stream_has_events_running_usage_and_a_close(watsonx: WatsonxVendor, client: Client) -> None:
    plain = client.chat(asked(watsonx)).json
    got = client.chat(asked(watsonx), "chat_stream")
    blocks = [block.splitlines() for block in got.payload.decode().strip().split("\n\n")]
    assert all(block[0].startswith("id: ") for block in blocks)
    assert {block[1] for block in blocks[:-1]} == {"event: message"}
    assert blocks[-1][1:] == ["event: close", "data: {}"]
    assert b"[DONE]" not in got.payload
    chunks = [json.loads(block[2].removeprefix("data: ")) for block in blocks[:-1]]
    spent = [chunk["usage"]["completion_tokens"] for chunk in chunks]
    assert spent == sorted(spent)
    assert spent[-1] == plain["usage"]["completion_tokens"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_an_error_inside_a_stream_is_an_event(watsonx: WatsonxVendor, client: Client) -> None:
    got = client.chat(asked(watsonx, model_id="fault:stream.error_inside"), "chat_stream")
    assert b"event: error\ndata: " in got.payload
    assert b"event: close" not in got.payload


def test_a_cut_stream_has_no_close(watsonx: WatsonxVendor, client: Client) -> None:
    got = client.chat(asked(watsonx, model_id="fault:stream.cut"), "chat_stream")
    assert b"event: message" in got.payload
    assert b"event: close" not in got.payload


def test_deployments_answer_without_model_or_project(watsonx: WatsonxVendor, client: Client) -> None:
    body = dict(WORDS.body)
    got = client.post(f"/ml/v1/deployments/{DEPLOYMENT}/text/chat?version=2024-10-10", body)
    assert (got.status, got.json["model_id"]) == (200, GRANITE)
    streamed = client.post(f"/ml/v1/deployments/{DEPLOYMENT}/text/chat_stream?version=2024-10-10", body)
    assert b"event: close" in streamed.payload
    assert client.post("/ml/v1/deployments/nobody/text/chat?version=2024-10-10", body).status == 404
    assert client.get(f"/ml/v4/deployments/{DEPLOYMENT}").json["entity"]["base_model_id"] == GRANITE


def test_the_gateway_speaks_the_usual_protocol(watsonx: WatsonxVendor, client: Client) -> None:
    body = {"model": GRANITE, "messages": [user("Hi")]}
    place = {"X-IBM-PROJECT-ID": watsonx.project_id}
    got = client.post("/ml/gateway/v1/chat/completions", body, **place)
    assert (got.status, got.json["object"]) == (200, "chat.completion")
    assert code(client.post("/ml/gateway/v1/chat/completions", body)) == (400, "invalid_request_entity")


def test_errors_have_their_codes(watsonx: WatsonxVendor, client: Client) -> None:
    assert code(client.chat(asked(watsonx, model_id="nobody/x"))) == (404, "model_not_supported")
    embedding = asked(watsonx, model_id="ibm/slate-125m-english-rtrvr-v2")
    assert code(client.chat(embedding)) == (400, "model_no_support_for_function")
    refusing = asked(watsonx, model_id="ibm/granite-guardian-3-8b")
    assert code(client.chat(refusing)) == (400, "model_no_support_for_function")
    foreign = asked(watsonx, project_id="somebody-elses")
    assert code(client.chat(foreign)) == (403, "no_associated_service_instance_error")
    assert "project_id" in client.chat(foreign).json["errors"][0]["message"]
    nowhere = {key: value for key, value in asked(watsonx).items() if key != "project_id"}
    assert code(client.chat(nowhere)) == (400, "invalid_request_entity")
    assert code(client.chat({**asked(watsonx), "messages": []})) == (400, "json_validation_error")
    assert code(client.chat(b"{broken")) == (400, "json_validation_error")
    assert client.post("/ml/v1/text/chat", asked(watsonx)).status == 400
    assert client.get("/ml/v1/nothing").status == 404


def test_outages_speak_its_language(client: Client, watsonx: WatsonxVendor) -> None:
    watsonx.outage("429", count=1, retry_after=1)
    got = client.chat(asked(watsonx))
    assert code(got) == (429, "consumption_limit_reached")
    assert got.headers["retry-after"] == "1"
