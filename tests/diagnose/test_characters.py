"""Escaped characters in arguments, in two grades, and characters that were lost or replaced."""

from __future__ import annotations

import pytest

from diagnose.answers import as_json, asked, call, called, codes, found
from toolcert.core.findings import Severity
from toolcert.core.requests import user

TOKYO = user("東京の天気は？")


def graded(arguments: str) -> list[tuple[str, Severity]]:
    findings = found(asked(TOKYO), called(call(arguments=arguments)))
    return [(finding.code, finding.severity) for finding in findings]


@pytest.mark.parametrize("city", ["\\u6771\\u4eac", "S\\u00e3o", "\\ud83d\\uddfc"])
def test_printable_text_escaped_is_a_note(city: str) -> None:
    assert graded(f'{{"city": "{city}"}}') == [("args.escaped", Severity.NOTE)]


def test_text_escaped_twice_is_a_warning() -> None:
    assert graded(r'{"city": "\\u6771\\u4eac"}') == [("args.escaped", Severity.WARNING)]


@pytest.mark.parametrize("city", ["\ufffd\ufffd京", "\\ufffd京"])
def test_lost_characters_are_an_error(city: str) -> None:
    assert graded(f'{{"city": "{city}"}}') == [("args.altered", Severity.ERROR)]


@pytest.mark.parametrize("city", ["a\\u0000b", "\\u003cb\\u003e", "\\u0027", "\\u200b", "東京"])
def test_escapes_with_a_reason_are_fine(city: str) -> None:
    assert graded(f'{{"city": "{city}"}}') == []


def test_code_may_spell_an_escape() -> None:
    """Only a character that the conversation shows can have been escaped twice by accident."""
    code = as_json({"city": "print('\\u00e9')"})
    assert codes(asked(), called(call(arguments=code))) == []


def test_a_replacement_character_of_the_user_is_the_users() -> None:
    assert codes(asked(user("What is \ufffd?")), called(call(arguments='{"city": "\ufffd"}'))) == []


ZURICH = user('Wie ist das Wetter in Zürich für "Zoë Ångström" mit Grüßen aus Málaga?')


@pytest.mark.parametrize(
    "city",
    [
        "ZÃ¼rich",
        "MÃ¡laga",
        "GrÃ¼ÃŸe",
        "It is cold â€“ very cold",
        "Partyâ€™s over",
        "ðŸŽ‰",
        "Z\ufffdrich",
        "Z?rich",
        "Zrich",
        "Mlaga today",
        "Zo ngstrm",
        "Zo? ?ngstr?m",
    ],
)
def test_altered_characters_are_an_error(city: str) -> None:
    findings = found(asked(ZURICH), called(call(arguments=as_json({"city": city}))))
    assert [(finding.code, finding.severity) for finding in findings] == [("args.altered", Severity.ERROR)]


@pytest.mark.parametrize(
    "city",
    [
        "Zürich",
        "Zurich",
        "Zuerich",
        "ZÜRICH",
        "Zu\u0308rich",
        "Málaga",
        "Zoe Angstrom",
        "Zoë",
        "Genève",
        "São Paulo",
        "Ærø",
        "naïve café",
        "déjà vu…",
        "“Zürich”",
        "20 °C – 30 °C",
        "Is it cold in Zürich?",
        "Zürich?",
        "東京",
        "Łódź",
        "½ – ¾",
    ],
)
def test_characters_as_a_model_may_write_them(city: str) -> None:
    assert codes(asked(ZURICH), called(call(arguments=as_json({"city": city})))) == []


def test_misread_text_of_the_user_is_the_users() -> None:
    question = user("Mend this: ZÃ¼rich")
    assert codes(asked(question), called(call(arguments=as_json({"city": "ZÃ¼rich"})))) == []
