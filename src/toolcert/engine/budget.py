"""The cap on requests: `--max-requests` is never exceeded."""

from __future__ import annotations

from toolcert.core.exchanges import Attempt, Exchange
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.engine.interfaces import OnAttempt, Session

LAST_FAULT = " after: "
"""In the reason of a skipped case, before the fault that its last request met."""


class BudgetSpent(Exception):  # noqa: N818 - control flow inside the engine, not an error of anyone
    """No request is left for this run; the message is the last answer's fault, where there was one."""

    def __init__(self, after: str = "", attempts: int = 0) -> None:
        super().__init__(after)
        self.attempts = attempts
        """Requests that were sent for the case before."""


class Budget:
    """Requests left; retries count as requests."""

    def __init__(self, requests: int | None) -> None:
        self._left = requests
        self.limit = requests

    @property
    def spent(self) -> bool:
        return self._left is not None and self._left <= 0

    def take(self, after: str = "", attempts: int = 0) -> None:
        """Set one request aside before it is sent; BudgetSpent where none is left."""
        if self.spent:
            raise BudgetSpent(after, attempts)
        if self._left is not None:
            self._left -= 1

    def give_back(self) -> None:
        """The request that was set aside is not needed."""
        if self._left is not None:
            self._left += 1


class BudgetedSession:
    """A session that stops asking when the run's budget is spent."""

    def __init__(self, session: Session, budget: Budget) -> None:
        self._session = session
        self._budget = budget

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
        self._budget.take()

        def counted(attempt: Attempt) -> None:
            if on_attempt is not None:
                on_attempt(attempt)
            if attempt.fault is not None:
                # For the attempt that may follow: once it is sent it is too late to ask.
                self._budget.take(attempt.fault.message, attempt.number)

        exchange = await self._session.ask(request, on_attempt=counted)
        if exchange.fault is not None:
            self._budget.give_back()
        return exchange

    async def models(self) -> list[ModelInfo]:
        self._budget.take()
        return await self._session.models()
