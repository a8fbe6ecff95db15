"""The token service: an API key in, an access token out, for a while."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import time
from collections.abc import Callable
from urllib.parse import parse_qs

from toolcert.simulate.answers import Raw, as_json
from toolcert.simulate.watsonx.errors import iam_error, watsonx_error

_GRANT = "urn:ibm:params:oauth:grant-type:apikey"


class TokenService:
    """Issues tokens and knows which are still good."""

    def __init__(self, api_key: str, lifetime: float, clock: Callable[[], float] = time.time) -> None:
        self.issued = 0
        """How many tokens were given out."""
        self.asked = 0
        """How many requests for a token came, refused ones included."""
        self._api_key = api_key
        self._lifetime = lifetime
        self._clock = clock
        self._good: dict[str, float] = {}

    def issue(self, form: str) -> Raw:
        """The answer to a request for a token."""
        self.asked += 1
        fields = {name: values[0] for name, values in parse_qs(form).items()}
        if fields.get("grant_type") != _GRANT:
            return iam_error(400, "BXNIM0120E", "Invalid grant type in the body.")
        if not hmac.compare_digest(fields.get("apikey", "").encode(), self._api_key.encode()):
            return iam_error(400, "BXNIM0415E", "Provided API key could not be found.")
        self.issued += 1
        expiration = self._clock() + self._lifetime
        token = _jwt(int(self._clock()), int(expiration))
        self._good[token] = expiration
        return as_json(
            {
                "access_token": token,
                "refresh_token": "not_supported",
                "token_type": "Bearer",
                "expires_in": int(self._lifetime),
                "expiration": int(expiration),
                "scope": "ibm openid",
            }
        )

    def refusal(self, authorization: str) -> Raw | None:
        """The error for a missing, unknown or expired token; None where it is good."""
        token = authorization.removeprefix("Bearer ").removeprefix("bearer ").strip()
        if not token:
            return watsonx_error(401, "authentication_token_missing", "Missing or malformed authorization header")
        expiration = self._good.get(token)
        if expiration is None:
            return watsonx_error(401, "authentication_token_not_valid", "Failed to authenticate the request")
        if expiration <= self._clock():
            text = "Failed to authenticate the request due to an expired token"
            return watsonx_error(401, "authentication_token_expired", text)
        return None

    def expire_all(self) -> None:
        """Make every token issued so far worthless."""
        self._good = dict.fromkeys(self._good, 0.0)


def _jwt(issued: int, expiration: int) -> str:
    """A token in the usual form; its middle part avoids the two characters that some clients decode wrongly."""
    while True:
        claims = {"iam_id": "IBMid-sim", "id": secrets.token_hex(6), "iat": issued, "exp": expiration, "scope": "ibm"}
        middle = _encoded(claims)
        if not set("-_") & set(middle):
            return f"{_encoded({'alg': 'RS256', 'typ': 'JWT'})}.{middle}.{secrets.token_hex(32)}"


def _encoded(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
