"""What a simulated vendor received, for tests to look at. Credentials are counted, never kept."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from toolcert.core.values import JsonObject, Value

_KEPT = 20_000
"""Bodies kept; beyond it only the counts go on."""
_SECRET = ("authorization", "api-key", "x-api-key", "cookie", "proxy-authorization")


class Received(Value):
    """One request as it arrived."""

    method: str
    path: str
    model: str = ""
    headers: dict[str, str] = {}
    """Names in lower case; none that carries a credential."""
    body: JsonObject = {}
    authorised: bool = False
    """Whether it carried a credential at all."""
    at: float = 0.0
    """Seconds on a monotonic clock."""


class RequestLog:
    """The requests so far; safe to read while the vendor works."""

    def __init__(self) -> None:
        self._kept: deque[Received] = deque(maxlen=_KEPT)
        self._by_model: Counter[str] = Counter()
        self._by_path: Counter[str] = Counter()
        self._by_status: Counter[int] = Counter()

    def add(self, received: Received) -> None:
        self._kept.append(received)
        self._by_path[received.path] += 1
        if received.model:
            self._by_model[received.model] += 1

    def answered(self, status: int) -> None:
        self._by_status[status] += 1

    def clear(self) -> None:
        """Forget everything, counts included."""
        for kept in (self._kept, self._by_model, self._by_path, self._by_status):
            kept.clear()

    def count(self, model: str | None = None) -> int:
        """Chat requests received, for one model or for all."""
        return self._by_model[model] if model is not None else self._by_model.total()

    def by_path(self) -> dict[str, int]:
        """How often each path was asked."""
        return dict(self._by_path)

    def by_status(self) -> dict[int, int]:
        """How often each status was answered."""
        return dict(self._by_status)

    def bodies(self, model: str | None = None) -> list[JsonObject]:
        """The bodies of the chat requests."""
        return [one.body for one in self if one.model and model in (None, one.model)]

    def __iter__(self) -> Iterator[Received]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, place: int) -> Received:
        return self._kept[place]


def harmless(headers: dict[str, str]) -> dict[str, str]:
    """The headers in lower case, without those that carry credentials."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET}
