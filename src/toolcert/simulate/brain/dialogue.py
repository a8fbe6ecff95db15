"""The conversation so far, and how its text is cut into clauses, quoted strings, JSON values and words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from toolcert.core.values import JsonObject, Value

QUOTED = r'"([^"\n]*)"|“([^”\n]*)”|`([^`\n]*)`|(?<!\w)\'([^\'\n]+)\'(?!\w)'
_QUOTED = re.compile(QUOTED)
_CLAUSE_END = re.compile(
    r"\n+"
    r"|(?<=[.!?;])[\"'”]?\s+(?=[A-Z0-9\"“'`(]|also\b|then\b)"
    r"|;\s+|[。！？；]"
    r"|,?\s+(?:and\s+)?(?:then|afterwards|after that|finally),?\s+(?=\w)",
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_FOREIGN = re.compile(r"[\u0370-\u1fff\u2e80-\uffef]")
_OPENING = re.compile(r"[{\[]")
_decoder = json.JSONDecoder()


class Found(NamedTuple):
    """A value and where in the text it stands."""

    value: Any
    start: int = 0
    end: int = 0


def quoted(text: str) -> list[Found]:
    """Quoted or backticked strings; their place includes the quotes."""
    return [Found(match[match.lastindex or 0], match.start(), match.end()) for match in _QUOTED.finditer(text)]


def literals(text: str) -> list[Found]:
    """JSON objects and arrays written in the text, outermost only."""
    found: list[Found] = []
    opening = _OPENING.search(text)
    while opening:
        try:
            value, end = _decoder.raw_decode(text, opening.start())
            found.append(Found(value, opening.start(), end))
        except ValueError:
            end = opening.end()
        opening = _OPENING.search(text, end)
    return found


def objects(text: str) -> list[JsonObject]:
    """JSON objects written in the text."""
    return [one.value for one in literals(text) if isinstance(one.value, dict)]


def cuts(text: str, joint: re.Pattern[str]) -> list[re.Match[str]]:
    """Where the pattern matches outside quoted strings and JSON values, which must stay whole."""
    kept = [*literals(text), *quoted(text)]
    return [m for m in joint.finditer(text) if not any(one.start <= m.start() < one.end for one in kept)]


def split(text: str, joint: re.Pattern[str]) -> list[str]:
    """The text between the cuts."""
    pieces, start = [], 0
    for cut in cuts(text, joint):
        pieces.append(text[start : cut.start()])
        start = cut.end()
    return [*pieces, text[start:]]


def clauses(text: str) -> list[str]:
    """The text cut at line ends, sentence ends and words like "then", without the marks of a list."""
    pieces = (_BULLET.sub("", piece).strip() for piece in split(text, _CLAUSE_END))
    return [piece for piece in pieces if piece]


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Lower-case words; `get_weather` and `getWeather` are two each."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))


def latin(text: str) -> bool:
    """Whether most letters are Latin; only then do spaces separate words."""
    foreign = len(_FOREIGN.findall(text))
    return not foreign or len(_LATIN.findall(text)) >= foreign


class Done(Value):
    """A call of an earlier turn and what its tool answered."""

    name: str
    arguments: JsonObject
    result: str | None = None

    @property
    def data(self) -> Any:
        """The result as JSON, or None if it is plain text."""
        return as_json(self.result or "")


class Dialogue(Value):
    """What a model needs to know of the conversation."""

    task: str
    """What the user asks now, with the turns that led to it."""
    latest: str = ""
    """The last user turn alone."""
    system: str = ""
    done: tuple[Done, ...] = ()
    """Calls made since the user last spoke."""
    earlier: tuple[Done, ...] = ()


def as_json(text: str, read_float: Callable[[str], Any] = float) -> Any:
    """The JSON value of a text, or None if it is not JSON."""
    try:
        return json.loads(text, parse_float=read_float)
    except ValueError:
        return None


def text_of(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def read_dialogue(messages: list[JsonObject]) -> Dialogue:
    """Sort the messages into what is asked now and what was done."""
    last_user = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    before, after = messages[: last_user + 1], messages[last_user + 1 :]
    asked = _asked_now(before)
    return Dialogue(
        task="\n".join(asked),
        latest=asked[-1] if asked else "",
        system="\n".join(text_of(m.get("content")) for m in messages if m.get("role") in ("system", "developer")),
        done=_done(after),
        earlier=_done(before),
    )


def _asked_now(messages: list[JsonObject]) -> list[str]:
    """The last user turn, and those before it that the model only answered with a question."""
    turns: list[str] = []
    for message in reversed(messages):
        role, text = message.get("role"), text_of(message.get("content"))
        if role == "user":
            turns.append(text)
        elif role == "tool" or (role == "assistant" and (message.get("tool_calls") or not _asks_back(text))):
            break
    return turns[::-1]


def _asks_back(text: str) -> bool:
    return "?" in text or not latin(text)


def _done(messages: list[JsonObject]) -> tuple[Done, ...]:
    results = {m.get("tool_call_id"): text_of(m.get("content")) for m in messages if m.get("role") == "tool"}
    calls = [call for message in messages for call in message.get("tool_calls") or () if isinstance(call, dict)]
    functions = [(call.get("id"), call["function"]) for call in calls if isinstance(call.get("function"), dict)]
    return tuple(
        Done(name=str(one.get("name", "")), arguments=_arguments(one.get("arguments")), result=results.get(call_id))
        for call_id, one in functions
    )


def _arguments(written: Any) -> JsonObject:
    """Arguments of an earlier call; what a careless client garbled counts as none."""
    try:
        value = msgspec.json.decode(written) if isinstance(written, str) else written
    except msgspec.DecodeError:
        return {}
    return value if isinstance(value, dict) else {}
