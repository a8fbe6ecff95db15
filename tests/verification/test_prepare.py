"""From a row to the request that is sent."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from support.rows import WEATHER, row
from toolcert.core.requests import SharedTools
from toolcert.verification.adapters import KimiAdapter
from toolcert.verification.verify_options import Shaping, StreamMode, VerifyOptions, adapter_of, prepare


def sent(body: dict[str, Any], **shaping: Any) -> dict[str, Any]:
    settings = Shaping(model="asked", **shaping)
    return prepare(body, settings, adapter_of(settings))


def test_the_model_is_replaced_and_the_rest_left_as_recorded() -> None:
    assert sent(row(1, model="recorded", user="u")) == row(1, model="asked", user="u")


def test_tools_of_the_extra_body_are_shared_by_all_rows() -> None:
    shaping = VerifyOptions(model="asked", extra_body={"tools": [WEATHER]}).shaping()
    first, second = (prepare(row(n), shaping, adapter_of(shaping)) for n in (1, 2))
    assert first["tools"] == [WEATHER]
    assert isinstance(first["tools"], SharedTools)
    assert second["tools"] is first["tools"]


def test_overrides_win_over_the_row_and_the_extra_body_over_both() -> None:
    body = sent(row(1, max_tokens=5), temperature=0.7, max_tokens=9, extra_body={"temperature": 0.1, "top_k": 3})
    assert body["max_tokens"] == 9
    assert body["temperature"] == 0.1
    assert body["top_k"] == 3


def test_max_tokens_goes_by_the_name_the_row_uses() -> None:
    body = sent(row(1, max_completion_tokens=5), max_tokens=9)
    assert body["max_completion_tokens"] == 9
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("mode", "recorded", "streams"),
    [
        (StreamMode.AS_RECORDED, True, True),
        (StreamMode.AS_RECORDED, False, False),
        (StreamMode.ON, False, True),
        (StreamMode.OFF, True, False),
    ],
)
def test_usage_is_asked_for_in_streams_and_only_there(mode: StreamMode, recorded: bool, streams: bool) -> None:
    body = sent(row(1, stream=recorded, stream_options={"x": 1}), stream=mode)
    assert body["stream"] is streams
    assert body.get("stream_options") == ({"x": 1, "include_usage": True} if streams else None)


def test_an_extra_body_may_have_the_last_word_about_usage() -> None:
    body = sent(row(1, stream=True), extra_body={"stream_options": {"include_usage": False}})
    assert body["stream_options"] == {"include_usage": False}


@pytest.mark.parametrize("model_type", ["generic", "kimi"])
def test_the_row_itself_is_never_changed(model_type: str) -> None:
    """The same row may be prepared for another target later."""
    body = row(1, stream=True, stream_options={"x": 1})
    body["messages"] = [
        {"role": "_input", "content": "rules"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    ]
    before = copy.deepcopy(body)
    prepared = sent(body, adapter=model_type, temperature=1.0, max_tokens=1, extra_body={"a": {"b": 1}})
    prepared["messages"].append("spoiled")
    prepared["stream_options"]["spoiled"] = True
    body["messages"] = body["messages"][: len(before["messages"])]
    assert body == before


def test_an_adapter_chosen_by_name_pattern_prepares_the_messages() -> None:
    shaping = Shaping(model="moonshotai/Kimi-K2-0905")
    adapter = adapter_of(shaping)
    assert isinstance(adapter, KimiAdapter)
    body = prepare(row(1, messages=[{"role": "_input", "content": "x"}]), shaping, adapter)
    assert body["messages"] == [{"role": "system", "content": "x"}]
