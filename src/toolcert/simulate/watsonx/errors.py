"""Errors as watsonx.ai and IAM write them, and the translation of the protocol's own."""

from __future__ import annotations

import secrets

import msgspec

from toolcert.simulate.answers import Raw

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
    """An error of the protocol as watsonx.ai would say it."""
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
