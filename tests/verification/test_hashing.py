"""Which rows are the same."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rows import TIME, row
from toolcert.core.targets import EndpointSpec
from toolcert.core.text.json_value import canonical, plain_numbers
from toolcert.verification.dataset.lines import describe
from toolcert.verification.digest import call_digest, content_hash, row_key, sampling_hash, target_hash

SPEC = EndpointSpec(name="vendor", base_url="http://localhost:1/v1")


def key(body: dict[str, Any], spec: EndpointSpec = SPEC, **shaping: Any) -> str:
    return row_key(target_hash(spec, {"model": "m", **shaping}), content_hash(body), body)


def test_the_order_of_keys_says_nothing() -> None:
    body = row(1)
    assert content_hash(body) == content_hash(dict(reversed(body.items())))
    assert key(body) == key(dict(reversed(body.items())))


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"role": "user", "content": "other"}]},
        {"tools": [TIME]},
        {"tools": None},
        {"tool_choice": "required"},
        {"parallel_tool_calls": False},
        {"response_format": {"type": "json_object"}},
    ],
)
def test_what_is_asked_is_in_the_content_and_in_the_key(change: dict[str, Any]) -> None:
    assert content_hash(row(1) | change) != content_hash(row(1))
    assert key(row(1) | change) != key(row(1))


@pytest.mark.parametrize(
    "change", [{"temperature": 1.0}, {"top_p": 0.5}, {"max_tokens": 9}, {"seed": 1}, {"stream": True}]
)
def test_how_it_is_asked_is_in_the_sampling_hash_and_not_in_the_content(change: dict[str, Any]) -> None:
    assert content_hash(row(1) | change) == content_hash(row(1))
    assert sampling_hash(row(1) | change) != sampling_hash(row(1))
    assert key(row(1) | change) != key(row(1))


def test_routing_fields_are_in_the_key_alone() -> None:
    routed = row(1) | {"provider": {"only": ["x"]}, "user": "u"}
    assert content_hash(routed) == content_hash(row(1))
    assert sampling_hash(routed) == sampling_hash(row(1))
    assert key(routed) != key(row(1))


def test_endpoint_model_and_extra_body_are_in_the_key() -> None:
    elsewhere = EndpointSpec(name="vendor", base_url="http://localhost:2/v1")
    renamed = EndpointSpec(name="another name", base_url="http://localhost:1/v1/")
    assert key(row(1)) != key(row(1), elsewhere)
    assert key(row(1)) != key(row(1), model="other")
    assert key(row(1)) != key(row(1), extra_body={"top_k": 1})
    assert key(row(1)) == key(row(1), renamed)


def test_a_known_digest_of_the_tools_gives_the_same_content() -> None:
    body = row(1)
    assert content_hash(body, describe(body["tools"]).digest) == content_hash(body)


def test_calls_are_equal_when_their_json_is() -> None:
    assert call_digest("f", {"a": 1, "b": [2.0, {"c": 3}]}) == call_digest("f", {"b": [2, {"c": 3.0}], "a": 1.0})
    assert call_digest("f", {"a": 1e3}) == call_digest("f", {"a": 1000})
    assert call_digest("f", {"a": "1.0"}) != call_digest("f", {"a": "1"})
    assert call_digest("f", {"a": True}) != call_digest("f", {"a": 1})
    assert call_digest("f", {}) != call_digest("g", {})


TEXTS = st.text(max_size=6) | st.sampled_from(["1.0", ":1.0,", "[1e5", "2.50"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, JSON, max_size=4))
def test_a_digest_is_that_of_the_plain_numbers(arguments: dict[str, Any]) -> None:
    plain = canonical(["f", plain_numbers(arguments)])
    assert call_digest("f", arguments) == hashlib.sha256(plain).hexdigest()[:16]
