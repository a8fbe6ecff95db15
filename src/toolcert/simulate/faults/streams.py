"""Streams that a client cannot reassemble reliably."""

from __future__ import annotations

import copy

from toolcert.core.values import JsonObject
from toolcert.simulate.chat_completion import DONE, frame
from toolcert.simulate.faults.base import STREAM, Stage, arguments, call_deltas, calls, fault, is_last, write
from toolcert.simulate.situations import A_CALL, TWO_CALLS, WORDS
from toolcert.simulate.traffic import Ask


@fault("stream.cut", Stage.FRAMES, A_CALL, modes=STREAM)
def cut(frames: list[bytes], _ask: Ask) -> list[bytes]:
    """Ends the stream in the middle without an error."""
    return frames[: max(len(frames) // 2, 1)]


@fault("stream.args_truncated", Stage.CHUNKS, A_CALL, modes=STREAM)
def args_truncated(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Loses the last piece of a call's arguments."""
    pieces = list(call_deltas(chunks))
    return [chunk for place, chunk in enumerate(chunks) if not pieces or place != pieces[-1][0]]


@fault("stream.index_missing", Stage.CHUNKS, A_CALL, modes=STREAM)
def index_missing(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Never says which call a chunk belongs to."""
    for _, piece in call_deltas(chunks):
        del piece["index"]
    return chunks


@fault("stream.index_shared", Stage.CHUNKS, TWO_CALLS, modes=STREAM)
def index_shared(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Sends all calls under one index."""
    for _, piece in call_deltas(chunks):
        piece["index"] = 0
    return chunks


@fault("stream.index_gap", Stage.CHUNKS, TWO_CALLS, modes=STREAM)
def index_gap(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Counts calls from one, and by twos."""
    for _, piece in call_deltas(chunks):
        piece["index"] = 2 * piece["index"] + 1
    return chunks


@fault("stream.fragment_misplaced", Stage.CHUNKS, TWO_CALLS, modes=STREAM)
def fragment_misplaced(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Attaches the last pieces of the second call to the first."""
    second = [piece for _, piece in call_deltas(chunks) if piece["index"] == 1 and "id" not in piece]
    for piece in second[-2:]:
        piece["index"] = 0
    return chunks


@fault("stream.order", Stage.CHUNKS, A_CALL, modes=STREAM)
def order(chunks: list[JsonObject], ask: Ask) -> list[JsonObject]:
    """Sends a piece of the arguments before the call's name; option: `pieces` exchanges two, `finish` ends early."""
    places = [place for place, _ in call_deltas(chunks)]
    if ask.option == "finish":
        end = next(place for place, chunk in enumerate(chunks) if is_last(chunk))
        return [*chunks[: end - 1], chunks[end], chunks[end - 1], *chunks[end + 1 :]]
    first = len(places) - 2 if ask.option == "pieces" else 0
    if len(places) > 1:
        one, two = places[first], places[first + 1]
        chunks[one], chunks[two] = chunks[two], chunks[one]
    return chunks


@fault(
    "stream.cumulative",
    Stage.CHUNKS,
    WORDS,
    modes=STREAM,
)
def cumulative(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Repeats with every piece all that came before it."""
    text = ""
    arguments: dict[int, str] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                text += delta["content"]
                delta["content"] = text
            for piece in delta.get("tool_calls") or ():
                arguments[piece["index"]] = arguments.get(piece["index"], "") + piece["function"]["arguments"]
                piece["function"]["arguments"] = arguments[piece["index"]]
    return chunks


@fault("stream.name_repeated", Stage.CHUNKS, A_CALL, modes=STREAM)
def name_repeated(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Repeats the name of the tool with every piece."""
    names = {piece["index"]: piece["function"]["name"] for _, piece in call_deltas(chunks) if "id" in piece}
    for _, piece in call_deltas(chunks):
        piece["function"]["name"] = names[piece["index"]]
    return chunks


@fault("stream.differs", Stage.BODY, A_CALL, modes=STREAM, probe="stream_twin")
def differs(body: JsonObject, _ask: Ask) -> JsonObject:
    """Decides differently when it streams: words in the arguments come out in capitals."""
    for call in calls(body):
        value = arguments(call)
        if isinstance(value, dict):
            call["function"]["arguments"] = write({k: _shouted(v) for k, v in value.items()})
    return body


def _shouted(value: object) -> object:
    return value.upper() if isinstance(value, str) and not value.islower() else value


@fault("stream.error_inside", Stage.FRAMES, A_CALL, modes=STREAM)
def error_inside(frames: list[bytes], _ask: Ask) -> list[bytes]:
    """Breaks off with an error in the middle of a stream that began well."""
    trouble = {"error": {"message": "Internal error during generation.", "type": "server_error", "code": 500}}
    return [*frames[: max(len(frames) // 2, 1)], frame(trouble)]


@fault("stream.usage_missing", Stage.CHUNKS, WORDS, modes=STREAM)
def usage_missing(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Forgets the usage it was asked for."""
    return [{k: v for k, v in chunk.items() if k != "usage"} for chunk in chunks if chunk["choices"]]


@fault("stream.usage_nonstandard", Stage.CHUNKS, WORDS, modes=STREAM)
def usage_nonstandard(chunks: list[JsonObject], ask: Ask) -> list[JsonObject]:
    """Sends usage with every chunk, or with option `choice` inside the last choice only."""
    total = chunks[-1].get("usage") or {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    kept = [chunk for chunk in chunks if chunk["choices"]]
    if ask.option == "choice":
        kept = [{k: v for k, v in chunk.items() if k != "usage"} for chunk in kept]
        kept[-1]["choices"][0]["usage"] = total
        return kept
    return [{**chunk, "usage": total} for chunk in kept]


@fault("stream.framing", Stage.FRAMES, WORDS, modes=STREAM)
def framing(frames: list[bytes], ask: Ask) -> list[bytes]:
    """Leaves out the end marker; option: ids, role, bytes or prefix for other violations of the format."""
    sloppy = {"ids": _changing_ids, "role": _repeated_role, "bytes": _torn_letters, "prefix": _bare_lines}
    change = sloppy.get(ask.option)
    return change(frames) if change else [one for one in frames if one != DONE]


def _changing_ids(frames: list[bytes]) -> list[bytes]:
    return [one.replace(b'"id":"chatcmpl-', b'"id":"chatcmpl-%d' % place) for place, one in enumerate(frames)]


def _repeated_role(frames: list[bytes]) -> list[bytes]:
    return [one.replace(b'"delta":{"content"', b'"delta":{"role":"assistant","content"') for one in frames]


def _torn_letters(frames: list[bytes]) -> list[bytes]:
    return [frames[0], frames[1].replace(b'"content":"', b'"content":"\xc3'), *frames[2:]]


def _bare_lines(frames: list[bytes]) -> list[bytes]:
    return [*frames[:1], *(one.removeprefix(b"data: ") for one in frames[1:2]), *frames[2:]]


@fault("stream.one_piece", Stage.CHUNKS, A_CALL, modes=STREAM)
def one_piece(chunks: list[JsonObject], _ask: Ask) -> list[JsonObject]:
    """Sends every call whole, in one chunk."""
    whole: dict[int, JsonObject] = {}
    for _, piece in call_deltas(chunks):
        if piece["index"] in whole:
            whole[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
        else:
            whole[piece["index"]] = copy.deepcopy(piece)
    if not whole:
        return chunks
    carriers = {place for place, _ in call_deltas(chunks)}
    head = copy.deepcopy(chunks[min(carriers)])
    head["choices"][0]["delta"] = {"tool_calls": list(whole.values())}
    kept = [chunk for place, chunk in enumerate(chunks) if place not in carriers]
    end = next(place for place, chunk in enumerate(kept) if is_last(chunk))
    return [*kept[:end], head, *kept[end:]]
