"""Personas: what each is for, and that flakiness is exact."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.raw_http import chat
from toolcert.simulate import Vendor
from toolcert.simulate.persona import DEMO, MALFORMED, SCORING, Flakiness, names, persona
from toolcert.simulate.situations import A_CALL, A_RESULT, JSON_OBJECT, TWO_CALLS, WORDS, Situation


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor() as running:
        yield running


def calls(vendor: Vendor, model: str, situation: Situation = A_CALL) -> int:
    return len(chat(vendor.url, situation.request(model)).message.get("tool_calls") or ())


def test_the_demo_has_eight_and_every_name_has_a_persona() -> None:
    assert len(set(DEMO)) == 8
    assert {*DEMO, *SCORING, *MALFORMED} <= set(names())
    assert all(persona(name) for name in names())


@pytest.mark.parametrize("model", ["", "gpt-4", "fault:", "fault:no.such", "flaky:3/2", "flaky:1/2:nobody", "slow:x"])
def test_other_ids_are_nobody(model: str) -> None:
    assert persona(model) is None


@pytest.mark.parametrize(("good", "of"), [(7, 10), (29, 50), (45, 50), (0, 5), (5, 5)])
def test_exactly_k_of_every_n_are_good(good: int, of: int) -> None:
    flakiness = Flakiness(good=good, of=of)
    for block in range(3):
        fails = [flakiness.fails(block * of + place, "seed") for place in range(of)]
        assert fails.count(False) == good


def test_a_flaky_model_is_flaky_over_http_and_first_turns_are_counted_apart() -> None:
    with Vendor(models=["flaky:3/5"]) as vendor:
        made = []
        for _ in range(10):
            made.append(calls(vendor, "flaky:3/5"))
            chat(vendor.url, A_RESULT.request("flaky:3/5"))
        assert sum(made) == 6


def test_a_flaky_model_can_have_any_fault() -> None:
    with Vendor(models=["flaky:1/2:fault:args.empty"]) as vendor:
        answers = [chat(vendor.url, A_CALL.request("flaky:1/2:fault:args.empty")).message for _ in range(4)]
        arguments = [answer["tool_calls"][0]["function"]["arguments"] for answer in answers]
        assert arguments.count("") == 2


def test_the_scoring_personas_fail_where_they_should(vendor: Vendor) -> None:
    seen = {}
    for model in SCORING:
        streamed = chat(vendor.url, A_CALL.request(model, stream=True)).payload
        seen[model] = (
            calls(vendor, model) == 1,
            "QX-7741" in chat(vendor.url, A_RESULT.request(model)).message["content"],
            calls(vendor, model, TWO_CALLS) == 2,
            chat(vendor.url, JSON_OBJECT.request(model)).message["content"].startswith("{"),
            b"[DONE]" in streamed and b"book_table" in streamed,
        )
    assert seen == {
        "score-100": (True, True, True, True, True),
        "score-90": (True, True, True, False, True),
        "score-65": (True, False, True, True, True),
        "score-50": (True, False, True, False, False),
        "score-30": (False, False, True, False, True),
    }


def test_the_malformed_ones_are_malformed(vendor: Vendor) -> None:
    got = {model: chat(vendor.url, A_CALL.request(model)) for model in MALFORMED}
    assert {answer.status for answer in got.values()} == {200}
    assert got["null-calls"].message["tool_calls"] is None
    assert got["no-choices"].json["choices"] == []
    assert isinstance(got["json-list"].json, list)
    assert got["html-page"].payload.startswith(b"<!DOCTYPE html>")
    assert "error" in got["error-200"].json


def test_refusals_name_the_parameter(vendor: Vendor) -> None:
    refused = {
        "no-tools": ("tools", "unsupported_parameter"),
        "refuses-max-tokens": ("max_tokens", "unsupported_parameter"),
        "refuses-temperature": ("temperature", "unsupported_value"),
    }
    for model, expected in refused.items():
        got = chat(vendor.url, A_CALL.request(model))
        assert got.status == 400
        assert (got.json["error"]["param"], got.json["error"]["code"]) == expected


def test_a_refused_parameter_left_out_gives_an_answer(vendor: Vendor) -> None:
    body = A_CALL.request("refuses-max-tokens")
    body["max_completion_tokens"] = body.pop("max_tokens")
    assert chat(vendor.url, body).status == 200
    plain = {key: value for key, value in WORDS.request("no-tools").items() if key != "tools"}
    assert chat(vendor.url, plain).status == 200


def test_the_overloaded_one_is_busy_two_times_of_five() -> None:
    with Vendor(models=["overloaded"]) as vendor:
        statuses = [chat(vendor.url, WORDS.request("overloaded")).status for _ in range(10)]
        assert (statuses.count(429), statuses.count(200)) == (4, 6)


def test_the_reasoner_counts_its_thoughts(vendor: Vendor) -> None:
    body = chat(vendor.url, WORDS.request("reasoner")).json
    assert body["choices"][0]["message"]["reasoning_content"]
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]


def test_kimi_ids_count_through_the_conversation(vendor: Vendor) -> None:
    found = chat(vendor.url, TWO_CALLS.request("kimi-faithful")).message["tool_calls"]
    assert [call["id"] for call in found] == ["functions.look_up_code:0", "functions.look_up_code:1"]
