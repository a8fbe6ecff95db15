"""Secrets show nowhere by accident, and are erased from what servers echo."""

from __future__ import annotations

import json
import pickle
from urllib.parse import quote

import pytest

from toolcert.core.secrets import HIDDEN, Eraser, Secret


def eraser(*values: str) -> Eraser:
    return Eraser(Secret(value, source="test") for value in values)


def test_a_secret_shows_its_source_only() -> None:
    secret = Secret("sk-very-secret", source="MY_KEY")
    assert "sk-very-secret" not in f"{secret} {secret!r}"
    assert "MY_KEY" in repr(secret)
    with pytest.raises(TypeError, match="never serialised"):
        pickle.dumps(secret)


@pytest.mark.parametrize(
    "echo",
    [
        'key a"b\\c/d+e=f is wrong',
        json.dumps({"error": 'key a"b\\c/d+e=f is wrong'}),
        json.dumps({"error": 'key a"b\\c/d+e=f is wrong'}).replace("/", "\\/"),
        "https://h/v1?key=a%22b%5Cc%2Fd%2Be%3Df",
    ],
    ids=["plain", "JSON", "JSON with escaped slashes", "address"],
)
def test_a_secret_is_erased_in_every_form_it_is_echoed_in(echo: str) -> None:
    known = eraser('a"b\\c/d+e=f')
    for erased in (known.text(echo), known.bytes(echo.encode()).decode()):
        assert HIDDEN in erased
        assert "d+e=f" not in erased
        assert "d%2Be" not in erased


def test_a_secret_that_begins_with_another_leaves_nothing_behind() -> None:
    assert eraser("abcdef", "abcdefghij").text("abcdefghij abcdef") == f"{HIDDEN} {HIDDEN}"


@pytest.mark.parametrize("placeholder", ["x", "EMPTY", "none", "ollama", "lm-studio"])
def test_what_people_give_where_no_key_is_needed_is_no_secret(placeholder: str) -> None:
    """Erasing it would tear model names and JSON apart."""
    listing = json.dumps({"id": f"{placeholder}/llama3"}).encode()
    assert eraser(placeholder).bytes(listing) == listing


def test_secrets_learnt_later_are_erased_from_then_on() -> None:
    known = eraser("first-secret")
    known.add(Secret("second-secret", source="iam"))
    assert known.text("first-secret second-secret") == f"{HIDDEN} {HIDDEN}"


AWKWARD = "QUJD/verysecret+REVG/abcdefgh1234=="


def in_php(value: str) -> str:
    return json.dumps(value).replace("/", "\\/")


def in_gson(value: str) -> str:
    return json.dumps(value).replace("=", "\\u003d").replace("+", "\\u002B")


def in_numbers(value: str, form: str = "\\u{:04x}") -> str:
    return '"' + "".join(form.format(ord(character)) for character in value) + '"'


@pytest.mark.parametrize(
    "echo",
    [
        in_php(AWKWARD),
        in_gson(AWKWARD),
        in_php(AWKWARD).replace("=", "\\u003D"),
        in_numbers(AWKWARD),
        in_numbers(AWKWARD, "\\u{:04X}"),
        json.dumps({"error": in_php(AWKWARD).replace("=", "\\u003d")}),
        json.dumps({"error": json.dumps({"error": in_gson(AWKWARD)})}),
        quote(AWKWARD, safe=""),
        quote(AWKWARD, safe="=").lower().replace("qujd", "QUJD").replace("revg", "REVG"),
        AWKWARD.replace("/", "&#x2F;").replace("=", "&#61;"),
    ],
    ids=["PHP", "Gson", "mixed", "numbers", "big numbers", "JSON in JSON", "twice", "address", "lower %2f", "page"],
)
def test_a_secret_is_erased_however_its_characters_are_escaped(echo: str) -> None:
    known = eraser(AWKWARD)
    for erased in (known.text(f"key {echo}!"), known.bytes(f"key {echo}!".encode()).decode()):
        assert HIDDEN in erased
        assert "abcdefgh" not in erased
        assert "0062" not in erased
        assert erased.startswith("key ")
        assert erased.endswith("!")


def test_what_holds_no_secret_stays_the_very_same() -> None:
    known = eraser(AWKWARD)
    for text in ('{"a": "abcdefgh1234 and \\u0061\\/"}', "", "verysecret", "é" * 9):
        assert known.text(text) is text


def test_a_row_of_backslashes_is_no_way_to_keep_us_busy() -> None:
    data = b"abcdefgh1234" + b"\\" * 200_000
    assert eraser(AWKWARD).bytes(data) == data
