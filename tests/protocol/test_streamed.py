"""Every case of putting a stream together: what is built, and what is said about it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from support.sse_streams import (
    DONE,
    FIRST,
    LAST,
    USAGE,
    USED,
    call_stream,
    calls,
    chunk,
    codes,
    event,
    evidence,
    piece,
    read,
    stream,
    weather,
)
from toolcert.core.exchanges import CallsField, Fault, FaultKind, Reply
from toolcert.core.requests import RequestKind

FAITHFUL = stream(FIRST, *weather(), LAST, USED)
TEXT = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Hel"}), chunk({"content": "lo"})]
STOP = chunk({}, "stop")


def arguments(reply: Reply) -> list[Any]:
    return [call.arguments for call in reply.tool_calls]


# ---- what is regular -------------------------------------------------------------------------------


def test_a_faithful_stream_of_a_call_is_read_without_a_word() -> None:
    reply = read(FAITHFUL, stream_options={"include_usage": True})
    (call,) = reply.tool_calls
    assert (call.id, call.type, call.name, call.index) == ("call_1", "function", "weather", 0)
    assert call.arguments == '{"city":"Paris"}'
    assert (reply.role, reply.content, reply.calls_field) == ("assistant", None, CallsField.LIST)
    assert (reply.finish_reason, reply.finish_reasons) == ("tool_calls", ("tool_calls",))
    assert (reply.usage, reply.id, reply.model) == (USAGE, "chatcmpl-1", "m")
    assert (reply.streamed, reply.complete, reply.readable, reply.irregularities) == (True, True, True, ())


def test_a_faithful_stream_of_text_is_read_without_a_word() -> None:
    reply = read(stream(*TEXT, STOP))
    assert (reply.content, reply.finish_reason, reply.tool_calls) == ("Hello", "stop", ())
    assert (reply.calls_field, reply.irregularities) == (CallsField.ABSENT, ())


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_under_both_of_its_names(field: str) -> None:
    reply = read(stream(FIRST, chunk({field: "let "}), chunk({field: "me"}), chunk({"content": "ok"}), STOP))
    assert (reply.reasoning, reply.content, codes(reply)) == ("let me", "ok", [])


def test_reasoning_sent_under_both_names_is_not_doubled() -> None:
    both = chunk({"reasoning_content": "hm", "reasoning": "hm"})
    assert read(stream(FIRST, both, STOP)).reasoning == "hm"


def test_two_calls_side_by_side_are_told_apart_by_their_index() -> None:
    reply = read(call_stream(*weather(0, "a", "Rome"), *weather(1, "b", "Oslo")))
    assert arguments(reply) == ['{"city":"Rome"}', '{"city":"Oslo"}']
    assert codes(reply) == []


def test_calls_that_take_turns_are_still_told_apart() -> None:
    rome, oslo = weather(0, "a", "Rome"), weather(1, "b", "Oslo")
    reply = read(call_stream(*(each for pair in zip(rome, oslo, strict=True) for each in pair)))
    assert (arguments(reply), codes(reply)) == (['{"city":"Rome"}', '{"city":"Oslo"}'], [])


def test_a_call_without_arguments_has_none() -> None:
    (call,) = read(call_stream(calls(piece(call_id="a", name="now")))).tool_calls
    assert call.arguments is None


def test_empty_ids_and_names_in_later_pieces_are_no_matter() -> None:
    pieces = [
        piece(call_id="a", name="f", arguments=""),
        {"index": 0, "id": "", "function": {"name": "", "arguments": "{}"}},
    ]
    reply = read(call_stream(*map(calls, pieces)))
    (call,) = reply.tool_calls
    assert (call.id, call.name, call.arguments, codes(reply)) == ("a", "f", "{}", [])


def test_an_empty_first_id_of_the_stream_is_no_change_of_id() -> None:
    filtered = chunk(id="", model="", choices=[], prompt_filter_results=[])
    reply = read(stream(filtered, FIRST, chunk({"content": "x"}), STOP))
    assert (reply.id, codes(reply)) == ("chatcmpl-1", [])


def test_usage_beside_a_choice_at_the_end_is_regular() -> None:
    reply = read(stream(*TEXT, STOP, chunk({}, None, usage=USAGE)))
    assert (reply.usage, codes(reply)) == (USAGE, [])


def watsonx(*chunks: Any, end: bytes = b"id: 9\nevent: close\ndata: {}\n\n") -> bytes:
    events = [b"id: %d\nevent: message\ndata: %b\n\n" % (n, json.dumps(each).encode()) for n, each in enumerate(chunks)]
    return b"".join(events) + end


def test_a_watsonx_stream_ends_with_its_close_event_and_counts_as_it_goes() -> None:
    chunks = [each | {"model_id": "ibm/granite", "usage": USAGE} for each in [*TEXT, STOP]]
    for each in chunks:
        del each["model"]
    reply = read(watsonx(*chunks))
    assert (reply.content, reply.model, reply.usage) == ("Hello", "ibm/granite", USAGE)
    assert (reply.complete, codes(reply)) == (True, [])


def test_line_ends_and_comments_make_no_difference() -> None:
    noisy = b": keep-alive\r\n\r\n" + FAITHFUL.replace(b"\n", b"\r\n")
    assert read(noisy) == read(FAITHFUL)


# ---- how it ends -----------------------------------------------------------------------------------


def test_a_stream_without_finish_reason_and_end_marker_is_cut() -> None:
    reply = read(stream(FIRST, *weather(), end=b""))
    assert (codes(reply), reply.complete, reply.finish_reason) == (["stream.cut"], False, None)
    assert "Paris" in evidence(reply)
    assert arguments(reply) == ['{"city":"Paris"}']


def test_a_stream_cut_inside_an_event_is_cut_and_nothing_else() -> None:
    reply = read(stream(FIRST, chunk({"content": "Hel"}), end=b'data: {"id":"chatcm'))
    assert (reply.content, codes(reply)) == ("Hel", ["stream.cut"])


def test_an_empty_stream_is_cut() -> None:
    assert codes(read(b"")) == ["stream.cut"]
    assert codes(read(b": ping\n\n")) == ["stream.cut"]


def test_an_end_marker_without_finish_reason_is_no_cut() -> None:
    reply = read(stream(*TEXT))
    assert (reply.complete, reply.finish_reasons, codes(reply)) == (True, (), [])


def test_a_missing_end_marker_after_the_finish_reason_is_framing_only() -> None:
    reply = read(stream(*TEXT, STOP, end=b""))
    assert (reply.complete, codes(reply)) == (True, ["stream.framing"])
    assert "no end marker" in evidence(reply)


@pytest.mark.parametrize("kind", [FaultKind.RESET, FaultKind.TIMEOUT])
def test_a_reset_or_timeout_inside_is_no_cut(kind: FaultKind) -> None:
    reply = read(stream(FIRST, chunk({"content": "Hel"}), end=b'data: {"i'), fault=Fault(kind=kind, message=""))
    assert (reply.content, reply.complete, codes(reply)) == ("Hel", False, [])


def test_every_finish_reason_is_kept() -> None:
    reply = read(stream(*TEXT, STOP, chunk({}, "tool_calls")))
    assert (reply.finish_reasons, reply.finish_reason) == (("stop", "tool_calls"), "tool_calls")


def test_an_empty_finish_reason_is_none() -> None:
    reply = read(stream(chunk({"role": "assistant", "content": "a"}, ""), chunk({"content": "b"}, ""), STOP))
    assert (reply.finish_reasons, codes(reply)) == (("stop",), ["stream.framing"])
    assert "2 times" in evidence(reply)


@pytest.mark.parametrize("end", [b"data: [DONE]", b"data: [DONE]\n"])
def test_an_end_marker_that_is_not_closed_counts_and_is_noted(end: bytes) -> None:
    reply = read(stream(*TEXT, STOP, end=end))
    assert (reply.complete, codes(reply)) == (True, ["stream.framing"])


def test_what_comes_after_the_end_is_noted() -> None:
    assert "after the end marker" in evidence(read(stream(*TEXT, STOP, end=DONE + event(STOP))))


def test_content_after_the_finish_reason_is_out_of_order() -> None:
    reply = read(stream(*TEXT, STOP, chunk({"content": "!"})))
    assert (reply.content, codes(reply)) == ("Hello!", ["stream.order"])


# ---- indexes ---------------------------------------------------------------------------------------


def test_pieces_without_index_are_put_together_by_their_order() -> None:
    reply = read(call_stream(*weather(None, "a", "Rome"), *weather(None, "b", "Oslo")))
    assert arguments(reply) == ['{"city":"Rome"}', '{"city":"Oslo"}']
    assert codes(reply) == ["stream.index_missing"]
    assert [call.index for call in reply.tool_calls] == [None, None]


def test_pieces_without_index_find_the_call_of_their_id() -> None:
    pieces = [
        piece(None, call_id="a", name="f", arguments="{"),
        piece(None, call_id="b", name="g", arguments="{"),
        piece(None, call_id="a", arguments="}"),
        piece(None, call_id="b", arguments="}"),
    ]
    assert arguments(read(call_stream(*map(calls, pieces)))) == ["{}", "{}"]


@pytest.mark.heavy
def test_very_many_calls_without_index_cost_little_each() -> None:
    deltas = [calls(piece(None, call_id=f"c{number}", name="f", arguments="{}")) for number in range(20_000)]
    began = time.process_time()
    assert len(read(call_stream(*deltas)).tool_calls) == 20_000
    assert time.process_time() - began < 3.0


def test_whole_calls_without_index_in_one_delta_are_two_calls() -> None:
    both = calls(piece(None, call_id="a", name="f", arguments="{}"), piece(None, call_id="b", name="f", arguments="{}"))
    assert len(read(call_stream(both)).tool_calls) == 2


@pytest.mark.parametrize("index", ["0", 0.0, True, {}, "1" * 5000])
def test_an_index_that_is_no_number_is_as_good_as_none(index: Any) -> None:
    reply = read(call_stream(*weather(index, "a", "Rome")))
    assert arguments(reply) == ['{"city":"Rome"}']
    assert "stream.index_missing" in codes(reply)


def test_two_calls_on_one_index_are_two_calls() -> None:
    reply = read(call_stream(*weather(0, "a", "Rome"), *weather(0, "b", "Oslo")))
    assert arguments(reply) == ['{"city":"Rome"}', '{"city":"Oslo"}']
    assert codes(reply) == ["stream.index_shared"]


def test_two_calls_on_one_index_are_told_apart_without_ids_too() -> None:
    pieces = [piece(0, name="f", arguments='{"a":1}'), piece(0, name="f", arguments='{"a":2}')]
    reply = read(call_stream(*map(calls, pieces)))
    assert arguments(reply) == ['{"a":1}', '{"a":2}']
    assert "stream.index_shared" in codes(reply)


def test_two_calls_on_one_index_of_which_the_first_has_no_arguments() -> None:
    pieces = [piece(0, call_id="a", name="f", arguments=""), piece(0, call_id="b", name="f", arguments="{}")]
    reply = read(call_stream(*map(calls, pieces)))
    assert (arguments(reply), codes(reply)) == (["", "{}"], ["stream.index_shared"])


@pytest.mark.parametrize("indexes", [[1], [0, 2], [-1], [1, 2]])
def test_indexes_with_holes_are_noted(indexes: list[int]) -> None:
    reply = read(call_stream(*(each for n, index in enumerate(indexes) for each in weather(index, f"c{n}"))))
    assert (len(reply.tool_calls), codes(reply)) == (len(indexes), ["stream.index_gap"])
    assert json.dumps(indexes, separators=(",", ":")) in evidence(reply)


def test_indexes_in_another_order_are_no_hole() -> None:
    assert codes(read(call_stream(*weather(1, "b"), *weather(0, "a")))) == []


# ---- pieces ----------------------------------------------------------------------------------------


def misplaced(*trail: tuple[int, str]) -> Reply:
    """Two calls, and then argument pieces with the index each was sent under."""
    opened = [
        calls(piece(0, call_id="a", name="f", arguments="")),
        calls(piece(1, call_id="b", name="g", arguments="")),
    ]
    return read(call_stream(*opened, *(calls(piece(index, arguments=text)) for index, text in trail)))


@pytest.mark.parametrize(
    "trail",
    [
        [(0, '{"x":'), (1, '{"y":'), (1, "1}"), (1, "2}")],
        [(0, '{"x":'), (0, "1}"), (1, '{"y":'), (0, "2}")],
        [(0, '{"x":'), (0, "1}"), (0, '{"y":'), (0, "2}")],
        [(1, '{"x":'), (0, "1}"), (1, '{"y":'), (1, "2}")],
    ],
)
def test_a_piece_under_the_wrong_call_is_proved_by_moving_it(trail: list[tuple[int, str]]) -> None:
    reply = misplaced(*trail)
    assert codes(reply) == ["stream.fragment_misplaced"]
    assert "belongs to call" in evidence(reply)
    assert "".join(text for _, text in trail if _ == 0) == reply.tool_calls[0].arguments


def test_broken_arguments_that_no_move_mends_are_not_called_misplaced() -> None:
    assert codes(misplaced((0, '{"x":'), (1, '{"y":'))) == []
    assert codes(misplaced((0, "oops"), (1, '{"y":2}'))) == []


def test_a_piece_with_the_id_of_another_call_is_misplaced() -> None:
    opened = [piece(0, call_id="a", name="f", arguments="{"), piece(1, call_id="b", name="g", arguments="{")]
    stray = [piece(0, call_id="b", arguments="}"), piece(0, arguments="}")]
    reply = read(call_stream(*map(calls, [*opened, *stray])))
    assert "stream.fragment_misplaced" in codes(reply)
    assert '"b"' in evidence(reply)


def test_a_name_that_comes_again_is_kept_once() -> None:
    pieces = [
        piece(call_id="a", name="f", arguments=""),
        *(piece(name="f", arguments=text) for text in ('{"x":', "1}", "")),
    ]
    reply = read(call_stream(*map(calls, pieces)))
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, codes(reply)) == ("f", '{"x":1}', ["stream.name_repeated"])
    assert "3 times" in evidence(reply)


def test_a_name_in_pieces_is_put_together_and_noted() -> None:
    pieces = [piece(call_id="a", name="get_"), piece(name="weather"), piece(arguments="{}")]
    reply = read(call_stream(*map(calls, pieces)))
    assert (reply.tool_calls[0].name, codes(reply)) == ("get_weather", ["stream.framing"])


def test_an_id_that_changes_inside_a_call_does_not_make_another_call() -> None:
    pieces = [piece(call_id=f"id{n}", name="f", arguments=text) for n, text in enumerate(['{"x"', ":", "1", "}"])]
    reply = read(call_stream(*map(calls, pieces)))
    assert (arguments(reply), reply.tool_calls[0].id) == (['{"x":1}'], "id0")
    assert sorted(codes(reply)) == ["stream.framing", "stream.name_repeated"]


def test_a_whole_call_in_one_piece_is_noted() -> None:
    reply = read(call_stream(calls(piece(call_id="a", name="f", arguments='{"city":"Paris"}'))))
    assert codes(reply) == ["stream.one_piece"]


@pytest.mark.parametrize("text", ["", "{}"])
def test_arguments_too_short_to_be_cut_are_no_single_piece(text: str) -> None:
    assert codes(read(call_stream(calls(piece(call_id="a", name="f", arguments=text))))) == []


def test_arguments_that_are_an_object_stay_one() -> None:
    reply = read(call_stream(calls(piece(call_id="a", name="f", arguments={"city": "Paris"}))))
    assert arguments(reply) == [{"city": "Paris"}]


def test_ids_and_types_of_the_wrong_kind_are_kept_as_written() -> None:
    (call,) = read(
        call_stream(calls({"index": 0, "id": 7, "type": 1, "function": {"name": None, "arguments": "{}"}}))
    ).tool_calls
    assert (call.id, call.type, call.name) == (7, 1, None)


# ---- forms of tool_calls ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "field"),
    [(None, CallsField.NULL), ([], CallsField.EMPTY), ({"a": 1}, CallsField.WRONG), (["x"], CallsField.WRONG)],
)
def test_the_form_of_tool_calls_is_remembered(written: Any, field: CallsField) -> None:
    reply = read(stream(*TEXT, chunk({"tool_calls": written}), STOP))
    assert (reply.calls_field, reply.tool_calls) == (field, ())
    assert codes(reply) == (["envelope.not_openai"] if field is CallsField.WRONG else [])


def test_the_older_function_call_is_not_of_the_protocol() -> None:
    reply = read(stream(FIRST, chunk({"function_call": {"name": "f", "arguments": "{}"}}), STOP))
    assert (codes(reply), reply.tool_calls) == (["envelope.not_openai"], ())


# ---- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [
        event({"error": {"message": "boom", "code": 500}}),
        event({"error": "boom"}),
        event({"object": "error", "message": "boom", "code": 40303}),
        event({"errors": [{"code": "x", "message": "boom"}]}),
        b'event: error\ndata: {"errors":[{"code":"x","message":"boom"}]}\n\n',
        b"event: error\ndata: boom\n\n",
    ],
)
@pytest.mark.parametrize("end", [b"", DONE])
def test_an_error_inside_a_stream_is_said_and_explains_its_end(failure: bytes, end: bytes) -> None:
    reply = read(stream(FIRST, chunk({"content": "Hel"}), end=failure + end))
    assert (codes(reply), reply.complete, reply.content) == (["stream.error_inside"], False, "Hel")
    assert "boom" in evidence(reply)


def test_a_stream_of_nothing_but_an_error_is_still_a_stream() -> None:
    reply = read(event({"error": {"message": "boom"}}))
    assert (codes(reply), reply.readable) == (["stream.error_inside"], True)


def test_an_error_beside_a_choice_does_not_hide_the_choice() -> None:
    reply = read(stream(*TEXT, chunk({}, "error", error={"message": "boom"})))
    assert (reply.finish_reason, codes(reply)) == ("error", ["stream.error_inside"])


def test_a_null_error_is_none() -> None:
    assert codes(read(stream(*(each | {"error": None} for each in [*TEXT, STOP])))) == []


# ---- usage -----------------------------------------------------------------------------------------


def test_usage_on_every_chunk_is_noted() -> None:
    reply = read(stream(*(each | {"usage": USAGE} for each in [*TEXT, STOP])))
    assert (reply.usage, codes(reply)) == (USAGE, ["stream.usage_nonstandard"])


def test_usage_on_every_chunk_is_regular_where_it_was_asked_for() -> None:
    chunks = [each | {"usage": USAGE} for each in [*TEXT, STOP]]
    assert codes(read(stream(*chunks), stream_options={"include_usage": True, "continuous_usage_stats": True})) == []


def test_usage_only_inside_a_choice_is_noted() -> None:
    last = chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}])
    reply = read(stream(*TEXT, last))
    assert (reply.usage, codes(reply)) == (USAGE, ["stream.usage_nonstandard"])


def test_null_usage_on_every_chunk_is_regular() -> None:
    assert codes(read(stream(*(each | {"usage": None} for each in [*TEXT, STOP]), USED))) == []


# ---- framing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (stream(*TEXT, end=b"data: {oops\n\n" + event(STOP) + DONE), "not JSON"),
        (stream(*TEXT, end=b'data: {"id":1}{"id":2}\n\n' + event(STOP) + DONE), "not JSON"),
        (stream(*TEXT, end=b"data: NaN\n\n" + event(STOP) + DONE), "not JSON"),
        (stream(*TEXT, end=b"data: 7\n\n" + event(STOP) + DONE), "no object"),
        (stream(*TEXT, end=b'{"choices":[]}\n\n' + event(STOP) + DONE), "no field of an event"),
        (stream(*TEXT, end=b"event: ping\ndata: {}\n\n" + event(STOP) + DONE), '"ping"'),
        (stream(*TEXT, chunk({"content": "!"}, id="chatcmpl-2"), STOP), "the id changes"),
        (stream(*TEXT, chunk({"role": "assistant", "content": "!"}), STOP), "comes again"),
        (stream(*TEXT, {"id": "chatcmpl-1", "model": "m"}, STOP), "without choices"),
        (stream(*TEXT, chunk(choices=None), STOP), "without choices"),
        (stream(*TEXT, chunk(choices=[{"index": 0, "finish_reason": "stop"}])), "without delta"),
        (stream(*TEXT, chunk(choices=[{"index": 0, "text": "x", "finish_reason": "stop"}])), "without delta"),
    ],
)
def test_bad_framing_is_noted_and_the_rest_is_read(payload: bytes, words: str) -> None:
    reply = read(payload)
    assert codes(reply) == ["stream.framing"]
    assert words in evidence(reply)
    assert (reply.content or "").startswith("Hello")
    assert reply.finish_reason == "stop"


def test_events_of_several_lines_are_read() -> None:
    pretty = b"".join(
        b"".join(b"data: " + line + b"\n" for line in json.dumps(each, indent=1).encode().split(b"\n")) + b"\n"
        for each in [*TEXT, STOP]
    )
    reply = read(pretty + DONE)
    assert (reply.content, codes(reply)) == ("Hello", [])


def test_a_character_split_between_events_as_bytes_is_noted() -> None:
    raw = [event(chunk({"content": "@"})).replace(b"@", half) for half in (b"\xc3", b"\xa9")]
    reply = read(event(FIRST) + b"".join(raw) + event(STOP) + DONE)
    assert (reply.content, set(codes(reply))) == ("\ufffd\ufffd", {"stream.framing"})


def test_a_character_split_into_surrogates_is_joined_and_noted() -> None:
    raw = [event(chunk({"content": "@"})).replace(b"@", half) for half in (rb"\ud83d", rb"\ude00")]
    reply = read(event(FIRST) + b"".join(raw) + event(STOP) + DONE)
    assert (reply.content, codes(reply)) == ("😀", ["stream.framing"])


def test_half_a_character_never_leaves_the_reader() -> None:
    lone = calls(piece(call_id="\ud83d", name="\ud83d", arguments="\ud83d"))
    (call,) = read(call_stream(lone)).tool_calls
    assert "".join([call.id, call.name, call.arguments]).encode().decode() == "\ufffd" * 3


def test_a_replacement_character_shows_that_one_was_split() -> None:
    reply = read(stream(FIRST, chunk({"content": "caf\ufffd"}), chunk({"content": "\ufffd"}), STOP))
    assert (codes(reply), "caf" in evidence(reply)) == (["stream.framing"], True)


def test_accents_and_emoji_are_no_irregularity() -> None:
    reply = read(stream(FIRST, chunk({"content": "café "}), chunk({"content": "😀"}), STOP))
    assert (reply.content, codes(reply)) == ("café 😀", [])


def test_a_stream_with_another_media_type_is_noted() -> None:
    assert codes(read(FAITHFUL, headers={"content-type": "application/json"})) == ["stream.framing"]
    assert codes(read(FAITHFUL, headers={"content-type": "text/event-stream; charset=utf-8"})) == []


def test_a_stream_nobody_asked_for_is_noted() -> None:
    assert "a request without `stream`" in evidence(read(FAITHFUL, stream=False))


# ---- wrong types and other choices -----------------------------------------------------------------


@pytest.mark.parametrize(
    "delta",
    [{"content": 7}, {"content": {"x": 1}}, {"role": 7}, {"reasoning": ["x"]}, {"content": [{"type": "image"}]}],
)
def test_fields_of_the_wrong_type_are_not_of_the_protocol(delta: Any) -> None:
    reply = read(stream(*TEXT, chunk(delta), STOP))
    assert (reply.content, codes(reply), reply.readable) == ("Hello", ["envelope.not_openai"], True)


def test_content_in_parts_is_read_and_noted() -> None:
    reply = read(stream(*TEXT, chunk({"content": [{"type": "text", "text": "!"}]}), STOP))
    assert (reply.content, codes(reply)) == ("Hello!", ["envelope.not_openai"])


@pytest.mark.parametrize("choices", ["x", 7, {"delta": {}}])
def test_choices_that_are_no_list_are_not_of_the_protocol(choices: Any) -> None:
    reply = read(stream(*TEXT, chunk(choices=choices), STOP))
    assert "envelope.not_openai" in codes(reply)


def test_a_choice_nobody_asked_for_is_noted_and_not_mixed_in() -> None:
    other = chunk(choices=[{"index": 1, "delta": {"content": "other"}, "finish_reason": None}])
    reply = read(stream(*TEXT, other, STOP))
    assert (reply.content, codes(reply)) == ("Hello", ["envelope.not_openai"])
    assert codes(read(stream(*TEXT, other, STOP), n=2)) == []


@pytest.mark.parametrize(
    "payload",
    [
        DONE,
        b'data: {"response":"hi","done":true}\n\n',
        b'{"response":"hi"}\n{"response":"ho"}\n',
        b"data: hello\n\n" + DONE,
    ],
)
def test_a_stream_without_any_choice_is_not_of_the_protocol(payload: bytes) -> None:
    reply = read(payload)
    assert (reply.readable, "envelope.not_openai" in codes(reply)) == (False, True)
    assert "stream.cut" not in codes(reply)


def test_a_completions_stream_is_text() -> None:
    texts = [{"index": 0, "text": text, "finish_reason": None} for text in ("<tool", "_call>")]
    chunks = [chunk(choices=[choice]) for choice in [*texts, {"index": 0, "text": "", "finish_reason": "stop"}]]
    reply = read(stream(*chunks), kind=RequestKind.COMPLETIONS)
    assert (reply.content, reply.finish_reason, codes(reply)) == ("<tool_call>", "stop", [])


# ---- order and repetition --------------------------------------------------------------------------


def test_arguments_before_the_name_of_their_call_are_out_of_order() -> None:
    head, *rest = weather()
    reply = read(call_stream(rest[0], head, *rest[1:]))
    assert (codes(reply), arguments(reply)) == (["stream.order"], ['{"city":"Paris"}'])


def test_two_pieces_of_the_arguments_that_changed_places_are_out_of_order() -> None:
    head, *_ = weather()
    parts = [calls(piece(0, arguments=text)) for text in ('{"ci', '"Pa', 'ty":', 'ris"}')]
    assert codes(read(call_stream(head, *parts))) == ["stream.order"]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_pieces_that_repeat_all_before_them_are_cumulative(field: str) -> None:
    texts = ["I", "I am", "I am here", "I am here now"]
    reply = read(stream(FIRST, *(chunk({field: text}) for text in texts), STOP))
    assert codes(reply) == ["stream.cumulative"]


def test_two_pieces_of_json_prove_that_a_text_is_cumulative() -> None:
    texts = ['{"city": "Pa', '{"city": "Paris"}']
    assert codes(read(stream(FIRST, *(chunk({"content": text}) for text in texts), STOP))) == ["stream.cumulative"]
    assert codes(read(stream(FIRST, *(chunk({"content": text}) for text in ("1", "12")), STOP))) == []


def test_arguments_that_repeat_all_before_them_are_cumulative() -> None:
    head, *_ = weather()
    texts = ['{"ci', '{"city":', '{"city":"Par', '{"city":"Paris"}']
    assert codes(read(call_stream(head, *(calls(piece(0, arguments=text)) for text in texts)))) == ["stream.cumulative"]


def test_a_text_that_begins_with_equal_letters_is_not_cumulative() -> None:
    assert codes(read(stream(*(chunk({"content": text}) for text in ("ha", "ha", "ha", "ha", "!")), STOP))) == []
    assert codes(read(stream(*(chunk({"content": text}) for text in ("a", "ab", "x", "abc")), STOP))) == []
