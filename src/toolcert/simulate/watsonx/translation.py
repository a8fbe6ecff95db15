"""Translate chats and errors between the form of watsonx.ai and the OpenAI protocol."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.chat_completion import DONE
from toolcert.simulate.traffic import Answer, Events, Raw

_MORE = "https://cloud.ibm.com/apidocs/watsonx-ai#text-chat"
_BY_STATUS = {
    400: "invalid_request_entity",
    401: "authentication_token_not_valid",
    404: "model_not_supported",
    429: "consumption_limit_reached",
}


def watsonx_error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Raw:
    """One error in watsonx.ai's envelope."""
    body = {
        "errors": [{"code": code, "message": message, "more_info": _MORE}],
        "trace": secrets.token_hex(16),
        "status_code": status,
    }
    return Raw(content=msgspec.json.encode(body), status=status, headers=headers or {})


def iam_error(status: int, code: str, message: str) -> Raw:
    """One error of the token service."""
    body = {
        "errorCode": code,
        "errorMessage": message,
        "context": {"requestId": secrets.token_hex(12), "requestType": "incoming.Identity_Token"},
    }
    return Raw(content=msgspec.json.encode(body), status=status)


def in_watsonx_words(answer: Raw, model: str) -> Raw:
    """Translate an error of the protocol into one of watsonx.ai."""
    said = msgspec.json.decode(answer.content).get("error", {})
    code, message, param = said.get("code"), said.get("message", ""), said.get("param")
    if param == "tools" and code == "unsupported_parameter":
        text = f"Model '{model}' does not support function 'function_calling'"
        return watsonx_error(400, "model_no_support_for_function", text)
    if answer.status == 404:
        text = f"Model '{model}' is not supported for this environment."
        return watsonx_error(404, "model_not_supported", text)
    if code in ("invalid_type", "missing_required_parameter"):
        return watsonx_error(400, "json_validation_error", f"Json document validation error: {message}")
    if answer.status == 429:
        message = "The maximum number of concurrent or rate-limited requests is reached. Try again later."
    return watsonx_error(answer.status, _BY_STATUS.get(answer.status, "internal_error"), message, answer.headers)


_OPTIONS = ("none", "auto", "required")
_WARNING = {"message": "This model is simulated.", "id": "disclaimer_warning"}


def understood(body: JsonObject, model: str, *, stream: bool) -> JsonObject | Raw:
    """Translate a request, or return the error for fields that watsonx.ai does not accept."""
    if isinstance(body.get("tool_choice"), str):
        text = "Json field type error: 'tool_choice' must be an object; use 'tool_choice_option' for a word"
        return watsonx_error(400, "json_type_error", text)
    option = body.get("tool_choice_option")
    if option is not None and option not in _OPTIONS:
        return watsonx_error(
            400, "json_validation_error", f"Json document validation error: 'tool_choice_option' {option!r}"
        )
    if option is not None and body.get("tool_choice") is not None:
        text = "Only one of 'tool_choice' and 'tool_choice_option' can be given"
        return watsonx_error(400, "invalid_request_entity", text)
    dropped = ("model_id", "project_id", "space_id", "tool_choice_option", "time_limit", "stream", "stream_options")
    plain = {name: value for name, value in body.items() if name not in dropped}
    if option is not None:
        plain["tool_choice"] = option
    if stream:
        plain |= {"stream": True, "stream_options": {"include_usage": True}}
    return {"model": model, **plain}


def answered(answer: Answer, model: str) -> Answer:
    """Translate an answer."""
    if isinstance(answer, Events):
        return Events(frames=_frames(answer.frames), breaks=answer.breaks)
    if not isinstance(answer, Raw):
        return answer
    if answer.status >= 400:
        return in_watsonx_words(answer, model)
    value = _object(answer.content)
    if value is None or "choices" not in value:
        return answer
    return Raw(content=msgspec.json.encode(_with_ids(value)), headers=answer.headers)


def _with_ids(value: JsonObject) -> JsonObject:
    """Add and remove the fields in which a completion or chunk of watsonx.ai differs."""
    kept = {name: one for name, one in value.items() if name not in ("object", "system_fingerprint")}
    kept["choices"] = [_without_empty(choice) for choice in value["choices"]]
    created = datetime.fromtimestamp(value.get("created", 0), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    extra = {"model_id": value.get("model"), "model_version": "1.0.0", "created_at": created}
    return {**kept, **extra, "system": {"warnings": [_WARNING]}} if "usage" in value else {**kept, **extra}


def _without_empty(choice: JsonObject) -> JsonObject:
    """Remove empty fields that only the reference API sends."""
    plain = {name: one for name, one in choice.items() if name != "logprobs"}
    for part in ("message", "delta"):
        if isinstance(plain.get(part), dict):
            plain[part] = {name: one for name, one in plain[part].items() if name != "refusal"}
    return plain


def _object(content: bytes) -> JsonObject | None:
    try:
        value: Any = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return None
    return value if isinstance(value, dict) else None


def _frames(frames: list[bytes]) -> list[bytes]:
    """Translate a stream: events have an id, a type and running usage, and the end is an event too."""
    chunks = [_object(one.removeprefix(b"data: ")) for one in frames]
    total = next((chunk["usage"] for chunk in reversed(chunks) if chunk and chunk.get("usage")), None)
    written: list[bytes] = []
    for frame, chunk in zip(frames, chunks, strict=True):
        if frame == DONE:
            written.append(_event(len(written) + 1, "close", {}))
        elif chunk is None:
            written.append(frame)
        elif "error" in chunk:
            written.append(_event(len(written) + 1, "error", _trouble(chunk["error"])))
        elif chunk.get("choices"):
            written.append(_event(len(written) + 1, "message", _with_usage(chunk, total, len(written))))
    return written


def _with_usage(chunk: JsonObject, total: JsonObject | None, so_far: int) -> JsonObject:
    """Add the usage so far to a chunk; the last one has the total."""
    plain = {name: value for name, value in chunk.items() if name != "usage"}
    converted = _with_ids(plain)
    if total is None:
        return converted
    last = bool(chunk["choices"][0].get("finish_reason"))
    spent = total["completion_tokens"] if last else min(so_far, total["completion_tokens"])
    prompt = total["prompt_tokens"]
    usage = {"completion_tokens": spent, "prompt_tokens": prompt, "total_tokens": prompt + spent}
    return {**converted, "usage": usage}


def _trouble(said: Any) -> JsonObject:
    message = said.get("message", "") if isinstance(said, dict) else str(said)
    return {"errors": [{"code": "internal_error", "message": message}], "status_code": 500}


def _event(number: int, kind: str, data: JsonObject) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), msgspec.json.encode(data))
