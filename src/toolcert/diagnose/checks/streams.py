"""Findings about event streams. The reader of the stream sees most of them while it assembles."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.excerpt import shown
from toolcert.diagnose.checks.finish import reached_limit
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.judgement import Damage

ARGS_TRUNCATED = FindingKind(
    code="stream.args_truncated",
    severity=Severity.ERROR,
    title="The end of the arguments never arrives in the stream.",
    meaning="The stream ends in good order, but the JSON of a call is incomplete. The call cannot be run.",
    cause="The server's parser holds back the last piece and forgets to send it when the model stops.",
    remedy="Ask without streaming, or update the server.",
    seen_in=("vllm #10781",),
)
USAGE_MISSING = FindingKind(
    code="stream.usage_missing",
    severity=Severity.NOTE,
    title="Token usage was asked for in the stream and does not come.",
    meaning="Costs and context length cannot be tracked for streamed answers.",
    cause="`stream_options.include_usage` is accepted and ignored.",
    remedy="Count tokens yourself, or take usage from plain answers.",
    seen_in=("litellm #3490",),
)
declare(
    FindingKind(
        code="stream.cut",
        severity=Severity.ERROR,
        title="The stream ends without a finish reason and without an end marker.",
        meaning="The answer is incomplete and nothing says so. An agent that takes it for whole acts on half a call or "
        "half a text.",
        cause="The server process died, a proxy closed the connection, or a time limit inside the server was reached.",
        remedy="Treat a stream without a finish reason as failed and repeat the request. Behind some gateways the cut "
        "cannot be seen: they add a finish reason of their own.",
    )
)
declare(
    FindingKind(
        code="stream.index_missing",
        severity=Severity.WARNING,
        title="Pieces of a call come without an `index`.",
        meaning="Clients put the pieces of parallel calls together by their index. Without it they fail, or glue "
        "different calls into one.",
        cause="A server that sends each call whole and saw no need for the field.",
        remedy="Use a client that falls back on the id, or ask without streaming.",
        seen_in=("ollama #7881",),
    )
)
declare(
    FindingKind(
        code="stream.index_shared",
        severity=Severity.ERROR,
        title="Two calls share one index.",
        meaning="Clients add the pieces of both calls to one: the name of one tool with the arguments of two.",
        cause="The index is a constant in the server, which is only noticed with parallel calls.",
        remedy="Send `parallel_tool_calls: false`, or ask without streaming.",
        seen_in=("ollama #7881", "litellm #33678"),
    )
)
declare(
    FindingKind(
        code="stream.index_gap",
        severity=Severity.WARNING,
        title="The indexes of the calls do not start at 0, or leave holes.",
        meaning="Clients that use the index as a position in a list fail or produce empty calls in between.",
        cause="The index counts something else, such as blocks of the answer, in a translated protocol.",
        remedy="Use the index only as a key, never as a position.",
        seen_in=("litellm #33678",),
    )
)
declare(
    FindingKind(
        code="stream.fragment_misplaced",
        severity=Severity.ERROR,
        title="A piece of the arguments is attached to another call.",
        meaning="Two calls are spoilt: one lacks the piece, the other has it in its middle.",
        cause="The server keeps one current call for a stream in which several are open.",
        remedy="Send `parallel_tool_calls: false`, or ask without streaming.",
        seen_in=("langchain-oracle #253",),
    )
)
declare(
    FindingKind(
        code="stream.order",
        severity=Severity.ERROR,
        title="The pieces of the stream come in the wrong order.",
        meaning="A piece of the arguments comes before the name of its call, or after what follows it, or after the "
        "finish reason. Clients that read in order drop it, fail, or run a call with scrambled arguments.",
        cause="The server writes to one stream from several tasks, or a gateway re-orders what it buffers.",
        remedy="Ask without streaming, and report it with the evidence.",
    )
)
declare(
    FindingKind(
        code="stream.cumulative",
        severity=Severity.ERROR,
        title="Each piece of the stream repeats everything before it.",
        meaning="Clients add the pieces up: users see `I I am I am here`, and arguments are no JSON.",
        cause="The server sends the text so far where the protocol wants only what is new.",
        remedy="Ask without streaming. On a server of your own, switch incremental output on.",
    )
)
declare(
    FindingKind(
        code="stream.name_repeated",
        severity=Severity.WARNING,
        title="The name of the tool comes again with later pieces of the call.",
        meaning="Clients that add up the pieces of every field end with `get_weatherget_weather`.",
        cause="The server fills the whole call into each piece instead of only what is new.",
        remedy="Keep the first name of a call, and ignore the rest.",
    )
)
declare(
    FindingKind(
        code="stream.differs",
        severity=Severity.WARNING,
        title="The same request is answered differently with streaming than without.",
        meaning="Another call, form of id, finish reason or usage: what was tested in one mode does not hold in the "
        "other.",
        cause="The server has one parser for each mode, and they disagree.",
        remedy="Test the mode that is used in production. The evidence names the field that differs.",
        seen_in=("vllm #18108", "vllm #47903"),
    )
)
declare(
    FindingKind(
        code="stream.error_inside",
        severity=Severity.ERROR,
        title="An error is sent inside a stream that began with status 200.",
        meaning="The answer ends in an error after its first pieces may have been shown. Clients that know no such "
        "event skip it and take the rest for a complete answer.",
        cause="The model or a backend failed after the status had been sent.",
        remedy="Look for an `error` object in every event, and repeat the request.",
        seen_in=("exo #2281",),
    )
)
declare(
    FindingKind(
        code="stream.usage_nonstandard",
        severity=Severity.NOTE,
        title="Usage comes in an unusual place of the stream.",
        meaning="It is inside a choice or on every chunk instead of once at the end. Clients that look at the last "
        "chunk miss it; those that add up what they see count too much.",
        cause="The server sends running totals, or a gateway merges the usage chunk into another.",
        remedy="Use the last usage seen, and never add them up.",
        seen_in=("litellm #3490",),
    )
)
declare(
    FindingKind(
        code="stream.unasked",
        severity=Severity.ERROR,
        title="The server streams although no stream was asked for.",
        meaning="Clients that did not ask for a stream read the answer as one JSON object and fail on the first call.",
        cause="A proxy or server that streams always, or that reads `stream: false` or its absence as true.",
        remedy="Ask for streams and assemble them, or report it to the vendor.",
    )
)
declare(
    FindingKind(
        code="stream.framing",
        severity=Severity.WARNING,
        title="The stream is not framed as server-sent events should be.",
        meaning="Events that are no JSON, characters split between events, an id that changes, a role that is "
        "repeated, or no end marker: lenient clients get by, strict ones fail or wait for ever.",
        cause="A hand-written stream, or a proxy that re-cuts it.",
        remedy="The evidence says which rule is broken; report it to the operator.",
    )
)
declare(
    FindingKind(
        code="stream.one_piece",
        severity=Severity.NOTE,
        title="The whole call comes in a single piece.",
        meaning="Nothing breaks, but it is no real streaming: the time to the first piece is the time of the whole "
        "call.",
        cause="The server parses calls only when the model has finished, and then sends them as one chunk.",
        remedy="Do not count on early pieces of arguments for progress displays.",
    )
)


@check(ARGS_TRUNCATED, When.STREAMED)
def args_truncated(view: View) -> Iterator[Evidence]:
    if view.reply.finish_reason == "length" or not view.reply.complete or reached_limit(view):
        return
    if view.noticed("stream.fragment_misplaced"):
        return  # the end has arrived, at another call
    for call in view.calls:
        if call.damage is Damage.TRUNCATED:
            yield Evidence(text=f"arguments {shown(call.call.arguments, 120)}", call=call.position)


@check(USAGE_MISSING, When.STREAMED)
def usage_missing(view: View) -> Iterator[Evidence]:
    sent = view.request.body if view.exchange.sent is None else view.exchange.sent
    options = sent.get("stream_options")  # left out where the server refuses it
    asked = isinstance(options, dict) and options.get("include_usage") is True
    if asked and view.reply.usage is None and view.reply.complete:
        yield Evidence(text="include_usage true, no usage in the stream")
