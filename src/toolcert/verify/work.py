"""How a row is asked and judged."""

from __future__ import annotations

import asyncio

import msgspec

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange
from toolcert.core.records import Record
from toolcert.core.requests import Request, RequestKind
from toolcert.engine.plan import OnAttempt, Session
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
        request = Request(body=case.body)
        ask = self._ask_raw if self._raw else _ask
        exchange = await ask(request, session, on_attempt)
        await asyncio.sleep(0)  # whoever waits for the place at the endpoint goes first; judging can wait
        return self._judge.judge(row, exchange)

    async def _ask_raw(self, request: Request, session: Session, on_attempt: OnAttempt) -> Exchange:
        """Send the rendered prompt; the exchange keeps the row as the request, for it is judged by its tools."""
        rendered = completion_request(request.body, self._adapter)
        exchange = await session.ask(rendered, on_attempt=on_attempt)
        asked = Request(body=request.body, kind=RequestKind.COMPLETIONS)
        return msgspec.structs.replace(exchange, request=asked, sent=exchange.sent or rendered.body)


async def _ask(request: Request, session: Session, on_attempt: OnAttempt) -> Exchange:
    return await session.ask(request, on_attempt=on_attempt)
