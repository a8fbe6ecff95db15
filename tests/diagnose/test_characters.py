"""Escaped and corrupted characters in arguments, in three grades."""

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
def test_lost_characters_are_a_warning(city: str) -> None:
    assert graded(f'{{"city": "{city}"}}') == [("args.escaped", Severity.WARNING)]


@pytest.mark.parametrize("city", ["a\\u0000b", "\\u003cb\\u003e", "\\u0027", "\\u200b", "東京"])
def test_escapes_with_a_reason_are_fine(city: str) -> None:
    assert graded(f'{{"city": "{city}"}}') == []


def test_code_may_spell_an_escape() -> None:
    """Only a character that the conversation shows can have been escaped twice by accident."""
    code = as_json({"city": "print('\\u00e9')"})
    assert codes(asked(), called(call(arguments=code))) == []


def test_a_replacement_character_of_the_user_is_the_users() -> None:
    assert codes(asked(user("What is \ufffd?")), called(call(arguments='{"city": "\ufffd"}'))) == []
