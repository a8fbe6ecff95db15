"""A faithful vendor in the many legal forms that real ones have.

Each changes how an answer is written, and never what it says.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from support.scripted import Answer, Received, refusal
from toolcert.core.values import JsonObject
from toolcert.simulate.chat_completion import Identity
from toolcert.simulate.faults.base import STREAM, Stage, Switch, call_deltas, calls, each_arguments, is_last, message
from toolcert.simulate.responder import respond
from toolcert.simulate.traffic import Ask, Events, Raw

Chunks = list[JsonObject]


class Variant(NamedTuple):
    """How one vendor writes its answers."""

    body: Callable[[JsonObject], Any] | None = None
    """Changes the whole answer, before it may be streamed."""
    chunks: Callable[[Chunks], Chunks] | None = None
    frames: Callable[[list[bytes]], list[bytes]] | None = None
    plain: Callable[[bytes], bytes] | None = None
    """Changes the bytes of an answer in one piece."""
    headers: dict[str, str] = {}
    slices: int = 0
    """The answer is sent so many bytes at a time."""


def answer(variant: Variant, received: Received, identity: Identity) -> Answer:
    """The faithful vendor's answer in the form of the variant."""
    if received.method == "GET":
        return refusal(404, "not found")
    switches = []
    for stage, change in ((Stage.BODY, variant.body), (Stage.CHUNKS, variant.chunks), (Stage.FRAMES, variant.frames)):
        if change is not None:
            modes = {} if stage is Stage.BODY else {"modes": STREAM}
            switches.append(Switch(stage=stage, spoil=lambda data, _ask, change=change: change(data), **modes))
    given = respond(Ask(received.json), tuple(switches), identity)
    if isinstance(given, Events):
        headers = {"Content-Type": "text/event-stream", **variant.headers}
        return Answer(b"".join(given.frames), headers=headers, slices=variant.slices)
    assert isinstance(given, Raw)
    content = given.content if variant.plain is None else variant.plain(given.content)
    headers = {name: value for name, value in variant.headers.items() if "event-stream" not in value}
    return Answer(content, given.status, headers, slices=variant.slices)


def _set(**fields: Any) -> Callable[[JsonObject], JsonObject]:
    return lambda body: {**body, **fields}


def _named(write: Callable[[str], str]) -> Callable[[JsonObject], JsonObject]:
    return lambda body: {**body, "model": write(body["model"])}


def _without(*names: str) -> Callable[[JsonObject], JsonObject]:
    return lambda body: {name: value for name, value in body.items() if name not in names}


def _message(**fields: Any) -> Callable[[JsonObject], JsonObject]:
    def change(body: JsonObject) -> JsonObject:
        message(body).update(fields)
        return body

    return change


def _choice(**fields: Any) -> Callable[[JsonObject], JsonObject]:
    def change(body: JsonObject) -> JsonObject:
        body["choices"][0].update(fields)
        return body

    return change


def _beside_calls(text: str | None, *, absent: bool = False) -> Callable[[JsonObject], JsonObject]:
    def change(body: JsonObject) -> JsonObject:
        if calls(body):
            message(body)["content"] = text
            if absent:
                del message(body)["content"]
        return body

    return change


def _words(write: Callable[[str], str]) -> Callable[[JsonObject], JsonObject]:
    def change(body: JsonObject) -> JsonObject:
        if text := message(body).get("content"):
            message(body)["content"] = write(text)
        return body

    return change


def _without_refusal(body: JsonObject) -> JsonObject:
    message(body).pop("refusal", None)
    return body


def _without_logprobs(body: JsonObject) -> JsonObject:
    del body["choices"][0]["logprobs"]
    return body


def _ids(make: Callable[[str, int], str]) -> Callable[[JsonObject], JsonObject]:
    def change(body: JsonObject) -> JsonObject:
        for place, call in enumerate(calls(body)):
            call["id"] = make(call["id"], place)
        return body

    return change


def _arguments(write: Callable[[Any], str]) -> Callable[[JsonObject], JsonObject]:
    return lambda body: each_arguments(body, lambda text: write(json.loads(text)) if text.endswith("}") else text)


def _numbered(body: JsonObject) -> JsonObject:
    for place, call in enumerate(calls(body)):
        call["index"] = place
    return body


def _as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_floats(one) for name, one in value.items()}
    return float(value) if type(value) is int else value


def _reversed(value: Any) -> str:
    return json.dumps(dict(reversed(value.items())), ensure_ascii=False)


def _usage(**fields: Any) -> Callable[[JsonObject], JsonObject]:
    def change(body: JsonObject) -> JsonObject:
        kept = {name: body["usage"][name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
        return {**body, "usage": kept | fields}

    return change


def _reasoned_beside(body: JsonObject) -> JsonObject:
    """Reasoning tokens that are counted beside the completion."""
    usage = body["usage"]
    details = {"reasoning_tokens": 20}
    return {
        **body,
        "usage": {**usage, "total_tokens": usage["total_tokens"] + 20, "completion_tokens_details": details},
    }


def _deltas(change: Callable[[JsonObject], JsonObject]) -> Callable[[Chunks], Chunks]:
    def write(chunks: Chunks) -> Chunks:
        for chunk in chunks:
            for choice in chunk["choices"]:
                choice["delta"] = change(choice["delta"])
        return chunks

    return write


def _choices(change: Callable[[JsonObject], JsonObject]) -> Callable[[Chunks], Chunks]:
    return lambda chunks: [{**chunk, "choices": [change(one) for one in chunk["choices"]]} for chunk in chunks]


def _interleaved(chunks: Chunks) -> Chunks:
    """The pieces of several calls in turn, each call's own in their order."""
    places = [place for place, _ in call_deltas(chunks)]
    by_call: dict[int, Chunks] = {}
    for place, piece in call_deltas(chunks):
        by_call.setdefault(piece["index"], []).append(chunks[place])
    queues, mixed = [list(one) for one in by_call.values()], []
    heads = [queue.pop(0) for queue in queues]
    while any(queues):
        mixed += [queue.pop(0) for queue in queues if queue]
    for place, chunk in zip(places, [*heads, *mixed], strict=True):
        chunks[place] = chunk
    return chunks


def _letters(chunks: Chunks) -> Chunks:
    """Every piece of text one letter at a time."""
    written: Chunks = []
    for chunk in chunks:
        text = chunk["choices"][0]["delta"].get("content") if chunk["choices"] else None
        if not text:
            written.append(chunk)
        for letter in text or "":
            one = copy.deepcopy(chunk)
            one["choices"][0]["delta"]["content"] = letter
            written.append(one)
    return written


def _whole_calls(chunks: Chunks) -> Chunks:
    whole: dict[int, JsonObject] = {}
    for _, piece in call_deltas(chunks):
        if piece["index"] in whole:
            whole[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
            piece["function"]["arguments"] = None
        else:
            whole[piece["index"]] = piece
    return [chunk for chunk in chunks if not any(p["function"]["arguments"] is None for _, p in call_deltas([chunk]))]


def _repeated_head(field: str) -> Callable[[Chunks], Chunks]:
    """The id or type of a call with each of its pieces."""

    def write(chunks: Chunks) -> Chunks:
        heads = {piece["index"]: piece[field] for _, piece in call_deltas(chunks) if field in piece}
        for _, piece in call_deltas(chunks):
            piece[field] = heads[piece["index"]]
        return chunks

    return write


def _empty_deltas(chunks: Chunks) -> Chunks:
    first = chunks[0]
    blank = {**first, "choices": [{"index": 0, "delta": {}, "finish_reason": None}]}
    return [first, blank, *(one for chunk in chunks[1:-2] for one in (chunk, blank)), *chunks[-2:]]


def _finish_with_last(chunks: Chunks) -> Chunks:
    """The finish reason in the chunk that brings the last piece."""
    end = next(place for place, chunk in enumerate(chunks) if is_last(chunk))
    chunks[end - 1]["choices"][0]["finish_reason"] = chunks[end]["choices"][0]["finish_reason"]
    return [*chunks[:end], *chunks[end + 1 :]]


def _usage_with_finish(chunks: Chunks) -> Chunks:
    """The usage in the chunk with the finish reason, and no chunk of its own."""
    *kept, last = chunks
    kept[-1]["usage"] = last["usage"]
    return kept


def _usage_everywhere(chunks: Chunks) -> Chunks:
    return [{**chunk, "usage": chunks[-1]["usage"]} for chunk in chunks]


def _azure_opening(chunks: Chunks) -> Chunks:
    opening = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": []}
    return [opening, *chunks]


def _each(write: Callable[[bytes], bytes]) -> Callable[[list[bytes]], list[bytes]]:
    return lambda frames: [write(frame) for frame in frames]


def _two_lines(frame: bytes) -> bytes:
    """Data in two lines, which a reader joins with a line break: white space between two fields."""
    return frame.replace(b',"object"', b',\ndata: "object"', 1)


def _ascii(frame: bytes) -> bytes:
    if frame.startswith(b"data: {"):
        return b"data: " + json.dumps(json.loads(frame[6:])).encode() + b"\n\n"
    return frame


REASONING = "The user wants the weather, so I should call the tool."
VARIANTS: dict[str, Variant] = {
    "as it is": Variant(),
    # Who answers.
    "a dated model": Variant(_named(lambda name: f"{name}-2025-08-07")),
    "a compact date": Variant(_named(lambda name: f"{name}-20250807")),
    "a provider before the model": Variant(_named(lambda name: f"vendor/{name}")),
    "a model in capitals": Variant(_named(str.upper)),
    "a mode behind the model": Variant(_named(lambda name: f"{name}-instruct")),
    "no fingerprint": Variant(_without("system_fingerprint")),
    "a null fingerprint": Variant(_set(system_fingerprint=None)),
    "a service tier": Variant(_set(service_tier="default")),
    "a provider": Variant(_set(provider="Somewhere")),
    "fields of its own": Variant(_set(x_vendor={"id": "req_1"}, citations=[])),
    "time as zero": Variant(_set(created=0)),
    # The message.
    "empty content beside calls": Variant(_beside_calls("")),
    "no content beside calls": Variant(_beside_calls(None, absent=True)),
    "a preamble before calls": Variant(_beside_calls("Let me look that up for you.")),
    "a preamble of several lines": Variant(_beside_calls("Sure!\n\n1. I look it up.\n2. I tell you.\n")),
    "line breaks beside calls": Variant(_beside_calls("\n\n")),
    "no refusal": Variant(_without_refusal),
    "annotations": Variant(_message(annotations=[])),
    "no audio": Variant(_message(audio=None)),
    "an empty function_call": Variant(_message(function_call=None)),
    "reasoning_content": Variant(_message(reasoning_content=REASONING)),
    "reasoning": Variant(_message(reasoning=REASONING)),
    "null reasoning": Variant(_message(reasoning_content=None)),
    "empty reasoning": Variant(_message(reasoning_content="")),
    "words after the answer": Variant(_words(lambda text: f"{text}\n\nAnything else I can do?")),
    "words before the answer": Variant(_words(lambda text: f"Here is what I found:\n\n{text}")),
    "an answer in bold": Variant(_words(lambda text: f"**{text}**")),
    "a line break at the end": Variant(_words(lambda text: f"{text}\n")),
    # The choice and the usage.
    "no logprobs": Variant(_without_logprobs),
    "logprobs": Variant(_choice(logprobs={"content": [], "refusal": None})),
    "a native finish reason": Variant(_choice(native_finish_reason="STOP")),
    "filter results": Variant(_choice(content_filter_results={"hate": {"filtered": False, "severity": "safe"}})),
    "bare usage": Variant(_usage()),
    "usage with costs": Variant(_usage(cost=0.0001, queue_time=0.02)),
    "usage with null details": Variant(_usage(prompt_tokens_details=None)),
    "reasoning counted beside": Variant(_reasoned_beside),
    # Ids.
    "ids as toolu_": Variant(_ids(lambda given, _: f"toolu_01{given[-22:]}")),
    "ids as chatcmpl-tool-": Variant(_ids(lambda given, _: f"chatcmpl-tool-{given[-24:].lower()}")),
    "ids of nine letters": Variant(_ids(lambda given, _: given[-9:])),
    "ids as uuids": Variant(_ids(lambda given, _: f"{given[-8:]}-{given[5:9]}-4000-8000-{given[-12:]}".lower())),
    "ids with a number": Variant(_ids(lambda given, place: f"{given[-12:]}:{place}")),
    "long ids": Variant(_ids(lambda given, _: f"call_{given[-20:] * 3}")),
    "an index in plain calls": Variant(_numbered),
    # Arguments.
    "compact arguments": Variant(
        _arguments(lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False))
    ),
    "arguments over several lines": Variant(_arguments(lambda value: json.dumps(value, indent=2, ensure_ascii=False))),
    "arguments in another order": Variant(_arguments(_reversed)),
    "escaped arguments": Variant(_arguments(json.dumps)),
    "white space around arguments": Variant(_arguments(lambda value: f" {json.dumps(value, ensure_ascii=False)}\n")),
    "whole numbers as 1.0": Variant(_arguments(lambda value: json.dumps(_as_floats(value), ensure_ascii=False))),
    # Bytes.
    "escaped bodies": Variant(plain=lambda body: json.dumps(json.loads(body)).encode(), frames=_each(_ascii)),
    "pretty bodies": Variant(plain=lambda body: json.dumps(json.loads(body), indent=2, ensure_ascii=False).encode()),
    "white space before bodies": Variant(plain=lambda body: b"\n\n  " + body + b"\n"),
    "other key order": Variant(plain=lambda body: json.dumps(dict(reversed(json.loads(body).items()))).encode()),
    "gzip": Variant(
        plain=gzip.compress, headers={"Content-Encoding": "gzip"}, frames=lambda f: [gzip.compress(b"".join(f))]
    ),
    "a few bytes at a time": Variant(slices=7),
    "a charset": Variant(headers={"Content-Type": "text/event-stream; charset=utf-8"}),
    # Events.
    "CRLF": Variant(frames=_each(lambda frame: frame.replace(b"\n", b"\r\n"))),
    "comments": Variant(frames=lambda frames: [b": PROCESSING\n\n", *(b": keep-alive\n\n" + one for one in frames)]),
    "comments inside events": Variant(frames=_each(lambda frame: b": ping\n" + frame)),
    "named events": Variant(frames=_each(lambda frame: b"event: message\n" + frame)),
    "event ids and retry": Variant(frames=_each(lambda frame: b"id: 7\nretry: 3000\n" + frame)),
    "no space after data": Variant(frames=_each(lambda frame: frame.replace(b"data: ", b"data:", 1))),
    "more empty lines": Variant(frames=_each(lambda frame: frame + b"\n\n")),
    "data over two lines": Variant(frames=_each(_two_lines)),
    # Chunks.
    "the role in each chunk": Variant(chunks=_deltas(lambda delta: {"role": "assistant", **delta})),
    "the role alone first": Variant(chunks=lambda c: [_role_only(c[0]), *c[1:]]),
    "null content in each delta": Variant(chunks=_deltas(lambda delta: {"content": None, **delta})),
    "empty deltas": Variant(chunks=_empty_deltas),
    "no finish_reason before the last": Variant(
        chunks=_choices(lambda one: {k: v for k, v in one.items() if v is not None})
    ),
    "calls interleaved": Variant(chunks=_interleaved),
    "calls in one piece": Variant(chunks=_whole_calls),
    "letter by letter": Variant(chunks=_letters),
    "the id with each piece": Variant(chunks=_repeated_head("id")),
    "the type with each piece": Variant(chunks=_repeated_head("type")),
    "the finish reason with the last piece": Variant(chunks=_finish_with_last),
    "usage with the finish reason": Variant(chunks=_usage_with_finish),
    "usage in every chunk": Variant(chunks=_usage_everywhere),
    "an opening chunk without choices": Variant(chunks=_azure_opening),
    "padding": Variant(chunks=lambda chunks: [{**chunk, "obfuscation": "x7Tq"} for chunk in chunks]),
}


def _role_only(chunk: JsonObject) -> JsonObject:
    one = copy.deepcopy(chunk)
    one["choices"][0]["delta"] = {"role": "assistant"}
    return one
