"""Secrets that cannot be printed by accident, and the eraser for text that may carry one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

HIDDEN = "[secret]"
_SHORTEST_ERASED = 6
"""Erasing a shorter value would tear harmless text apart ("x" is a common dummy key)."""
_PLACEHOLDERS = frozenset({"ollama", "lm-studio", "openai", "litellm", "string", "api-key", "api_key"})
"""Given where a server wants any key at all; erased, they would tear names such as `ollama/llama3` apart."""
_PASSWORD_PARAMETER = re.compile(r"([?&](?:ssl)?password=)([^&#]*)", re.IGNORECASE)


class Secret:
    """A key or token whose value shows only through `reveal()`."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, *, source: str) -> None:
        self._value = value
        self.source = source

    def reveal(self) -> str:
        """The value itself, for the request header and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret(from {self.source})"

    def __str__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is never serialised; resolve it again from its source")


def without_password(address: str) -> str:
    """A URL without the password it may carry, in front of the host or among its parameters; other text unchanged."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    # The last @ ends the credentials: a password may hold unescaped signs, and hiding too much does no harm.
    credentials, at, place = rest.rpartition("@")
    user, colon, _ = credentials.partition(":")
    shown = f"{scheme}://{user}{':' + HIDDEN if colon else ''}{at}{place}"
    return _PASSWORD_PARAMETER.sub(rf"\g<1>{HIDDEN}", shown)


def passwords_in(address: str) -> list[str]:
    """The passwords a URL carries, as written and as meant."""
    rest = address.partition("://")[2]
    written = [part.rpartition("@")[0].partition(":")[2] for part in (rest, rest.partition("?")[0])]
    written += [found.group(2) for found in _PASSWORD_PARAMETER.finditer(rest)]
    return list(dict.fromkeys(form for text in written if text for form in (text, unquote(text))))


class Eraser:
    """Replaces known secret values in whatever is about to be kept or shown."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._texts: list[str] = []
        self._bytes: list[bytes] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: Secret) -> None:
        """Erase this secret from now on (tokens are learnt while running)."""
        value = secret.reveal()
        if len(value) < _SHORTEST_ERASED or value.lower() in _PLACEHOLDERS:
            return
        # The longest first: a secret that begins with another must not leave its end behind.
        self._texts = sorted({*self._texts, *_written_forms(value)}, key=len, reverse=True)
        self._bytes = [text.encode() for text in self._texts]

    def text(self, text: str) -> str:
        """`text` without any known secret."""
        for value in self._texts:
            if value in text:
                text = text.replace(value, HIDDEN)
        return text

    def bytes(self, data: bytes) -> bytes:
        """`data` without any known secret; vendors do echo keys in their errors."""
        for value in self._bytes:
            if value in data:
                data = data.replace(value, HIDDEN.encode())
        return data


def _written_forms(value: str) -> set[str]:
    """A secret as servers echo it: plain, inside JSON, inside an address."""
    in_json = json.dumps(value)[1:-1]
    return {value, in_json, in_json.replace("/", "\\/"), quote(value, safe="")}
