"""The conversation so far: what is asked now, what was called, what came back, and its clauses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Self, TypeAlias

import msgspec

from toolcert.core.values import JsonObject, Value

Span: TypeAlias = tuple[int, int]

_QUOTED = re.compile(r'"([^"\n]*)"|“([^”\n]*)”|`([^`\n]*)`|(?<!\w)\'([^\'\n]+)\'(?!\w)')
_WORD = re.compile(r"[^\W_]+")
_CLAUSE_END = re.compile(
    r"\n+"
    r"|(?<=[.!?;])[\"'”]?\s+(?=[A-Z0-9\"“'`(]|also\b|then\b)"
    r"|;\s+|[。！？；]"
    r"|,?\s+(?:and\s+)?(?:then|afterwards|after that|finally),?\s+(?=\w)",
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_FOREIGN = re.compile(r"[\u0370-\u1fff\u2e80-\uffef]")
_decoder = json.JSONDecoder()


class Clause(Value):
    """A piece of the prompt that asks for one thing."""

    text: str
    bullet: bool = False


class Literal(Value):
    """A JSON value written out in the prompt."""

    start: int
    end: int
    value: Any


def quoted(text: str) -> list[tuple[Span, str]]:
    """Quoted or backticked strings with their place, quotes included."""
    return [(match.span(), match[match.lastindex or 0]) for match in _QUOTED.finditer(text)]


def literals(text: str) -> list[Literal]:
    """JSON objects and arrays written in the text, outermost only."""
    found: list[Literal] = []
    position = _next_opening(text, 0)
    while position >= 0:
        try:
            value, end = _decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            found.append(Literal(start=position, end=end, value=value))
        position = _next_opening(text, end)
    return found


def _next_opening(text: str, start: int) -> int:
    places = [place for place in (text.find("{", start), text.find("[", start)) if place >= 0]
    return min(places, default=-1)


def protected(text: str) -> list[Span]:
    """Stretches that no splitting may cut: JSON values and quoted strings."""
    spans = [(literal.start, literal.end) for literal in literals(text)]
    spans += [span for span, _ in quoted(text) if not inside(span[0], spans)]
    return spans


def inside(position: int, spans: list[Span]) -> bool:
    """Whether the position lies within one of the stretches."""
    return any(start < position < end or start == position for start, end in spans)


def overlaps(span: Span, spans: list[Span]) -> bool:
    """Whether the stretch shares a character with one of the others."""
    return any(span[0] < end and start < span[1] for start, end in spans)


def clauses(text: str) -> list[Clause]:
    """The text cut at line ends, sentence ends and words like "then"."""
    return [clause for piece in _pieces(text) if (clause := _as_clause(piece)).text]


def _pieces(text: str) -> Iterator[str]:
    kept = protected(text)
    start = 0
    for match in _CLAUSE_END.finditer(text):
        if not inside(match.start(), kept):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _as_clause(piece: str) -> Clause:
    marker = _BULLET.match(piece)
    return Clause(text=piece[marker.end() if marker else 0 :].strip(), bullet=marker is not None)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Lower-case words; `get_weather` and `getWeather` are two each."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))


def stem(word: str) -> str:
    """A crude stem, so that "greeting" meets "greet" and "cities" does not need to meet "city"."""
    return word[:5] if len(word) > 5 else word.removesuffix("s")


def latin(text: str) -> bool:
    """Whether most letters are of the Latin script, where words can be told apart."""
    foreign = len(_FOREIGN.findall(text))
    return not foreign or len(_LATIN.findall(text)) >= foreign


class Done(Value):
    """A call of an earlier turn and what its tool answered."""

    name: str
    arguments: JsonObject
    result: str | None = None

    @property
    def data(self) -> Any:
        """The result as JSON, or None where it is plain text."""
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


def as_json(text: str) -> Any:
    """The JSON value of a text that is one, otherwise None; numbers keep their spelling."""
    if not text[:1] or text.lstrip()[:1] not in '{["-0123456789tfn':
        return None
    try:
        return json.loads(text, parse_float=Spelled)
    except ValueError:
        return None


class Spelled(float):
    """A number that remembers how it was written, so that 21.50 is not reported as 21.5."""

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.spelling = text
        return number

    spelling: str

    def __str__(self) -> str:
        return self.spelling


def text_of(content: Any) -> str:
    """The words of a message's content, a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def read_dialogue(messages: list[JsonObject]) -> Dialogue:
    """Sort the messages into what is asked now and what was done."""
    last_user = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    after, before = messages[last_user + 1 :], messages[: last_user + 1]
    pending = [text_of(message.get("content")) for message in _pending(before)]
    return Dialogue(
        task="\n".join(pending),
        latest=pending[-1] if pending else "",
        system="\n".join(text_of(m.get("content")) for m in messages if m.get("role") in ("system", "developer")),
        done=_done(after),
        earlier=_done(before),
    )


def _pending(messages: list[JsonObject]) -> list[JsonObject]:
    """The last user turn, and those before it that were only answered with a question."""
    turns: list[JsonObject] = []
    for message in reversed(messages):
        role = message.get("role")
        if role == "user":
            turns.append(message)
        elif role == "tool" or (role == "assistant" and not _asks_back(message)):
            break
    return turns[::-1]


def _asks_back(message: JsonObject) -> bool:
    text = text_of(message.get("content"))
    return not message.get("tool_calls") and ("?" in text or "？" in text or not latin(text))


def _done(messages: list[JsonObject]) -> tuple[Done, ...]:
    results = {
        message.get("tool_call_id"): text_of(message.get("content"))
        for message in messages
        if message.get("role") == "tool"
    }
    calls = [call for message in messages for call in message.get("tool_calls") or () if isinstance(call, dict)]
    return tuple(_one_done(call, results.get(call.get("id"))) for call in calls)


def _one_done(call: JsonObject, result: str | None) -> Done:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return Done(name=str(function.get("name", "")), arguments=_arguments(function.get("arguments")), result=result)


def _arguments(written: Any) -> JsonObject:
    """Arguments of an earlier call; malformed ones of a careless client are read as none."""
    try:
        value = msgspec.json.decode(written) if isinstance(written, str) else written
    except msgspec.DecodeError:
        return {}
    return value if isinstance(value, dict) else {}
