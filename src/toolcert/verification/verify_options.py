"""The options of a verify run, and what they change in each row before it is sent; the row itself is never changed."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from toolcert.core.cases import BELONGS_TO_MERGE, ONLY_A_SHARE
from toolcert.core.errors import UsageError
from toolcert.core.gates import Gates, parse_gates, parse_limits
from toolcert.core.requests import Request, RequestKind, SharedTools
from toolcert.core.values import JsonObject, Value
from toolcert.core.verdict import VERIFY_THRESHOLD, Word
from toolcert.runs.encoding import Keep
from toolcert.settings.keyword_options import KeywordOptions
from toolcert.verification.adapters.base import ModelAdapter
from toolcert.verification.adapters.registry import get_adapter, load_adapter
from toolcert.verification.dataset.selection import Selection, parse_where
from toolcert.verification.summary.failed_gates import GATE_NAMES

_NOT_FOR_COMPLETIONS = frozenset(
    {"messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "functions", "function_call"}
)
"""Fields that the chat template puts into the prompt, or that /completions does not accept."""


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
    """Ask for usage in streams, which omit it otherwise; without a stream, some servers refuse the option."""
    if "stream_options" in extra_body:
        return
    if prepared.get("stream") is True:
        given = prepared.get("stream_options")
        prepared["stream_options"] = (given if isinstance(given, dict) else {}) | {"include_usage": True}
    else:
        prepared.pop("stream_options", None)


def completion_request(body: JsonObject, adapter: ModelAdapter) -> Request:
    """The same row as a raw completion, its prompt rendered by the model's chat template."""
    from toolcert.verification.adapters.base import render

    kept = {name: value for name, value in body.items() if name not in _NOT_FOR_COMPLETIONS}
    prompt = render(adapter.get_tokenizer(), body)
    return Request(body=kept | {"prompt": prompt}, kind=RequestKind.COMPLETIONS)


class VerifyOptions(KeywordOptions, kw_only=True):
    """How to verify; the names are those of the command's options."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    extra_body: JsonObject = {}
    stream: bool | None = None
    """None sends each row as it was recorded."""
    model_type: str | None = None
    adapter: str | None = None
    """`file.py:Class` of an adapter of your own."""
    use_raw_completions: bool = False
    tokenizer_model: str | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    where: tuple[str, ...] = ()
    output: str | None = None
    fresh: bool = False
    only_failed: bool = False
    max_requests: int | None = None
    shard: str | None = None
    """As in `2/8`: only this share of the chosen rows."""
    engine: str = "local"
    """`ray` has the rows asked by workers of a Ray cluster."""
    ray_address: str | None = None
    ray_workers: int | None = None
    keep: Keep = Keep.RAW
    threshold: float = VERIFY_THRESHOLD
    """The share of sound answers that a good run reaches."""
    fail_under: str = ""
    """As in `schema=0.98,trigger=95%,p95<2s`."""
    fail_on: tuple[str, ...] = ()
    require: str | None = None
    """`passes` or `certified`."""
    allow: tuple[str, ...] = ()
    known: str | None = None
    """A file of marks: what it calls known or wrong closes no gate and does not count in the verdict."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fresh and self.only_failed:
            raise UsageError("--fresh forgets the run whose failed rows --only-failed asks again; give one of them.")
        if self.only_failed and self.output is None:
            raise UsageError("--only-failed needs --output.", remedy="Name the folder of the earlier run.")
        if self.shard and self.gates():
            raise UsageError(
                f"VerifyOptions(shard={self.shard!r}) with a gate: {ONLY_A_SHARE}.", remedy=BELONGS_TO_MERGE
            )
        if self.engine != "ray" and (self.ray_address or self.ray_workers):
            given = "--ray-address" if self.ray_address else "--ray-workers"
            raise UsageError(f"{given} is for another engine.", remedy="Add --engine ray, or leave it out.")

    def gates(self) -> Gates:
        """What the exit code depends on."""
        limits, rates = parse_limits(self.fail_under)
        return Gates(
            figures=parse_gates(rates, GATE_NAMES),
            limits=limits,
            fail_on=self.fail_on,
            require=None if self.require is None else Word(self.require),
            allow=self.allow,
        )

    def shaping(self) -> Shaping:
        """What is changed in every row."""
        stream = {None: StreamMode.AS_RECORDED, True: StreamMode.ON, False: StreamMode.OFF}[self.stream]
        tools = self.extra_body.get("tools")
        shared = {"tools": SharedTools(tools)} if isinstance(tools, list) else {}
        return Shaping(
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            stream=stream,
            extra_body=self.extra_body | shared,
            adapter=load_adapter(self.adapter) if self.adapter else self.model_type,
            use_raw_completions=self.use_raw_completions,
            tokenizer_model=self.tokenizer_model,
        )

    def selection(self) -> Selection:
        """Which rows are asked."""
        chosen = parse_where(self.where)
        return msgspec.structs.replace(chosen, sample=self.sample, seed=self.seed, limit=self.limit)

    def parameters(self, shaping: Shaping) -> JsonObject:
        """What shapes the requests, for the manifest."""
        chosen = {
            "limit": self.limit,
            "sample": self.sample,
            "seed": self.seed if self.sample else None,
            "where": list(self.where) or None,
            "keep": str(self.keep),
            "threshold": self.threshold,
        }
        shown: JsonObject = msgspec.to_builtins(shaping)
        return shown | {name: value for name, value in chosen.items() if value is not None}
