"""An open endpoint: lists its models and sends requests, within its limits, until it is closed."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.endpoints.asking import Asking, OnAttempt
from toolcert.endpoints.base import Dialect
from toolcert.endpoints.patience import PatientClient
from toolcert.wire.http import HttpClient
from toolcert.wire.limiter import AdaptiveLimiter
from toolcert.wire.retry import RetryPolicy


class EndpointSession:
    """One endpoint for as long as a run lasts; safe for any number of concurrent requests."""

    def __init__(
        self,
        dialect: Dialect,
        client: HttpClient,
        policy: RetryPolicy | None = None,
        limiter: AdaptiveLimiter | None = None,
    ) -> None:
        spec = dialect.spec
        self.spec = spec
        self.dialect = dialect
        self.client = client
        self.policy = policy or RetryPolicy(retries=spec.retries)
        self.limiter = limiter or AdaptiveLimiter(spec.concurrency, spec.rpm, longest_pause=self.policy.cap)
        self._patient = PatientClient(client, self.policy)
        self._refused: dict[str, tuple[str, ...]] = {}

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
        """Send the request until it is answered or no longer worth trying; every attempt is recorded."""
        return await Asking(self, request, on_attempt).run()

    async def models(self) -> list[ModelInfo]:
        """The models the endpoint lists."""
        return await self.dialect.models(self._patient)

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def credentials(self, *, renew: bool = False) -> dict[str, str]:
        """The headers that let us in."""
        return await self.dialect.authorise(self._patient, renew=renew)

    def refused(self, model: str) -> tuple[str, ...]:
        """Parameters the model was seen to refuse."""
        return self._refused.get(model, ())

    def learn_refusal(self, model: str, parameter: str) -> None:
        """Spare later requests for this model the same refusal."""
        if parameter not in self.refused(model):
            self._refused[model] = (*self.refused(model), parameter)
