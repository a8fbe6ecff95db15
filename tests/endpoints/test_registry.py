"""Dialects by name: built in, registered, or brought by an installed plugin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcert.core.errors import ConfigurationError
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints import registry
from toolcert.endpoints.dialects.azure import AzureDialect
from toolcert.endpoints.dialects.litellm import LiteLlmDialect
from toolcert.endpoints.dialects.openai import OpenAiDialect
from toolcert.endpoints.registry import dialect_names, open_endpoint, register


class Whisper(OpenAiDialect):
    """A dialect that nobody speaks."""


@pytest.fixture
def registered() -> Iterator[None]:
    register("whisper", Whisper)
    yield
    registry._registered.clear()


def spec(dialect: str, base_url: str = "http://x/v1") -> EndpointSpec:
    return EndpointSpec(name="e", dialect=dialect, base_url=base_url)


@pytest.mark.parametrize(
    ("endpoint", "kind"),
    [
        (spec("openai"), OpenAiDialect),
        (spec("litellm"), LiteLlmDialect),
        (spec("azure"), AzureDialect),
        (spec("openai", "https://x.openai.azure.com"), AzureDialect),
        (spec("openai", "https://x.openai.azure.com/openai/v1"), OpenAiDialect),
    ],
)
async def test_built_in(endpoint: EndpointSpec, kind: type) -> None:
    async with open_endpoint(endpoint) as session:
        assert type(session.dialect) is kind


@pytest.mark.usefixtures("registered")
async def test_registered() -> None:
    assert "whisper" in dialect_names()
    async with open_endpoint(spec("whisper")) as session:
        assert isinstance(session.dialect, Whisper)


async def test_brought_by_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution with an entry point in `toolcert.dialects` is found without being named anywhere."""
    (tmp_path / "hush.py").write_text(
        "from toolcert.endpoints.dialects.openai import OpenAiDialect\nclass Hush(OpenAiDialect):\n    pass\n"
    )
    metadata = tmp_path / "hush-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hush\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[toolcert.dialects]\nhush = hush:Hush\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "hush" in dialect_names()
    async with open_endpoint(spec("hush")) as session:
        assert type(session.dialect).__name__ == "Hush"


def test_unknown() -> None:
    with pytest.raises(ConfigurationError, match=r"no dialect 'litelm'\. Did you mean litellm"):
        open_endpoint(spec("litelm"))


@pytest.mark.parametrize("url", ["", "ftp://x", "http://u:p@x"])
def test_an_address_that_cannot_be_is_refused_in_the_library_too(url: str) -> None:
    with pytest.raises(ConfigurationError):
        open_endpoint(spec("openai", url))


async def test_callers_of_the_library_write_addresses_freely() -> None:
    async with open_endpoint(spec("openai", "localhost:8000/")) as session:
        assert session.spec.base_url == "http://localhost:8000"
