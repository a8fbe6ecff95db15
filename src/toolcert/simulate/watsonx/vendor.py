"""A simulated watsonx.ai in a thread of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from toolcert.simulate.tls import Authority
from toolcert.simulate.vendor import Behaviour, Simulation, make_backend
from toolcert.simulate.watsonx.face import Account, WatsonxFace
from toolcert.simulate.watsonx.iam import TokenService
from toolcert.simulate.watsonx.specs import DEFAULT_MODELS, OTHER_MODELS

DEPLOYMENT = "55555555-abcd-4abc-8abc-666666666666"
"""The deployment there is unless others are given; the first model stands behind it."""


PUBLIC_KEY = "simulated-watsonx-key"
"""The key unless another is given; no secret."""


class WatsonxVendor(Simulation):
    """watsonx.ai on a free loopback port, by https with a CA of its own.

    with WatsonxVendor() as watsonx:
        ask(watsonx.url, key=watsonx.api_key, project=watsonx.project_id, ca_bundle=watsonx.ca_bundle)
    """

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
        deployments: Mapping[str, str] | None = None,
        api_key: str | None = None,
        project_id: str = "11111111-aaaa-4bbb-8ccc-222222222222",
        space_id: str = "33333333-dddd-4eee-8fff-444444444444",
        token_lifetime: float = 3600.0,
        host: str = "127.0.0.1",
        port: int = 0,
        **behaviour: Unpack[Behaviour],
    ) -> None:
        served = DEFAULT_MODELS if models is None else models
        self.api_key = api_key or PUBLIC_KEY
        self.project_id = project_id
        self.space_id = space_id
        self.tokens = TokenService(self.api_key, token_lifetime)
        self._authority = Authority()
        account = Account(
            project_id=project_id,
            space_id=space_id,
            deployments={DEPLOYMENT: next(iter(served))} if deployments is None else deployments,
            others=OTHER_MODELS if others is None else others,
        )
        backend = make_backend(served, **behaviour)
        face = WatsonxFace(backend, self.tokens, account)
        super().__init__(backend, face, host=host, port=port, tls=self._authority.context())

    @property
    def url(self) -> str:
        """The address of the service."""
        return self.root

    def hints(self) -> list[str]:
        """What a client must know besides the address."""
        key = [f"API key     {PUBLIC_KEY}"] if self.api_key == PUBLIC_KEY else []
        return [
            f"IAM URL     {self.iam_url}",
            f"CA bundle   {self.ca_bundle}",
            f"project id  {self.project_id}",
            *key,
        ]

    @property
    def iam_url(self) -> str:
        """The address of its token service."""
        return f"{self.root}/identity/token"

    @property
    def ca_bundle(self) -> str:
        """The file that clients must trust."""
        return str(self._authority.bundle)

    def stop(self) -> None:
        """End all connections, the thread, and the certificate's files."""
        super().stop()
        self._authority.close()
