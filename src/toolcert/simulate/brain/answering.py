"""Answers in words: results reported, questions asked back, and plain replies."""

from __future__ import annotations

import random
import re
import zlib
from typing import Any

from toolcert.simulate.brain.arithmetic import ARITHMETIC, worked_out
from toolcert.simulate.brain.dialogue import Dialogue, Done
from toolcert.simulate.brain.filling import Filling
from toolcert.simulate.brain.text import quoted, words

_EXACTLY = re.compile(
    r"\b(?:reply|respond|answer|say|repeat|write|output)\b(?:\s+(?:with|back|only|just|exactly|the|this|word|words|text|sentence|phrase|token|code))*\s*:?\s*$",
    re.I,
)
_ONE_WORD = re.compile(
    r"\b(?:reply|respond|answer|say)\s+(?:(?:with|only|just|the|single|one)\s+)*(?P<sure>(?:exactly|word|words)\b:?\s*)*"
    r"(?P<word>[A-Z0-9][\w-]*)\b",
    re.I,
)
_COUNT = re.compile(r"\bcount(?:ing)?\s+(?:up\s+)?from\s+(\d+)\s+to\s+(\d+)", re.I)
_LONG = re.compile(
    r"\b(?:long|essay|story|detailed|\d{2,}\s+(?:words|sentences|lines)|paragraphs?|article|at length)\b", re.I
)
_FAILED = re.compile(r"^\s*(?:error|failed|failure|exception|traceback)\b", re.I)
_SUBJECTS = [
    "The harbour",
    "A quiet street",
    "Her notebook",
    "The old lamp",
    "Their journey",
    "A northern wind",
    "The garden",
    "His answer",
]
_VERBS = [
    "crossed",
    "remembered",
    "followed",
    "changed",
    "carried",
    "questioned",
    "outlived",
    "measured",
    "painted",
    "echoed",
]
_OBJECTS = [
    "the morning light",
    "a distant bell",
    "every small promise",
    "the last train",
    "an empty page",
    "the far shore",
]
_ENDS = [
    "without hurry",
    "before anyone noticed",
    "as the tide turned",
    "in spite of the rain",
    "once more",
    "like a borrowed song",
]


def answer(dialogue: Dialogue) -> str:
    """What a model says when it calls nothing."""
    if dialogue.done:
        return report(dialogue.done)
    reply = _plain(dialogue)
    if dialogue.earlier and dialogue.earlier[-1].result is not None:
        return f"{report(dialogue.earlier)}\n{reply}"
    return reply


def report(done: tuple[Done, ...]) -> str:
    """The results, one line per call, each value as the tool gave it."""
    if len(done) == 1:
        return f"Here is what I found. {_told(done[0])}"
    return "\n".join(["Here is what I found:", *(f"- {_told(one)}" for one in done)])


def _told(done: Done) -> str:
    about = ", ".join(f"{key} {value}" for key, value in done.arguments.items())
    subject = f"{done.name} ({about})" if about else done.name
    result = done.result
    if result is None or not result.strip():
        return f"{subject} returned an empty result, so there is nothing to report."
    if _FAILED.match(result) or (isinstance(done.data, dict) and done.data.get("error")):
        return f"{subject} failed with an error: {spoken(result, done.data)}"
    return f"{subject}: {spoken(result, done.data)}"


def spoken(text: str, data: Any) -> str:
    """A result in words: JSON as "key: value" with its strings unescaped, other text as it is."""
    if isinstance(data, dict):
        return ", ".join(f"{key}: {_value(value)}" for key, value in data.items())
    return _value(data) if isinstance(data, list) else text


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"({', '.join(f'{key}: {_value(inner)}' for key, inner in value.items())})"
    if isinstance(value, list):
        return ", ".join(_value(inner) for inner in value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def ask_for(filling: Filling, dialogue: Dialogue) -> str:
    """The question for a required argument that nobody gave."""
    wanted = " and ".join(" ".join(words(name)) for name in filling.missing)
    question = f"I need a little more information first: which {wanted} should I use?"
    return f"{report(dialogue.done)}\n{question}" if dialogue.done else question


def _plain(dialogue: Dialogue) -> str:
    prompt = dialogue.latest
    if exact := _exact(prompt):
        return exact
    if count := _COUNT.search(prompt):
        return ", ".join(str(number) for number in range(int(count[1]), min(int(count[2]), 5000) + 1))
    if _LONG.search(prompt):
        return _long_text(prompt)
    if (found := ARITHMETIC.search(prompt)) and (value := worked_out(found[0])):
        return f"{found[0].strip()} = {value}"
    return f"Happy to help. You said: {_excerpt(prompt)} Let me know what else you would like to know about it."


def _exact(prompt: str) -> str | None:
    for span, value in quoted(prompt):
        if _EXACTLY.search(prompt[: span[0]]):
            return value
    match = _ONE_WORD.search(prompt)
    return match["word"] if match and (match["sure"] or match["word"][:1].isupper()) else None


def _excerpt(prompt: str) -> str:
    flat = " ".join(prompt.split())
    return flat if len(flat) <= 80 else f"{flat[:77]}..."


def _long_text(prompt: str) -> str:
    """Some hundred words that never repeat themselves enough to look like a loop."""
    dice = random.Random(zlib.crc32(prompt.encode()))
    subjects = [f"{s} {v} {o} {e}." for s in _SUBJECTS for v in _VERBS for o in _OBJECTS for e in _ENDS]
    return " ".join(dice.sample(subjects, 60))
