"""What the outer form of an answer says: errors in disguise, and how many choices were asked for."""

from __future__ import annotations

from typing import Any

from toolcert.core.values import JsonObject


def error_in(value: Any) -> Any:
    """The error that a JSON value carries instead of an answer, in the forms servers use; None for none."""
    if not isinstance(value, dict) or value.get("choices"):
        return value.get("error") if isinstance(value, dict) else None
    for field in ("error", "errors", "detail", "errorMessage"):
        if value.get(field):
            return value[field]
    if "message" in value and ("code" in value or "type" in value or value.get("object") == "error"):
        return value["message"]
    return None


def choices_asked(body: JsonObject) -> int:
    """How many choices the request asks for."""
    count = body.get("n")
    return count if type(count) is int and count > 0 else 1
