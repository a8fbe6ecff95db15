"""Reading text: what must not be torn apart, and where one clause ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from toolcert.core.values import Value

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
