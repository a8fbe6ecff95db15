"""A simulated vendor in a thread of its own: for tests, the demo and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from toolcert.simulate.background import Background
from toolcert.simulate.log import RequestLog
from toolcert.simulate.outages import Outage, RateLimit
from toolcert.simulate.pace import Latency
from toolcert.simulate.pace import latency as read_latency
from toolcert.simulate.server import Server


class Vendor:
    """An endpoint on a free loopback port, alive inside a `with` block.

    with Vendor(models=["faithful", "fault:args.empty"]) as vendor:
        ask(vendor.url)
    """

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        latency: float | str | Latency = 0.0,
        chunk_gap: float = 0.0,
        seed: int = 1,
        api_key: str | None = None,
        rate_limit: int | RateLimit | None = None,
        capacity: int | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        limit = RateLimit(rate_limit) if isinstance(rate_limit, int) else rate_limit
        self.server = Server(
            models,
            latency=read_latency(latency),
            chunk_gap=chunk_gap,
            seed=seed,
            api_key=api_key,
            rate_limit=limit,
            capacity=capacity,
        )
        self._host = host
        self._port = port
        self._thread = Background(self.server.app, host, port)

    @property
    def root(self) -> str:
        """The address without the path of the protocol."""
        return f"http://{self._host}:{self._thread.port}"

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"{self.root}/v1"

    @property
    def requests(self) -> RequestLog:
        """What was received."""
        return self.server.requests

    @property
    def peak(self) -> int:
        """Most requests worked on at the same time."""
        return self.server.peak

    def outage(
        self,
        kind: str,
        *,
        after: int = 0,
        count: int | None = None,
        retry_after: float | None = None,
        model: str | None = None,
    ) -> None:
        """Fail from now on (or `after` so many requests), `count` times or until `restore()`.

        Kinds: 429, 500, 502, 503, 504, 529, reset (the connection breaks), timeout (no answer).
        """
        self.server.outages.add(Outage(kind, after=after, count=count, retry_after=retry_after, model=model))

    def restore(self) -> None:
        """End every outage."""
        self.server.outages.clear()

    def start(self) -> Self:
        """Begin to serve; returns when the port answers."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End all connections and the thread."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
