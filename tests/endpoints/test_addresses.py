"""Where requests go, whatever form of the address was given."""

from __future__ import annotations

import pytest

from toolcert.core.requests import RequestKind
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.api_url import api_roots, endpoint_name, request_url
from toolcert.endpoints.trust import hosts_of


@pytest.mark.parametrize(
    ("given", "chat"),
    [
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h:1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/models", "http://h:1/v1/chat/completions"),
        ("https://h/openai/v1", "https://h/openai/v1/chat/completions"),
        ("https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
        ("https://h/api/paas/v4", "https://h/api/paas/v4/chat/completions"),
        ("https://h/v1?api-version=1", "https://h/v1/chat/completions?api-version=1"),
    ],
)
def test_chat_address(given: str, chat: str) -> None:
    assert request_url(api_roots(given)[0], RequestKind.CHAT) == chat


def test_an_address_without_version_is_tried_both_ways() -> None:
    assert api_roots("http://h/proxy") == ("http://h/proxy/v1", "http://h/proxy")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("http://localhost:8000/v1", "localhost:8000"),
        ("localhost:8000", "localhost:8000"),
        ("https://user:secret@api.example.com/v1", "api.example.com"),
        ("", ""),
    ],
)
def test_an_endpoint_without_a_name_is_called_by_its_host(address: str, name: str) -> None:
    """Names stand in every report: a password in the address must not."""
    assert endpoint_name(address) == name


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.openai.com@evil.example/v1", "evil.example"),
        ("https://\u0430pi.openai.com/v1", "xn--pi-6kc.openai.com"),
        ("https://evil.example:8443/api.openai.com", "evil.example:8443"),
        ("http://[bad", "'http://[bad'"),
    ],
)
def test_the_host_that_is_asked_about_is_the_one_that_is_reached(address: str, shown: str) -> None:
    assert hosts_of(EndpointSpec(name="e", base_url=address)) == [shown]
