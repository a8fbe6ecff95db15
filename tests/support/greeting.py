"""A scripted model for the two-turn greeting that calls and answers exactly so many times of fifty."""

from __future__ import annotations

import json
import threading
from typing import Any

from support.scripted import Answer, Received, Script, completion

MODEL = "scripted"


def call(arguments: str, *, finish: str = "tool_calls") -> Answer:
    """A call of hello_world."""
    function = {"name": "hello_world", "arguments": arguments}
    message = {"role": "assistant", "content": None}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": {**message, "tool_calls": calls}, "finish_reason": finish}
    return Answer({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


def right_call(received: Received, **more: Any) -> Answer:
    """The call a faithful model makes, read from the prompt."""
    words = received.json["messages"][0]["content"].split()
    name, language = words[words.index("named") + 1], words[words.index("in") + 1].rstrip(".")
    return call(json.dumps({"name": name, "language": language}), **more)


def second_turn(received: Received) -> bool:
    return any(message["role"] == "tool" for message in received.json["messages"])


def greeting_of(received: Received) -> str:
    return str(json.loads(received.json["messages"][-1]["content"])["greeting"])


def greeter(calls: int, handled: int) -> Script:
    """The first so many first turns call, the first so many second turns use the result."""
    counts = {"calls": 0, "handled": 0}
    lock = threading.Lock()

    def within(name: str, limit: int) -> bool:
        with lock:
            counts[name] += 1
            return counts[name] <= limit

    def respond(received: Received) -> Answer:
        if received.method == "GET":
            return Answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        if second_turn(received):
            return completion(greeting_of(received) if within("handled", handled) else "Done.")
        return right_call(received) if within("calls", calls) else completion("Hello there.")

    return respond
