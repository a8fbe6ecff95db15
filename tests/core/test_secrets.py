"""Secrets show nowhere by accident, and are erased from what servers echo."""

from __future__ import annotations

import base64
import json
import pickle
import time
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


WORDS = ["arguments", "argument", "content", "function", "messages", "choices", "tool_calls", "finish_reason", "tokens"]


@pytest.mark.parametrize("word", [*WORDS, "completion", "assistant", "message", "object", "system", "password"])
def test_a_word_that_answers_are_made_of_is_no_secret(word: str) -> None:
    """Erasing it would make a broken answer of a good one."""
    call = {"id": "c1", "type": "function", "function": {"name": "set_password", "arguments": "{}"}}
    choice = {"message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}
    answer = {"object": "chat.completion", "system_fingerprint": "", "choices": [choice], "usage": {"total_tokens": 1}}
    data = json.dumps(answer | {"note": "messages"}).encode()
    assert word.encode() in data
    assert eraser(word).bytes(data) == data


def test_a_key_that_only_has_such_a_word_in_it_is_a_secret() -> None:
    for key in ("arguments-1", "my-content-key", "content function", "Password1"):
        assert eraser(key).text(f"{key}!") == f"{HIDDEN}!"


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


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("backslashes", [0, 1, 2, 7, 8, 9, 15, 16, 40])
@pytest.mark.parametrize("key", ["sk-proj-AbCdEf0123456789", "nvapi-abcdef0123", '"abcdef"0123', "\\abcdef0123"])
def test_json_stays_json_whatever_stands_before_the_secret(key: str, backslashes: int, levels: int) -> None:
    value = "start " + "\\" * backslashes + key + " end"
    for _ in range(levels):
        value = json.dumps({"a": value})
    erased = eraser(key).text(value)
    for _ in range(levels):
        erased = json.loads(erased)["a"]
    assert erased == f"start {HIDDEN} end"


def test_a_quote_behind_a_secret_that_ends_in_a_backslash_stays_escaped() -> None:
    echo = json.dumps({"error": 'key "abcdef\\" is wrong'})
    assert json.loads(eraser("abcdef\\").text(echo)) == {"error": f'key "{HIDDEN}" is wrong'}


def test_an_escape_that_ends_in_the_first_letter_of_the_secret_is_not_cut() -> None:
    assert json.loads(eraser("nvapi-abcdef").text(r'"line\nvapi-abcdef"')) == f"line{HIDDEN}"


def test_a_secret_is_erased_at_every_depth_of_json_in_json() -> None:
    echo = in_php(AWKWARD)
    for _ in range(6):
        echo = json.dumps(echo)
    assert "abcdefgh" not in eraser(AWKWARD).text(echo)


@pytest.mark.parametrize("form", ["\\", "\\\\", "\\u005c", "\\\\u005C", "%5C", "%255c", "&#92;"])
@pytest.mark.parametrize("key", ["\\\\abcdef", "abc\\\\def", "abc\\def\\", "\\u005cabcdef"])
def test_backslashes_of_a_secret_are_known_in_every_form(key: str, form: str) -> None:
    erased = eraser(key).text(f"key {key.replace(chr(92), form)}!")
    assert HIDDEN in erased
    assert "def" not in erased


def test_a_secret_that_ends_in_a_backslash_is_erased_as_often_as_it_stands_there() -> None:
    assert eraser("abcdef\\").text(r"abcdef\\abcdef\\") == HIDDEN * 2


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("leading", [1, 2, 5, 12])
@pytest.mark.parametrize("noise", ["\\", "u005c", "\\u005c", "%5c", "%25", "&#92;", "&#0"])
def test_no_answer_keeps_us_busy_over_a_secret_with_backslashes(noise: str, leading: int) -> None:
    data = b"abcdef " + noise.encode() * 20_000 + b"x"
    began = time.process_time()
    for key in ("\\" * leading + "abcdef", "c" + "\\" * leading + "abcdef"):
        assert eraser(key).bytes(data) == data
    assert time.process_time() - began < 1


DISGUISED = "sk-proj-9fJ2kLmQ0aZx81VbTnRyWc3eHs7DgU4p"


def with_one(form: str) -> str:
    """The key with one character written as a code."""
    return DISGUISED.replace("L", form.format(ord("L")))


@pytest.mark.parametrize(
    "echo",
    [
        *map(
            with_one,
            ["\\u{:04x}", "\\u{:04X}", "\\\\u{:04x}", "&#{};", "&#x{:x};", "&#0{}", "%{:02x}", "%{:02X}", "%25{:x}"],
        ),
        DISGUISED[::-1],
        DISGUISED.encode().hex(),
        DISGUISED.encode().hex().upper(),
        *(base64.b64encode(f"{before}{DISGUISED} and more".encode()).decode() for before in ("", "a", "ab", "Bearer ")),
        base64.urlsafe_b64encode(f"??>{DISGUISED}".encode()).decode(),
    ],
)
def test_a_secret_is_erased_in_every_disguise(echo: str) -> None:
    known = eraser(DISGUISED)
    erased = known.text(f"key {echo}!")
    assert HIDDEN in erased
    assert erased.startswith("key ")
    assert erased.endswith("!")
    for form in ("9fJ2k", "0aZx81", "k2Jf9", DISGUISED.encode().hex()[20:40]):
        assert form not in erased


@pytest.mark.parametrize("key", ["пароль-ключ", "пароль🔑ключ", "密码密码密码密码", "\ud83d" * 9, "--------+"])
def test_a_secret_without_plain_letters_is_erased_in_every_disguise(key: str) -> None:
    eraser = Eraser([Secret(key, source="test")])
    data = key.encode("utf-8", "surrogatepass")
    for echo in (key[::-1], data.hex(), base64.b64encode(data).decode()):
        assert echo not in eraser.text(f"it says {echo}.")
    assert eraser.bytes(b"no secret, \xff") == b"no secret, \xff"


def test_a_short_secret_is_not_looked_for_in_disguise() -> None:
    """Its forms would occur by chance."""
    assert eraser("abcdef").text("fedcba 616263646566") == "fedcba 616263646566"


def test_codes_without_a_secret_are_left_as_they_are() -> None:
    text = "100%61 &#76; \\u004c \\u4e2d" * 50
    assert eraser(DISGUISED).text(text) is text
