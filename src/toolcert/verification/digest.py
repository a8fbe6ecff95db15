"""Digests that identify rows, targets and calls, and the style of call ids, which identifies servers.

Digests are SHA-256 over JSON with sorted keys; on current processors that is twice as fast as BLAKE2.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Any

import msgspec

from toolcert.core.targets import EndpointSpec
from toolcert.core.text.json_value import canonical, identity
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject

CONTENT_FIELDS = ("messages", "tools", "tool_choice", "parallel_tool_calls", "response_format")
"""What the model is asked."""
SAMPLING_FIELDS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stream")
"""How it is asked."""
_HEX = 24
_CALL_HEX = 16


def digest(data: bytes) -> str:
    """96 bits of SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()[:_HEX]


def content_hash(body: JsonObject, tools: str | None = None) -> str:
    """Hash of what was asked; `tools` is the digest of the tools where it is known already."""
    offered = body.get("tools")
    asked = hashlib.sha256(canonical(body.get("messages")))
    asked.update((tools or digest(canonical(offered))).encode() if offered else b"-")
    asked.update(canonical([body.get(name) for name in CONTENT_FIELDS[2:]]))
    return asked.hexdigest()[:_HEX]


def sampling_hash(body: JsonObject) -> str:
    """Hash of how it was asked."""
    return _sampling_digest(canonical([body.get(name) for name in SAMPLING_FIELDS]))


@lru_cache(maxsize=64)
def _sampling_digest(settings: bytes) -> str:
    """Cached: nearly all rows of a dataset share a few settings."""
    return digest(identity(msgspec.json.decode(settings)))


def target_hash(spec: EndpointSpec, shaping: JsonObject) -> str:
    """Hash of the endpoint and of what shapes every request alike (model, extra body, adapter, ...)."""
    asked = {
        "dialect": spec.dialect,
        "base_url": spec.base_url.rstrip("/"),
        "extra_body": spec.extra_body,
        "options": spec.options,
        "shaping": shaping,
    }
    return digest(canonical(asked))[:8]


def row_key(target: str, content: str, body: JsonObject) -> str:
    """The key by which a row is found again: everything that can change its answer, but not its line number."""
    rest = body.copy()
    rest.pop("messages", None)
    rest.pop("tools", None)
    return f"{target}-{digest(content.encode() + canonical(rest))}"


def given_arguments(arguments: Any) -> Any:
    """The arguments of a call; none, `null` and empty text count as an empty object."""
    nothing = arguments is None or (isinstance(arguments, str) and arguments.strip() in ("", "null"))
    return {} if nothing else arguments


def call_digest(name: Any, arguments: Any) -> str:
    """Digest of one call; 1 and 1.0 are equal, and the order of keys does not matter."""
    return hashlib.sha256(identity([name, given_arguments(arguments)])).hexdigest()[:_CALL_HEX]


_KIMI = lazy_pattern(r"functions\..+:\d+\Z")
_UUID = lazy_pattern(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_WORDS = lazy_pattern(r"(?:(?:call|chatcmpl|tool|toolu|fc|function|functions|func)[-_])*", re.IGNORECASE)
"""The fixed words of an id; what follows is random, so only its length counts."""


def id_style(identity: Any) -> str:
    """`call_00_QehtQRG9` as `call_*11`: the fixed words and the length of the rest."""
    if not isinstance(identity, str) or not identity:
        return "none"
    if _KIMI.match(identity):
        return "functions.NAME:N"
    words = _WORDS.match(identity)
    assert words is not None  # the pattern also matches empty text
    return f"{words[0]}{_kind(identity[words.end() :])}"


def _kind(rest: str) -> str:
    if len(rest) == 36 and _UUID.match(rest):
        return "UUID"
    return "N" if rest.isdigit() else f"*{len(rest)}"
