"""Event streams are read the same however they are cut, and nothing in them disappears."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.protocol.sse import LineTooLong, ServerEvent, SseReader, read_events, read_plain_events

BOM = b"\xef\xbb\xbf"


def events_of(*pieces: bytes) -> list[ServerEvent]:
    reader = SseReader()
    return [event for piece in pieces for event in reader.feed(piece)] + reader.finish()


def data_of(*pieces: bytes) -> list[bytes]:
    return [event.data for event in events_of(*pieces)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_any_of_the_three_ways(end: bytes) -> None:
    assert data_of(end.join([b"data: a", b"", b"data: b", b"", b""])) == [b"a", b"b"]


def test_the_space_after_the_colon_is_optional_and_only_one_is_dropped() -> None:
    assert data_of(b"data:a\n\ndata:  b\n\n") == [b"a", b" b"]


def test_several_data_lines_are_one_event() -> None:
    assert data_of(b'data: {"a":\ndata: 1}\n\n') == [b'{"a":\n1}']


def test_comments_and_retry_are_no_events_and_no_strays() -> None:
    log = read_events(b": ping\n\nretry: 10\n\ndata: a\n: inside\n\n")
    assert ([event.data for event in log.events], log.strays) == ([b"a"], [])


def test_event_and_id_fields_are_kept() -> None:
    (event,) = events_of(b"id: 7\nevent: message\ndata: {}\n\n")
    assert event == ServerEvent(data=b"{}", event="message", id="7")


def test_an_event_name_holds_for_one_event_only() -> None:
    assert [event.event for event in events_of(b"event: close\ndata: {}\n\ndata: a\n\n")] == ["close", ""]


def test_an_event_without_data_but_with_a_name_is_delivered() -> None:
    assert events_of(b"event: close\n\n") == [ServerEvent(data=b"", event="close")]


def test_a_byte_order_mark_is_skipped_even_in_pieces() -> None:
    assert data_of(BOM + b"data: a\n\n") == [b"a"]
    assert data_of(BOM[:1], BOM[1:2], BOM[2:], b"data: a\n\n") == [b"a"]


def test_lines_that_are_no_field_are_reported() -> None:
    log = read_events(b'{"choices": []}\n\ndata: a\n\nError: boom\n\n')
    assert log.strays == [b'{"choices": []}', b"Error: boom"]


@pytest.mark.parametrize(
    ("stream", "unfinished"),
    [(b"data: a\n\n", False), (b"data: a\n", True), (b"data: a", True), (b"data: a\r\r", False), (b"data: a\r", True)],
)
def test_an_event_that_is_not_closed_is_delivered_and_said_to_be_so(stream: bytes, unfinished: bool) -> None:
    log = read_events(stream)
    assert ([event.data for event in log.events], log.unfinished) == ([b"a"], unfinished)


def test_a_line_without_end_is_refused_at_its_cap() -> None:
    reader = SseReader(max_line=100)
    reader.feed(b"data: " + b"x" * 50)
    with pytest.raises(LineTooLong, match="100 bytes"):
        reader.feed(b"x" * 50)


PARTS = [
    b"data: {}\n\n",
    b"data:x\r\n\r\n",
    b": c\n",
    b"event: e\r",
    b"id: 1\n",
    b"\r",
    b"\n",
    b"\r\n",
    b"data: \xc3\xa9",
    b"x",
    b"data",
    b":",
    b" ",
]


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.data(), st.booleans())
def test_any_cutting_gives_the_same_events(parts: list[bytes], data: st.DataObject, marked: bool) -> None:
    """Whatever a stream holds, where it is cut makes no difference."""
    stream = (BOM if marked else b"") + b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    whole, cut = SseReader(), SseReader()
    expected = whole.feed(stream) + whole.finish()
    assert [event for piece in pieces for event in cut.feed(piece)] + cut.finish() == expected
    assert (cut.strays, cut.unfinished) == (whole.strays, whole.unfinished)


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_the_quick_way_agrees_with_the_thorough_one(parts: list[bytes]) -> None:
    """Where the quick reading of plain streams applies, it gives what the full reader gives."""
    stream = b"".join(parts)
    plain = read_plain_events(stream)
    log = read_events(stream)
    if plain is not None:
        assert (plain, log.strays, log.unfinished) == ([event.data for event in log.events], [], False)
        assert not any(event.event or event.id for event in log.events)


def test_the_quick_way_takes_the_common_stream() -> None:
    assert read_plain_events(b'data: {"a":1}\n\ndata: [DONE]\n\n') == [b'{"a":1}', b"[DONE]"]
    assert read_plain_events(b"data: a\ndata: b\n\n") is None
