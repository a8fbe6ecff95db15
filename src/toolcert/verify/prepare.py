"""From a row to the request that is sent: the row itself is never changed."""

from __future__ import annotations

from enum import StrEnum

from toolcert.core.requests import Request, RequestKind
from toolcert.core.values import JsonObject, Value
from toolcert.verify.adapters.base import ModelAdapter
from toolcert.verify.adapters.registry import get_adapter

_NOT_FOR_COMPLETIONS = frozenset(
    {"messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "functions", "function_call"}
)
"""What the chat template has put into the prompt, or the completions door does not know."""


class StreamMode(StrEnum):
    """Whether answers are streamed."""

    AS_RECORDED = "as-recorded"
    """As each row says."""
    ON = "on"
    OFF = "off"


class Shaping(Value):
    """What is changed in every row before it is sent."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    stream: StreamMode = StreamMode.AS_RECORDED
    extra_body: JsonObject = {}
    """Merged last, field by field at the top level."""
    adapter: str | None = None
    """Name of the adapter; None chooses by the model's name."""
    use_raw_completions: bool = False
    tokenizer_model: str | None = None


def adapter_of(shaping: Shaping) -> ModelAdapter:
    """The adapter these settings name."""
    return get_adapter(
        shaping.model,
        shaping.adapter,
        use_raw_completions=shaping.use_raw_completions,
        tokenizer_model=shaping.tokenizer_model,
    )


def prepare(body: JsonObject, shaping: Shaping, adapter: ModelAdapter) -> JsonObject:
    """The chat body for one row."""
    prepared = body | {"messages": adapter.transform_messages(body["messages"]), "model": shaping.model}
    if shaping.temperature is not None:
        prepared["temperature"] = shaping.temperature
    if shaping.max_tokens is not None:
        name = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
        prepared[name] = shaping.max_tokens
    if shaping.stream is not StreamMode.AS_RECORDED:
        prepared["stream"] = shaping.stream is StreamMode.ON
    if shaping.extra_body:
        prepared.update(shaping.extra_body)
    _ask_for_usage(prepared, shaping.extra_body)
    return prepared


def _ask_for_usage(prepared: JsonObject, extra_body: JsonObject) -> None:
    """Usage comes in a stream only when asked for; without a stream the option is refused by some servers."""
    if "stream_options" in extra_body:
        return
    if prepared.get("stream") is True:
        given = prepared.get("stream_options")
        prepared["stream_options"] = (given if isinstance(given, dict) else {}) | {"include_usage": True}
    else:
        prepared.pop("stream_options", None)


def completion_request(body: JsonObject, adapter: ModelAdapter) -> Request:
    """The same row for the raw completions door, rendered by the model's own template."""
    from toolcert.verify.adapters.tokenizer import render

    kept = {name: value for name, value in body.items() if name not in _NOT_FOR_COMPLETIONS}
    prompt = render(adapter.get_tokenizer(), body)
    return Request(body=kept | {"prompt": prompt}, kind=RequestKind.COMPLETIONS)
