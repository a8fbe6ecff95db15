"""Lines of bytes: the same as by the methods of bytes, which are slower."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.text.byte_lines import split_lines


@given(st.lists(st.sampled_from([b"\n", b"a", b"\r", b"\r\n", b"bc", b"\x0b", b""])).map(b"".join))
def test_lines_are_what_stands_between_newlines(data: bytes) -> None:
    assert split_lines(data) == data.split(b"\n")


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\n", b"\n\na\n", b"a\nb"])
def test_lines_may_keep_their_ends(data: bytes) -> None:
    *lines, rest = split_lines(data, keep_ends=True)
    assert b"".join(lines) + rest == data
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert b"\n" not in rest
