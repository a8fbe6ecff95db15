"""The list of foundation models with their abilities, in pages, with filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from toolcert.core.values import JsonObject

DEFAULT_MODELS = {
    "ibm/granite-3-3-8b-instruct": "faithful",
    "meta-llama/llama-3-3-70b-instruct": "never-reads-results",
    "mistralai/mistral-medium-2505": "text-caller",
    "openai/gpt-oss-120b": "reasoner",
    "ibm/granite-guardian-3-8b": "no-tools",
}
"""Chat models and the personas behind them."""
OTHER_MODELS = {
    "ibm/slate-125m-english-rtrvr-v2": ("embedding",),
    "cross-encoder/ms-marco-minilm-l-12-v2": ("rerank",),
    "ibm/granite-ttm-1024-96-r2": ("time_series_forecast",),
    "google/flan-ul2": ("text_generation",),
}
"""Listed models that cannot chat."""
_LARGEST_PAGE = 200


def spec(model: str, functions: Sequence[str], *, withdrawn: bool = False) -> JsonObject:
    """The entry of one model."""
    chat = "text_chat" in functions
    lifecycle = [{"id": "available", "start_date": "2024-11-20"}]
    if withdrawn:
        lifecycle.append({"id": "withdrawn", "start_date": "2025-01-15"})
    return {
        "model_id": model,
        "label": model.rpartition("/")[2],
        "provider": model.partition("/")[0].upper() if model.startswith("ibm/") else model.partition("/")[0],
        "source": "Hugging Face",
        "functions": [{"id": function} for function in functions],
        "short_description": "A simulated model.",
        "task_ids": ["generation", "function_calling"] if chat else [],
        "tasks": [{"id": "generation"}, {"id": "function_calling"}] if chat else [],
        "input_tier": "class_c1",
        "output_tier": "class_c1",
        "number_params": "8b",
        "model_limits": {"max_sequence_length": 131072, "max_output_tokens": 8192},
        "lifecycle": lifecycle,
        "versions": [{"version": "1.0.0", "available_date": "2024-11-20"}],
    }


def specs(chat_models: Sequence[str], others: Mapping[str, Sequence[str]]) -> list[JsonObject]:
    """All entries, by id."""
    entries = [spec(model, ("text_chat", "text_generation")) for model in chat_models]
    entries += [spec(model, functions) for model, functions in others.items()]
    return sorted(entries, key=lambda entry: str(entry["model_id"]))


def page(entries: list[JsonObject], query: Mapping[str, str], address: str) -> JsonObject | str:
    """One page of the list, or the error for a bad query."""
    limit, start = query.get("limit", "100"), query.get("start", "0")
    if not limit.isdecimal() or not 1 <= int(limit) <= _LARGEST_PAGE:
        return f"Query parameter 'limit' must be between 1 and {_LARGEST_PAGE}"
    if not start.isdecimal():
        return "Query parameter 'start' is not one that was given out"
    wanted = [entry for entry in entries if _passes(entry, query.get("filters", ""))]
    first, after = int(start), int(start) + int(limit)
    found: JsonObject = {
        "total_count": len(wanted),
        "limit": int(limit),
        "first": {"href": _link(address, query, {})},
        "resources": wanted[first:after],
    }
    if after < len(wanted):
        found["next"] = {"href": _link(address, query, {"start": str(after)})}
    return found


def _link(address: str, query: Mapping[str, str], more: Mapping[str, str]) -> str:
    kept = {name: value for name, value in query.items() if name != "start"}
    return f"{address}?{urlencode({**kept, **more})}"


def _passes(entry: JsonObject, filters: str) -> bool:
    """Whether the entry matches a filter such as `a,!b:and` or `a,b:or`."""
    wanted, _, way = filters.partition(":") if filters.endswith((":and", ":or")) else (filters, "", "and")
    verdicts = [_meets(entry, one.removeprefix("!")) is not one.startswith("!") for one in wanted.split(",") if one]
    return any(verdicts) if way == "or" and verdicts else all(verdicts)


def _meets(entry: JsonObject, one: str) -> bool:
    kind, _, value = one.partition("_")
    if kind == "function":
        return value in [function["id"] for function in entry["functions"]]
    if kind == "lifecycle":
        return bool(entry["lifecycle"][-1]["id"] == value)
    if kind == "task":
        return value in entry["task_ids"]
    fields = {"modelid": "model_id", "provider": "provider", "source": "source"}
    return bool(entry.get(fields.get(kind, kind)) == value)
