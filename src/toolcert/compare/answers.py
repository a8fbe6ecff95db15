"""Answers read again from their files, for the rows that are shown or looked at closely."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.compare.comparison import GivenAnswer, MadeCall
from toolcert.compare.rundata import RunData
from toolcert.core.errors import InputError
from toolcert.core.exchanges import Exchange
from toolcert.core.replies import Reply
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject, Value

_SHOWN_TEXT = 4000
"""Characters of an answer kept for people; the run has the rest."""


class Given(Value):
    """One row of one run with its evidence."""

    request: JsonObject = {}
    reply: Reply | None = None
    exchange: Exchange | None = None
    error: str = ""
    """What an older verifier noted instead of an answer."""


def read_answer(run: RunData, place: int) -> Given:
    """The request and answer of a row; empty where the run kept only verdicts."""
    line = run.line(place)
    try:
        return _own(line) if run.manifest is not None else _foreign(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"{run.path}: the row at place {place + 1} cannot be read ({why}).") from error


def _own(line: bytes) -> Given:
    from toolcert.runs.encoding import decode_record, decode_replies

    exchanges = decode_record(line).detail.exchanges
    if not exchanges:
        return Given()
    exchange = exchanges[0]
    replies = decode_replies(line) if exchange.fault is None else ()
    return Given(request=exchange.request.body, reply=replies[0] if replies else None, exchange=exchange)


def _foreign(line: bytes) -> Given:
    from toolcert.compare.resultrows import SUCCESS, reply_to, whole_row

    row = whole_row(line)
    request = row.get("request")
    response = row.get("response")
    asked = request if isinstance(request, dict) else {}
    if row.get("status") == SUCCESS:
        return Given(request=asked, reply=reply_to(request, response))
    noted = (response.get("error_message") or response.get("error")) if isinstance(response, dict) else response
    return Given(request=asked, error=_text(noted) if noted else "")


def shown(given: Given) -> GivenAnswer:
    """An answer as a report shows it, judged by the rules everybody shares."""
    from toolcert.diagnose.judging import judge_calls

    reply = given.reply
    if reply is None or not reply.readable:
        return GivenAnswer(called=None)
    judged = judge_calls(Request(body=given.request), reply)
    verdicts = [call.valid for call in judged]
    return GivenAnswer(
        called=reply.called,
        text=(reply.content or "")[:_SHOWN_TEXT],
        calls=tuple(MadeCall(name=str(call.name), arguments=_text(call.arguments)) for call in reply.tool_calls),
        finish=reply.finish_reason,
        valid=None if not verdicts or None in verdicts else all(verdicts),
        buckets=tuple(bucket for call in judged for bucket in call.buckets),
    )


def last_user_message(request: JsonObject) -> str:
    """What the user said last."""
    messages = request.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return (content if isinstance(content, str) else _text(content))[:_SHOWN_TEXT]
    return ""


def offered_names(request: JsonObject) -> tuple[str, ...]:
    """The tools the row offers."""
    from toolcert.diagnose.judging import offered_tools

    return tuple(offered_tools(Request(body=request)))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:_SHOWN_TEXT]
    return msgspec.json.encode(value).decode()[:_SHOWN_TEXT]
