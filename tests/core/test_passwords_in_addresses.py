"""No password of an address is shown or kept."""

from __future__ import annotations

import pytest

from toolcert.core.secrets import passwords_in, without_password
from toolcert.runs.provenance import without_secrets

SECRET = "hunter2-very"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://user:{SECRET}@host/db",
        f"postgresql://user:{SECRET}?/#@host:5432/db?sslmode=require",
        f"postgresql://host/db?user=me&password={SECRET}&sslmode=require",
        f"postgres://:{SECRET}@host/db",
        f"postgresql://user:pre@{SECRET}@host/db",
        f"postgresql://user:one@host/db?sslpassword={SECRET}",
        f"https://host/v1?code={SECRET}",
        f"https://host/v1?api-version=1&Subscription-Key={SECRET}",
    ],
)
def test_the_password_is_hidden_and_known(address: str) -> None:
    """Before the host, among the parameters, with unescaped signs; and found, so that errors can be cleaned of it."""
    assert SECRET not in without_password(address)
    assert "host" in without_password(address)
    assert any(SECRET in password for password in passwords_in(address))
    assert SECRET not in " ".join(without_secrets(["toolcert", "probe", "--history", address, f"--history={address}"]))


@pytest.mark.parametrize("text", ["history.sqlite", "C:\\data\\h.sqlite", "https://host/v1", "--model=a:b@c", ""])
def test_what_has_no_password_stays_as_it_is(text: str) -> None:
    assert without_password(text) == text
    assert passwords_in(text) == []
    assert without_secrets([text]) == (text,)


def test_a_header_that_carries_a_secret_by_its_name_is_not_kept() -> None:
    words = ["--header", f"Helicone-Auth: Bearer {SECRET}", f"--header=X-Pass:{SECRET}", "--header", "X-Team: tools"]
    shown = " ".join(without_secrets(words))
    assert SECRET not in shown
    assert "Helicone-Auth" in shown
    assert shown.endswith("X-Team: tools")
    assert without_secrets(["X-Api-Key: ${MY_KEY}"]) == ("X-Api-Key: ${MY_KEY}",)
