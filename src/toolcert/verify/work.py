"""How a row is asked and judged."""

from __future__ import annotations

import asyncio

import msgspec

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange
from toolcert.core.records import Record
from toolcert.core.requests import Request, RequestKind
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.engine.plan import OnAttempt, Session
from toolcert.verify.adapters.tokenizer import RenderError
from toolcert.verify.judging import RowJudge, refuse_row
from toolcert.verify.prepare import Shaping, adapter_of, completion_request
from toolcert.verify.row import Row


class VerifyWork:
    """Asks a row through the door its adapter wants; made from plain values, so that any process can."""

    def __init__(self, shaping: Shaping) -> None:
        self._adapter = adapter_of(shaping)
        self._raw = self._adapter.supports_raw_completions()
        self._judge = RowJudge(self._adapter)

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record:
        """The record of one row."""
        row = Row.of_case(case)
        if case.body is None:
            return refuse_row(row)
        try:
            request = self._request(case.body)
        except RenderError as error:
            return refuse_row(row, finding("dataset.not_rendered", str(error)))
        exchange = await session.ask(request, on_attempt=on_attempt)
        await asyncio.sleep(0)  # whoever waits for the place at the endpoint goes first; judging can wait
        return self._judge.judge(row, _as_asked(exchange, request, case.body) if self._raw else exchange)

    def _request(self, body: JsonObject) -> Request:
        return completion_request(body, self._adapter) if self._raw else Request(body=body)


def _as_asked(exchange: Exchange, rendered: Request, body: JsonObject) -> Exchange:
    """The exchange of a rendered prompt with the row as its request, for it is judged by the row's tools."""
    asked = Request(body=body, kind=RequestKind.COMPLETIONS)
    return msgspec.structs.replace(exchange, request=asked, sent=exchange.sent or rendered.body)
