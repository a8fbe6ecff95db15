"""What an engine is given: sessions, a plan of cases, and the work that does one of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Protocol, TypeAlias

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange, OnAttempt
from toolcert.core.records import Record
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo


class Session(Protocol):
    """An open endpoint: sends a request with its retries and returns what came back."""

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange: ...

    async def models(self) -> list[ModelInfo]:
        """The models the endpoint lists."""


class Plan(Protocol):
    """The cases of a run, pulled lazily, endpoint by endpoint."""

    @property
    def total(self) -> int | None:
        """How many cases there are, where known before the end."""

    def sources(self) -> Mapping[str, Iterator[Case]]:
        """For each endpoint, the cases that can be asked from the start."""

    def after(self, record: Record) -> Iterable[Case]:
        """The cases this record releases: the next stage, or skips with their reason."""


class Unjudged(Exception):  # noqa: N818 - carries the bug that is its cause to the engine
    """Our own code failed on the answers of a case; raised from the exception that says how."""

    def __init__(self, exchanges: Iterable[Exchange] = ()) -> None:
        super().__init__()
        self.exchanges = tuple(exchanges)


Judge: TypeAlias = Generator[None, None, Record]
"""Makes the record of a case that was answered, in steps: many judges do the same step in turn, which is faster."""


class Work(Protocol):
    """How a case is performed. What it remembers between cases only saves requests and weighs chance."""

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record | Judge:
        """Ask a case. A judge goes to work later, when the next requests are on their way."""
