"""One row sent again: the same request, a new answer, both judged."""

from __future__ import annotations

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.manifest import Manifest
from toolcert.core.records import Record
from toolcert.core.requests import Request, RequestKind
from toolcert.core.values import Value
from toolcert.engine.plan import Session
from toolcert.verify.judging import RowJudge
from toolcert.verify.rejudge import adapter_of_run, dataset_problems
from toolcert.verify.row import Row


class Replay(Value):
    """What a row got then and now."""

    before: Record
    after: Record


async def replay(record: Record, manifest: Manifest, session: Session) -> Replay:
    """Send the request behind `record` again."""
    if record.row is None or not record.detail.exchanges:
        raise UsageError(
            f"{record.case} holds no request that could be sent again.",
            remedy="Replay takes rows of verify runs kept as raw or assembled.",
        )
    exchange = record.detail.exchanges[-1]
    request = exchange.request
    if request.kind is RequestKind.COMPLETIONS and exchange.sent is not None:
        request = Request(body=exchange.sent, kind=request.kind)
    answered = await session.ask(request)
    row = Row.of_record(record, dataset_problems(record, exchange))
    # A raw completion is judged by the tools of its row, which the rendered prompt no longer shows.
    again = msgspec.structs.replace(answered, request=exchange.request)
    return Replay(before=record, after=RowJudge(adapter_of_run(manifest)).judge(row, again))
