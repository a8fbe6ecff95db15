"""Lines of bytes: the same as by the methods of bytes, which are slower."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.text.byte_lines import split_lines


@given(st.lists(st.sampled_from([b"\n", b"a", b"\r", b"\r\n", b"bc", b"\x0b", b"", 2000 * b"x"])).map(b"".join))
def test_lines_are_what_stands_between_newlines(data: bytes) -> None:
    assert split_lines(data) == data.split(b"\n")
