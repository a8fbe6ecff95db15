"""Evidence for people."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.text.excerpt import MOST, around, excerpt, shown
from toolcert.core.text.visible_text import CONTROL


def test_short_text_stays_as_it_is() -> None:
    assert excerpt("Tokyo 東京") == "Tokyo 東京"


def test_the_middle_is_left_out() -> None:
    cut = excerpt("a" * 500 + "z" * 500)
    assert len(cut) == MOST
    assert cut.startswith("aaa")
    assert cut.endswith("zzz")
    assert " … " in cut


@given(st.text(max_size=400))
def test_nothing_in_an_excerpt_moves_a_cursor(text: str) -> None:
    assert all(character.isprintable() or not _moves(character) for character in excerpt(text))


def test_text_that_python_calls_printable_has_nothing_to_write_out() -> None:
    assert not CONTROL.search("".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1)))))


def _moves(character: str) -> bool:
    return ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 or 0x202A <= ord(character) <= 0x202E


def test_values_are_shown_as_on_the_wire() -> None:
    assert shown({"city": "東京"}) == '{"city":"東京"}'
    assert shown(None) == "null"
    assert shown("a\nb") == '"a\\nb"'


def test_around_marks_what_is_left_out() -> None:
    assert around("0123456789", 4, 5, margin=2) == "…23456…"
    assert around("0123456789", 0, 10) == "0123456789"
