"""The cap on requests: probing costs money, so `--max-requests` is kept to the letter."""

from __future__ import annotations

from toolcert.core.exchanges import Attempt, Exchange
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.engine.plan import OnAttempt, Session


class BudgetSpent(Exception):  # noqa: N818 - control flow inside the engine, not an error of anyone
    """No request is left for this run."""


class Budget:
    """Requests left; retries count as requests."""

    def __init__(self, requests: int | None) -> None:
        self._left = requests
        self.limit = requests

    @property
    def spent(self) -> bool:
        return self._left is not None and self._left <= 0

    def take(self) -> None:
        """Use one request."""
        if self._left is not None:
            self._left -= 1


class BudgetedSession:
    """A session that stops asking when the run's budget is spent."""

    def __init__(self, session: Session, budget: Budget) -> None:
        self._session = session
        self._budget = budget

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
        if self._budget.spent:
            raise BudgetSpent
        self._budget.take()

        def counted(attempt: Attempt) -> None:
            if attempt.number > 1:
                self._budget.take()
            if on_attempt is not None:
                on_attempt(attempt)

        return await self._session.ask(request, on_attempt=counted)

    async def models(self) -> list[ModelInfo]:
        if self._budget.spent:
            raise BudgetSpent
        self._budget.take()
        return await self._session.models()
