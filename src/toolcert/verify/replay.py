"""One row sent again: the same request, a new answer, both judged."""

from __future__ import annotations

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.exchanges import Exchange
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


async def replay(record: Record, manifest: Manifest, session: Session, model: str | None = None) -> Replay:
    """Send the request behind `record` again, to another model where one is named."""
    if record.row is None or not record.detail.exchanges:
        raise UsageError(
            f"{record.case} holds no request that could be sent again.",
            remedy="Replay takes rows of verify runs kept as raw or assembled.",
        )
    exchange = record.detail.exchanges[-1]
    row = Row.of_record(record, dataset_problems(record, exchange))
    asked = exchange.request
    if model is not None:
        row = msgspec.structs.replace(row, model=model)
        asked = msgspec.structs.replace(asked, body=asked.body | {"model": model})
    answered = await session.ask(_as_sent(exchange, asked))
    # A raw completion is judged by the tools of its row, which the rendered prompt no longer shows.
    again = msgspec.structs.replace(answered, request=asked)
    return Replay(before=record, after=RowJudge(adapter_of_run(manifest)).judge(row, again))


def _as_sent(exchange: Exchange, asked: Request) -> Request:
    """The request as the wire is to carry it: of a raw completion, the prompt that was rendered then."""
    if asked.kind is not RequestKind.COMPLETIONS or exchange.sent is None:
        return asked
    return Request(body=exchange.sent | {"model": asked.body["model"]}, kind=asked.kind)
