"""How a row is asked and judged."""

from __future__ import annotations

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
        if self._raw:
            return self._judge.judge(row, await self._ask_raw(request, session, on_attempt))
        return self._judge.judge(row, await session.ask(request, on_attempt=on_attempt))

    async def _ask_raw(self, request: Request, session: Session, on_attempt: OnAttempt) -> Exchange:
        """Send the rendered prompt; the exchange keeps the row as the request, for it is judged by its tools."""
        rendered = completion_request(request.body, self._adapter)
        exchange = await session.ask(rendered, on_attempt=on_attempt)
        asked = Request(body=request.body, kind=RequestKind.COMPLETIONS)
        return msgspec.structs.replace(exchange, request=asked, sent=exchange.sent or rendered.body)
