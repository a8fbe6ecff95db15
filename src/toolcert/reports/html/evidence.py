"""Evidence as text for a page: what was asked, what came, and who said what, cut if long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.records import Record
from toolcert.core.requests import function_name
from toolcert.core.values import JsonObject, Value
from toolcert.protocol.arrivals import pace_of
from toolcert.protocol.reply import read_reply
from toolcert.protocol.unicode import NOT_JSON, well_formed_throughout
from toolcert.reports.display_text import pace_text, plural, shorten, visible, visible_lines
from toolcert.reports.html.charts.times import pace_strip

LONGEST = 3000
"""Characters of a request or an answer."""
LONGEST_MESSAGE = 1200
MOST_MESSAGES = 8
"""Messages of one request that are shown: the first two and the last."""
MOST_TURNS = 6
SHORTEST_PAUSE = 0.05
"""Seconds; the pace of a stream without a longer pause is not worth the room."""


def page_size(*texts: str) -> int:
    """Bytes that texts take on a page."""
    return sum(len(text.encode("utf-8", "replace")) + 4 * sum(map(text.count, "<>&")) for text in texts)


def pretty(value: Any, longest: int = LONGEST) -> str:
    """JSON for people, cut if long."""
    text = msgspec.json.format(msgspec.json.encode(well_formed_throughout(value)), indent=2).decode("utf-8", "replace")
    return cut_text(text, longest)


def cut_text(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text made visible, and how much follows; fast on texts of any length."""
    shown = visible_lines(text[:longest])
    if len(text) <= longest:
        return shown
    return f"{shown}\n… {plural(len(text) - longest, 'character')} more"


def answer_text(exchange: Exchange, kept: Reply | None) -> str:
    """What came: as JSON, assembled if it was a stream, or the fault."""
    if exchange.fault is not None:
        status = "" if exchange.fault.status is None else f"HTTP {exchange.fault.status}: "
        return cut_text(f"{status}{exchange.fault.message}")
    if exchange.cut is not None:
        return cut_text(exchange.payload[:2000].decode("utf-8", "replace"))
    if not exchange.event_stream and exchange.payload:
        try:
            return pretty(msgspec.json.decode(exchange.payload))
        except NOT_JSON:
            return cut_text(exchange.payload.decode("utf-8", "replace"))
    return pretty(_assembled(kept or read_reply(exchange)))


def _assembled(reply: Reply) -> JsonObject:
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
    shown = {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "tool_calls": calls or None,
        "finish_reason": reply.finish_reason,
    }
    return {name: value for name, value in shown.items() if value is not None}


class PaceShown(Value):
    """When the events of a stream came."""

    words: str
    drawing: Markup


def pace_shown(exchange: Exchange) -> PaceShown | None:
    """The pace of a stream in words and as a drawing; None if it is not known or not interesting."""
    pace = pace_of(exchange)
    if pace is None or pace.longest < SHORTEST_PAUSE:
        return None
    words = pace_text(pace)
    return PaceShown(words=words, drawing=pace_strip(pace.times, pace.token, pace.call, words))


def size_of(pace: PaceShown | None) -> int:
    """Bytes that it takes on a page."""
    return 0 if pace is None else len(pace.words) + len(pace.drawing)


class Said(Value):
    """One message of a conversation."""

    who: str
    """`system`, `user`, `assistant`, `tool`, or `answer` for what came back."""
    note: str
    """What else is known: the tools that were offered, the finish reason, the time."""
    words: str
    calls: tuple[tuple[str, str], ...] = ()
    """Names and arguments."""
    pace: PaceShown | None = None

    @property
    def size(self) -> int:
        """Bytes that it takes on a page."""
        texts = (self.note, self.words, *(text for call in self.calls for text in call))
        return page_size(*texts) + 90 + size_of(self.pace)


def conversation(record: Record, replies: Sequence[Reply]) -> tuple[Said, ...]:
    """All turns of a case in order, each message once."""
    return tuple(_turns(record.detail.exchanges, replies))


def _turns(exchanges: Sequence[Exchange], replies: Sequence[Reply]) -> Iterator[Said]:
    before: list[Any] = []
    for number, exchange in enumerate(exchanges[:MOST_TURNS]):
        given = exchange.request.body.get("messages")
        messages = given if isinstance(given, list) else []
        again = bool(before) and messages[: len(before)] == before
        fresh = messages[len(before) :] if again else messages
        if again and fresh and _role(fresh[0]) == "assistant":  # the answer above, sent back
            fresh = fresh[1:]
        yield from _messages(fresh, "" if again else _asked(exchange))
        yield _answer(exchange, replies[number] if number < len(replies) else None)
        before = messages
    if len(exchanges) > MOST_TURNS:
        yield Said(who="answer", note="", words=plural(len(exchanges) - MOST_TURNS, "more request"))


def _messages(messages: Sequence[Any], note: str) -> Iterator[Said]:
    shown = list(messages)
    if len(shown) > MOST_MESSAGES:
        left_out = plural(len(shown) - MOST_MESSAGES, "message")
        shown = [*shown[:2], {"role": "user", "content": f"… {left_out} left out"}, *shown[2 - MOST_MESSAGES :]]
    for number, message in enumerate(shown):
        yield _message(message, "" if number else note)


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""


def _message(message: Any, note: str) -> Said:
    role = _role(message)
    if not isinstance(message, dict) or role not in ("system", "user", "assistant", "tool"):
        return Said(who="user", note=note, words=pretty(message, LONGEST_MESSAGE))
    calls = message.get("tool_calls")
    named = [call["function"] for call in calls if _has_function(call)] if isinstance(calls, list) else []
    return Said(
        who=role,
        note=note,
        words=_words(message.get("content")),
        calls=tuple(_call(one.get("name"), one.get("arguments")) for one in named),
    )


def _has_function(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), dict)


def _words(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return cut_text(content, LONGEST_MESSAGE)
    return pretty(content, LONGEST_MESSAGE)


def _call(name: Any, arguments: Any) -> tuple[str, str]:
    text = arguments if isinstance(arguments, str) else pretty(arguments, LONGEST_MESSAGE)
    try:
        text = pretty(msgspec.json.decode(text), LONGEST_MESSAGE)
    except NOT_JSON:
        text = cut_text(text, LONGEST_MESSAGE)
    return shorten(visible(str(name)[:LONGEST_MESSAGE]), 80), text


def _asked(exchange: Exchange) -> str:
    """The tools that were offered, and how the model was to choose."""
    body = exchange.request.body
    tools = body.get("tools")
    names = [str(function_name(one)) for one in tools] if isinstance(tools, list) else []
    parts = [f"offered {', '.join(names[:6])}{' …' if len(names) > 6 else ''}"] if names else []
    asked = [
        name for name in ("tool_choice", "response_format", "stream") if body.get(name) not in (None, False, "auto")
    ]
    parts += [f"{name} {_compact(body[name])}" for name in asked]
    return shorten(visible("; ".join(parts)), 240)


def _compact(value: Any) -> str:
    return msgspec.json.encode(well_formed_throughout(value))[:400].decode("utf-8", "replace").strip('"')


def _answer(exchange: Exchange, kept: Reply | None) -> Said:
    seconds = "" if exchange.seconds is None else f"{exchange.seconds:.2f} s"
    if exchange.fault is not None or exchange.cut is not None:
        return Said(who="answer", note=seconds, words=answer_text(exchange, None), pace=pace_shown(exchange))
    if kept is None and not exchange.payload:
        return Said(who="answer", note=seconds, words="The run does not keep this answer.")
    reply = kept or read_reply(exchange)
    if not reply.readable:
        return Said(who="answer", note=seconds, words=answer_text(exchange, reply))
    told = f"finish reason {reply.finish_reason}"
    note = ", ".join(part for part in (told, seconds, "" if reply.complete else "the stream was cut") if part)
    reasoning = f"(reasoning) {reply.reasoning}\n\n" if reply.reasoning else ""
    return Said(
        who="answer",
        note=visible(note),
        words=_words(f"{reasoning}{reply.content or ''}" or None),
        calls=tuple(_call(call.name, call.arguments) for call in reply.tool_calls),
        pace=pace_shown(exchange),
    )
