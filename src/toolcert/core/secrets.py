"""Secrets that cannot be printed by accident, and the eraser for text that may carry one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from toolcert.core.traces import Traces

HIDDEN = "[secret]"
_HIDDEN = HIDDEN.encode()
_SHORTEST_ERASED = 6
"""Erasing a shorter value would tear harmless text apart ("x" is a common dummy key)."""
_PLACEHOLDERS = frozenset({"ollama", "lm-studio", "openai", "litellm", "api-key", "api_key", "password", "secret"})
"""Given where a server wants any key at all; erased, they would tear names such as `ollama/llama3` apart."""
_PROTOCOL = (
    "arguments assistant boolean chat.completion.chunk choices completion_tokens_details content_filter created "
    "description developer finish_reason function_call functions integer logprobs max_completion_tokens messages "
    "model_name number object organization owned_by parallel_tool_calls parameters prompt_tokens_details properties "
    "reasoning_content refusal required response_format service_tier stream_options string system_fingerprint "
    "temperature tool_calls tool_choice total_tokens"
)
"""Words that answers are made of: without one of them, or a part of it, a good answer would be judged a broken one."""
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


def _is_placeholder(value: str) -> bool:
    """Whether it protects nothing, and erasing it would change what answers say."""
    return len(value) < _SHORTEST_ERASED or value.lower() in _PLACEHOLDERS or value.lower() in _PROTOCOL


class Eraser:
    """Replaces known secret values in whatever is about to be kept or shown."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._traces: list[Traces] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: Secret) -> None:
        """Erase this secret from now on (tokens are learnt while running)."""
        value = secret.reveal()
        known = {traces.value for traces in self._traces}
        if _is_placeholder(value) or value in known:
            return
        # The longest first: a secret that begins with another must not leave its end behind.
        self._traces = sorted([*self._traces, Traces(value)], key=lambda traces: len(traces.value), reverse=True)

    def may_be_in_pieces(self, stream: bytes) -> bool:
        """Whether a stream's texts, put together, could give a secret: a quick look, wrong only to the safe side."""
        return any(traces.may_be_in_pieces(stream) for traces in self._traces)

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """Where secrets stand in `data`, in order and apart from each other."""
        found = sorted(match.span() for traces in self._traces for match in traces.pattern.finditer(data))
        apart: list[tuple[int, int]] = []
        for start, end in found:
            if apart and start < apart[-1][1]:
                apart[-1] = apart[-1][0], max(end, apart[-1][1])
            else:
                apart.append((start, end))
        return apart

    def text(self, text: str) -> str:
        """`text` without any known secret."""
        data = text.encode("utf-8", "surrogatepass")
        erased = self.bytes(data)
        return text if erased is data else erased.decode("utf-8", "surrogatepass")

    def bytes(self, data: bytes) -> bytes:
        """`data` without any known secret; vendors do echo keys in their errors."""
        for traces in self._traces:
            if traces.may_be_in(data):
                erased, count = traces.pattern.subn(_HIDDEN, data)
                data = erased if count else data
        return data
