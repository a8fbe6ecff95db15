"""Keys, addresses, headers, patterns and the command line that a run keeps."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.core.secrets import Secret
from toolcert.endpoints.model_selection import Patterns
from toolcert.runs.provenance import without_secrets
from toolcert.settings.credentials import KeySources, expand, find_key, split_header
from toolcert.settings.option import JsonBody, Number, Whole
from toolcert.settings.web_address import clean_address, is_loopback, looks_like_address

ENVIRONMENT = {"MINE": "key-mine", "OPENAI_API_KEY": "key-openai", "TOOLCERT_API_KEY": "key-general"}


@pytest.mark.parametrize(
    ("sources", "source"),
    [
        (KeySources(flag=Secret("key-flag", source="--api-key"), variable="MINE"), "--api-key"),
        (KeySources(prompt=True, variable="MINE"), "the prompt"),
        (KeySources(variable="MINE", usual=("OPENAI_API_KEY",)), "MINE"),
        (KeySources(usual=("ABSENT", "OPENAI_API_KEY")), "OPENAI_API_KEY"),
        (KeySources(usual=("ABSENT",)), "TOOLCERT_API_KEY"),
    ],
)
def test_where_a_key_comes_from(sources: KeySources, source: str) -> None:
    key = find_key(sources, ENVIRONMENT, ask=lambda: "key-typed")
    assert key is not None
    assert key.source == source


def test_key_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("key-file\n")
    key = find_key(KeySources(file=str(tmp_path / "key")), {})
    assert key is not None
    assert key.reveal() == "key-file"


def test_no_key_anywhere_is_no_key() -> None:
    assert find_key(KeySources(), {}) is None


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (KeySources(variable="ABSENT"), "variable ABSENT, .* is not set"),
        (KeySources(file="/nowhere/key"), "/nowhere/key cannot be read"),
        (KeySources(variable="BLANK"), "from BLANK is empty"),
        (KeySources(variable="TORN"), "from TORN has characters"),
        (KeySources(prompt=True), "only on a terminal"),
    ],
)
def test_a_key_that_cannot_be_had_names_its_source(sources: KeySources, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        find_key(sources, {"BLANK": "  ", "TORN": "sk-1\nsk-2"})
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("gpu-box:8000", "http://gpu-box:8000"),
        ("api.example.com:80/v1", "http://api.example.com:80/v1"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("192.168.0.7:8000/v1/", "http://192.168.0.7:8000/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("http://example.com/x?api-version=1", "http://example.com/x?api-version=1"),
    ],
)
def test_addresses_as_people_write_them(text: str, address: str) -> None:
    assert clean_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "ftp://x",
        "http://",
        "http://user:pw@x",
        "http://x?api_key=1",
        "http://x?a=1&code=1",
        "http://x?sig=1",
        "http://x:port",
        "http://a b",
        "http://[::1",
    ],
)
def test_addresses_that_cannot_be_or_carry_a_credential_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        clean_address(text)


def test_which_words_are_addresses() -> None:
    assert [word for word in ("openai", "my-vllm", "localhost", "h:1", "https://x") if looks_like_address(word)] == [
        "localhost",
        "h:1",
        "https://x",
    ]


@pytest.mark.parametrize(
    ("address", "loopback"),
    [("http://127.0.0.1:1", True), ("http://[::1]:1", True), ("http://localhost", True), ("https://10.0.0.1", False)],
)
def test_loopback(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_header_lines() -> None:
    assert split_header("X-Title:  toolcert ") == ("X-Title", "toolcert")
    assert expand("Bearer ${A}-$B", {"A": "1", "B": "2"}) == "Bearer 1-2"
    with pytest.raises(ValueError, match="expected 'Name: value'"):
        split_header("no colon")


CARRIERS = ["Authorization", "X-API-Key", "api-key", "apikey", "X-Auth-Token", "Cookie", "Proxy-Authorization"]
CARRIERS += ["Helicone-Auth", "X-AccessToken", "ClientSecret", "X-Api-Key-2", "X-Amz-Signature", "X-Pwd", "X-Jwt"]


@pytest.mark.parametrize("name", CARRIERS)
def test_a_literal_credential_in_a_header_is_refused_without_being_shown(name: str) -> None:
    with pytest.raises(ValueError, match="variable") as caught:
        split_header(f"{name}: sk-1")
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["X-Keyboard", "OpenAI-Organization", "Monkey-Business", "X-Tokens-Wanted", "X-Author", "Compass"]
)
def test_harmless_headers_are_accepted(name: str) -> None:
    assert split_header(f"{name}: abc") == (name, "abc")


def test_patterns() -> None:
    patterns = Patterns(["gpt-*", "re:^qwen.*7b$", "plain/id"])
    assert [patterns.match(model) for model in ("gpt-4", "my-gpt-4", "qwen2-7b", "qwen2-72b", "plain/id")] == [
        True,
        False,
        True,
        False,
        True,
    ]
    assert patterns.plain == ("plain/id",)


def test_an_id_with_brackets_matches_itself() -> None:
    """A glob would take them for a choice of letters."""
    patterns = Patterns(["[vendor]model"])
    assert [patterns.match(model) for model in ("[vendor]model", "vmodel", "model")] == [True, True, False]


def test_a_wrong_regular_expression_is_named() -> None:
    with pytest.raises(UsageError, match=r"re:\(x"):
        Patterns(["re:(x"])


def test_kept_command_line_has_no_secret() -> None:
    words = ["probe", "--api-key", "sk-1", "--model", "a", "--api-key=sk-2"]
    assert without_secrets(words) == ("probe", "--api-key", "[secret]", "--model", "a", "--api-key=[secret]")


def test_extra_body_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"a": [1]}')
    assert JsonBody().read("@body.json", tmp_path) == {"a": [1]}
    with pytest.raises(ValueError, match="cannot read"):
        JsonBody().read("@absent.json", tmp_path)


@pytest.mark.parametrize(
    "text", ["[1]", "{", '{"x": "\\ud800"}', '{"x": "\ud800"}', '{"x": NaN}', '{"x": 1e400}', '{"x":' + "[" * 9999]
)
def test_an_extra_body_that_cannot_be_sent_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a JSON object"):
        JsonBody().read(text, Path())


@pytest.mark.parametrize("value", [math.nan, math.inf, datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, "\ud800"], ids=str)
def test_a_table_that_cannot_be_sent_is_refused_as_well(value: Any) -> None:
    with pytest.raises(ValueError, match="expected a JSON object"):
        JsonBody().read({"x": value}, Path())


def test_a_table_that_is_nested_too_deeply_is_refused() -> None:
    table: dict[str, Any] = {}
    for _ in range(600):
        table = {"x": table}
    with pytest.raises(ValueError, match="nested deeper than 200 levels"):
        JsonBody().read(table, Path())


@pytest.mark.parametrize("name", ["api_key", "Authorization", "password"])
def test_a_credential_in_a_body_is_refused_without_being_shown(name: str) -> None:
    with pytest.raises(ValueError, match="credential") as caught:
        JsonBody().read({name: "sk-1", "prompt_cache_key": "a"}, Path())
    assert "sk-1" not in str(caught.value)


def test_large_whole_numbers_are_exact() -> None:
    assert Whole().read("9007199254740993", Path()) == 9007199254740993


@pytest.mark.parametrize("raw", ["inf", "-inf", "nan", float("inf"), 10**400, "9" * 400])
def test_numbers_are_finite(raw: object) -> None:
    with pytest.raises(ValueError, match="a number"):
        Number().read(raw, Path())


@pytest.mark.parametrize("raw", ["1e3", "", "1.5", 1.5, True, None, "nan", "٣x", "9" * 400])
def test_whole_numbers_are_whole(raw: object) -> None:
    with pytest.raises(ValueError, match="whole number"):
        Whole().read(raw, Path())
