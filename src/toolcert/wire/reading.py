"""The answer in an exchange, read without repairing anything.

Codes the reader itself notes, because only the raw answer shows them: envelope.not_openai,
stream.cut, stream.index_missing, stream.index_shared, stream.index_gap, stream.fragment_misplaced,
stream.name_repeated, stream.error_inside, stream.usage_nonstandard, stream.framing and
stream.one_piece. All that can be told from the fields of the reply is left to the checks.
"""

from __future__ import annotations

from toolcert.core.exchanges import Exchange
from toolcert.core.replies import Reply
from toolcert.wire.plain import read_plain
from toolcert.wire.streamed import read_stream


def read_reply(exchange: Exchange) -> Reply:
    """The first choice of an answer, plain or streamed, with every irregularity named."""
    return read_stream(exchange) if exchange.event_stream else read_plain(exchange)
