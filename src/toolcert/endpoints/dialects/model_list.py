"""Model lists: fetched with errors for people, and read for which models cannot chat and which declare tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from toolcert.core.errors import (
    ConfigurationError,
    ListingError,
    NothingMeasuredError,
    ToolcertError,
    UnauthorisedError,
    UnreachableError,
)
from toolcert.core.exchanges import Fault, FaultCause, FaultKind
from toolcert.core.targets import EndpointSpec, Timeouts
from toolcert.core.text.json_text import BYTE_ORDER_MARK
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject
from toolcert.endpoints.dialects.base import Dialect
from toolcert.endpoints.dialects.error_answer import PAYMENT_REMEDY, is_html, read_error_text
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse
from toolcert.http.url import PROXY_REMEDY
from toolcert.protocol.unicode import NOT_JSON

_KINDS = {
    "embedding": "an embedding model",
    "embeddings": "an embedding model",
    "rerank": "a reranker",
    "image": "an image model",
    "image_generation": "an image model",
    "video": "a video model",
    "audio": "a speech model",
    "audio_speech": "a speech model",
    "audio_transcription": "a speech model",
    "transcribe": "a speech model",
    "moderation": "a moderation model",
    "completion": "a model for plain completions",
    "time_series": "a time-series model",
}
"""What `type` (Together), `mode` (LiteLLM) and `task` say."""
_NAMES = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), why)
    for pattern, why in (
        (r"embed|(^|[/:_-])(bge|e5|gte|minilm|voyage)-", "an embedding model"),
        (r"rerank", "a reranker"),
        (r"whisper|transcribe|(^|[/:_-])tts([-_:]|$)|text-to-speech|speech-", "a speech model"),
        (r"dall-e|gpt-image|imagen|stable-diffusion|(^|[/:_-])(sdxl|flux)([-_.]|$)", "an image model"),
        (r"(^|/)sora|(^|[/:_-])veo-", "a video model"),
        (r"moderation|llama-?guard|shieldgemma", "a moderation model"),
        (r"realtime", "a realtime model"),
        (r"(^|/)(babbage|davinci)-|gpt-3\.5-turbo-instruct", "a model for plain completions"),
    )
)
"""Only unambiguous names: a wrong guess would hide a model."""


def why_no_chat(model: str, entry: JsonObject) -> str:
    """Why the model cannot be asked to chat; empty when it can, or when nothing says otherwise."""
    capabilities = _table(entry, "capabilities")
    for name in ("completion_chat", "chat_completion"):
        if capabilities.get(name) is False:
            return "listed without the chat capability"
        if capabilities.get(name) is True:
            return ""
    if "*" in model:
        return "a pattern for models, not a model"
    return _by_kind(entry) or _by_output(entry) or _by_name(model)


def declared_tools(entry: JsonObject) -> bool | None:
    """What the listing says about tool calling; None where it says nothing."""
    parameters = entry.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list):
        return "tools" in parameters
    for table, name in (("capabilities", "function_calling"), ("model_info", "supports_function_calling")):
        claim = _table(entry, table).get(name)
        if isinstance(claim, bool):
            return claim
    claim = entry.get("supports_tools")
    return claim if isinstance(claim, bool) else None


def _by_kind(entry: JsonObject) -> str:
    for name in ("type", "mode", "task"):
        kind = entry.get(name) or _table(entry, "model_info").get(name)
        if isinstance(kind, str) and kind.lower() in _KINDS:
            return _KINDS[kind.lower()]
    return ""


def _by_output(entry: JsonObject) -> str:
    outputs = _table(entry, "architecture").get("output_modalities")
    return "writes no text" if isinstance(outputs, list) and outputs and "text" not in outputs else ""


def _by_name(model: str) -> str:
    return next((why for pattern, why in _NAMES if pattern.search(model)), "")


def _table(entry: JsonObject, name: str) -> dict[str, Any]:
    value = entry.get(name)
    return value if isinstance(value, dict) else {}


_TRANSPORT = (FaultKind.CONNECT, FaultKind.TLS, FaultKind.TIMEOUT, FaultKind.RESET)
LOOK_CLOSER = "; `toolcert doctor` looks closer."
_LONGEST = 30.0
"""Seconds to wait for a list."""


async def fetch(dialect: Dialect, client: HttpClient, url: str, headers: Mapping[str, str]) -> HttpResponse:
    """GET a page with the endpoint's headers and credentials, renewed once where they have become stale."""
    credentials = await dialect.authorise(client)
    response = await client.send(_get(dialect.spec, url, {**headers, **credentials}))
    if response.status == 401:
        renewed = await dialect.authorise(client, renew=True)
        if renewed != credentials:
            return await client.send(_get(dialect.spec, url, {**headers, **renewed}))
    return response


async def fetch_json(dialect: Dialect, client: HttpClient, url: str, headers: Mapping[str, str]) -> Any:
    """The JSON at `url`; every other answer is an error that says what to do."""
    response = await fetch(dialect, client, url, headers)
    fault = fault_of(dialect, response)
    if fault is not None:
        raise listing_error(dialect.spec, url, fault)
    return read_json(dialect.spec, url, response)


def fault_of(dialect: Dialect, response: HttpResponse) -> Fault | None:
    """Why a response cannot be used; None where it can."""
    if response.fault is not None:
        return response.fault
    assert response.status is not None
    return dialect.read_error(response) if response.status >= 300 else None


def read_json(spec: EndpointSpec, url: str, response: HttpResponse) -> Any:
    """The decoded body of a 200."""
    try:
        return msgspec.json.decode(response.payload.removeprefix(BYTE_ORDER_MARK))
    except NOT_JSON:
        what = "a web page" if is_html(response.payload) else "something that is not JSON"
        raise ListingError(
            f"{spec.name}: {url} answers with {what}.",
            remedy="Is this the address of the API, and not of its website or a sign-in page?",
        ) from None


def listing_error(spec: EndpointSpec, url: str, fault: Fault) -> ToolcertError:
    """The error to raise for a fault where the command cannot go on without an answer."""
    told = f"{spec.name}: {fault.message}"
    if fault.kind in _TRANSPORT and fault.status is None:
        return UnreachableError(f"{spec.name}: no answer from {url}: {fault.message}", remedy=_remedy(fault))
    if fault.kind is FaultKind.AUTH:
        return UnauthorisedError(told)
    if fault.kind is FaultKind.CONFIGURATION and fault.status not in (404, 405):
        return ConfigurationError(told)
    if fault.kind is FaultKind.PAYMENT:
        return NothingMeasuredError(told, remedy=PAYMENT_REMEDY)
    remedy = "Check the address." if (fault.status or 0) < 500 else "Look into the server's log, or try again later."
    return ListingError(f"{spec.name}: {url} answers {fault.status}: {fault.message}", remedy=remedy)


def no_list(spec: EndpointSpec, url: str, response: HttpResponse) -> ListingError:
    """The error for JSON that lists nothing; some servers send their error with status 200."""
    told = read_error_text(response.payload).message if b'"error"' in response.payload else ""
    what = f"an error: {told}" if told else "JSON that is no list of models."
    return ListingError(f"{spec.name}: {url} answers with {what}")


def _remedy(fault: Fault) -> str:
    if fault.cause is FaultCause.NO_TLS:
        return "Does the server speak TLS at all? If not, its address begins with http://."
    if fault.kind is FaultKind.TLS:
        return "Trust its certificate with --ca-bundle, or check the address."
    if fault.cause is FaultCause.PROXY:
        return PROXY_REMEDY
    return f"Check the address and that the server runs{LOOK_CLOSER}"


def _get(spec: EndpointSpec, url: str, headers: Mapping[str, str]) -> HttpRequest:
    limits = spec.timeouts
    timeouts = Timeouts(
        connect=limits.connect,
        read=min(limits.read, _LONGEST),
        between_chunks=min(limits.between_chunks, _LONGEST),
        total=min(limits.total, _LONGEST),
    )
    return HttpRequest(method="GET", url=url, headers={"Accept": "application/json", **headers}, timeouts=timeouts)
