"""Findings about an exchange as a whole: no answer came, toolcert failed on it, or its envelope or counts are wrong.

Those of `transport` and `internal` say nothing about the model: the case is `not_measured`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from toolcert.core.exchanges import Exchange, Fault, FaultCause, FaultKind
from toolcert.core.findings import INTERNAL, LOST_WITH_WORKER, Finding, FindingKind, Severity
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare, finding
from toolcert.diagnose.request_facts import messages


def transport_finding(exchange: Exchange) -> Finding | None:
    """The finding for an exchange that gave nothing to judge; None where it did."""
    fault = exchange.fault
    if fault is None or fault.kind is FaultKind.UNSUPPORTED:
        return None
    if fault.cause is FaultCause.MALFORMED_CALL and _must_be_its_own(exchange.request):
        return finding("call.server_error", _evidence(fault, len(exchange.attempts)))
    return finding(f"transport.{fault.kind.value}", _evidence(fault, len(exchange.attempts)))


def _must_be_its_own(request: Request) -> bool:
    """Whether a call that the server cannot read is one that the model wrote now: no earlier one was sent."""
    return bool(request.tools) and not any(message.get("tool_calls") for message in messages(request))


def _evidence(fault: Fault, attempts: int) -> str:
    status = f"HTTP {fault.status}: " if fault.status is not None else ""
    tries = f" (after {attempts} attempts)" if attempts > 1 else ""
    return f"{status}{fault.message}{tries}"


def _transport(kind: FaultKind, title: str, meaning: str, cause: str, remedy: str) -> None:
    declare(
        FindingKind(
            code=f"transport.{kind.value}",
            severity=Severity.NOTE,
            title=title,
            meaning=meaning,
            cause=cause,
            remedy=remedy,
        )
    )


_transport(
    FaultKind.CONNECT,
    "No connection to the endpoint.",
    "Nothing was asked, so nothing is known about the model.",
    "A wrong address or port, a server that is not running, a name that does not resolve, a firewall or proxy.",
    "Check the base URL with `toolcert doctor`.",
)
_transport(
    FaultKind.TLS,
    "The secure connection could not be set up.",
    "Nothing was asked, so nothing is known about the model.",
    "A certificate from an unknown authority, for another name or out of date; or `https` to a port that speaks "
    "plain `http`.",
    "Give the authority's certificate with `--ca-bundle`, or mend the address.",
)
_transport(
    FaultKind.TIMEOUT,
    "The answer did not come in time.",
    "The case is not measured and counts neither for nor against the model. An agent would wait as long.",
    "A model that is being loaded, an overloaded server, a very long answer, or a proxy with a shorter limit.",
    "Raise `--timeout`, lower `--concurrency`, or ask for fewer tokens.",
)
_transport(
    FaultKind.RESET,
    "The connection broke before the answer was complete.",
    "The case is not measured. Part of an answer is not judged.",
    "The server crashed or was restarted, or a proxy closed the connection.",
    "Look into the server's log at the time of the attempt, and run again: measured cases are not asked twice.",
)
_transport(
    FaultKind.OVERSIZED,
    "The answer is larger than the limit.",
    "The case is not measured: an answer of that size is no answer to a tool call.",
    "A model that repeats itself without end, or a URL that serves something else.",
    "Set `max_tokens` in the request, and check the URL.",
)
_transport(
    FaultKind.AUTH,
    "The endpoint refuses the key.",
    "Nothing was asked, so nothing is known about the model.",
    "A key that is missing, misspelt, expired, or not allowed to use this model.",
    "Check the environment variable or file that the key comes from; `toolcert doctor` says which one is used.",
)
_transport(
    FaultKind.PAYMENT,
    "The account has no credit.",
    "Nothing was asked, so nothing is known about the model. The key itself is good.",
    "Prepaid credit that is used up, a spending limit, or a bill that was not paid.",
    "Add credit to the account, or take the key of another one, and run again: measured cases are not asked twice.",
)
_transport(
    FaultKind.RATE_LIMITED,
    "The endpoint limits the rate of requests.",
    "The case is not measured after all permitted retries. `Retry-After` was honoured where it was sent.",
    "More requests or tokens per minute than the account allows.",
    "Lower `--concurrency`, set `--rpm`, or run again later: measured cases are not asked twice.",
)
_transport(
    FaultKind.SERVER_ERROR,
    "The server answers with an error of its own.",
    "The case is not measured: without a control request that succeeds, an error 5xx says nothing about the model.",
    "An overloaded or broken server, or a request that makes it fail.",
    "Look at the message in the evidence; run again to see whether it lasts.",
)
_transport(
    FaultKind.REJECTED,
    "The server refuses the request.",
    "The case is not measured: without a control request it is open whether the request, the feature or the server is "
    "at fault.",
    "A parameter that the server does not know, a limit of the account, a schema or message that it does not take.",
    "Read the server's message in the evidence, and leave out what it complains about.",
)
_transport(
    FaultKind.UNKNOWN_MODEL,
    "The server does not know the model.",
    "Nothing was asked, so nothing is known about the model.",
    "A misspelt id, or a model that was listed and is not deployed.",
    "Take the id from `toolcert models`.",
)
_transport(
    FaultKind.CONFIGURATION,
    "The request could not be made as the endpoint is configured.",
    "Nothing was asked, so nothing is known about the model.",
    "A setting that this kind of endpoint needs, such as a project id, is missing or wrong.",
    "Mend the endpoint's settings; `toolcert doctor` names them.",
)
declare(
    FindingKind(
        code=LOST_WITH_WORKER,
        severity=Severity.NOTE,
        title="Every worker of the cluster that had the case died.",
        meaning="The case is not measured and counts neither for nor against the model.",
        cause="A machine without enough memory, processes that were ended or a node that was taken away; more rarely, "
        "an answer or a row that crashes a worker.",
        remedy="Find out from the logs of Ray what they died of. When that is mended, the same command asks it again.",
    )
)
declare(
    FindingKind(
        code=INTERNAL,
        severity=Severity.NOTE,
        title="toolcert failed on this case: a bug of ours.",
        meaning="The case is not measured and counts neither for nor against the model; the run goes on.",
        cause="An answer that we did not foresee. The traceback is in the record of the case.",
        remedy="Please report it with the traceback, which `toolcert show RUN CASE` prints. "
        "Run the same command again after an update: the case is asked again.",
    )
)


declare(
    FindingKind(
        code="envelope.not_openai",
        severity=Severity.ERROR,
        title="The answer does not have the form of the protocol.",
        meaning="Status 200, but no choices, no JSON, a web page, or an error in disguise. Clients fail with an "
        "unrelated message, or take it for an empty answer.",
        cause="A wrong base URL, a proxy's error page, or a gateway that wraps a backend's failure in a success.",
        remedy="Read the evidence: it is the beginning of what came back. Check the URL and its `/v1` first.",
        seen_in=("cline #13348",),
    )
)
declare(
    FindingKind(
        code="envelope.byte_order_mark",
        severity=Severity.WARNING,
        title="A byte order mark stands before the JSON of the answer.",
        meaning="OpenAI's own libraries, httpx, requests and browsers pass over it. JSON does not allow it, and strict "
        "parsers, such as those of Go and of aiohttp, refuse the whole answer.",
        cause="A server or gateway that writes its answers with an encoding such as `utf-8-sig`.",
        remedy="Report it to the operator. A client of your own drops the three bytes EF BB BF before it parses.",
    )
)


USAGE_ARITHMETIC = FindingKind(
    code="usage.arithmetic",
    severity=Severity.NOTE,
    title="The token counts contradict each other.",
    meaning="Bills, budgets and context limits that are computed from them are wrong.",
    cause="The server adds reasoning or cached tokens to one figure and not to the other, or a gateway counts with "
    "another tokenizer than its backend.",
    remedy="Trust the invoice, not the sum; report the figures to the operator.",
)
declare(
    FindingKind(
        code="usage.prompt_tokens_differ",
        severity=Severity.WARNING,
        title="The same request costs another number of prompt tokens than at the baseline.",
        meaning="The model does not read the same text as at the reference: another chat template, tokenizer or system "
        "prompt. Everything else that differs may come from this.",
        cause="A vendor's own chat template, tools rendered in another way, or text added to the prompt.",
        remedy="Ask the vendor which template is used. One request decides: the difference does not depend on chance.",
    )
)


declare(
    FindingKind(
        code="prompt.tools_dropped",
        severity=Severity.ERROR,
        title="The offered tools add nothing to the prompt.",
        meaning="The same request costs as many prompt tokens with tools as without: the model never sees them. Where "
        "it calls them all the same, they are only not counted, which is a warning.",
        cause="The chat template has no place for tools, or a gateway drops the field for this model.",
        remedy="Use the model's own chat template and switch tool calling on. Behind a gateway, ask which fields it "
        "passes on.",
    )
)
USAGE_MISSING = FindingKind(
    code="usage.missing",
    severity=Severity.NOTE,
    title="No token counts come with the answer.",
    meaning="Costs, budgets and the length of the context cannot be tracked.",
    cause="A hand-written server, or a gateway that drops the field.",
    remedy="Count tokens yourself. For streams `stream.usage_missing` reports the same.",
)


@check(USAGE_MISSING, When.PLAIN, When.NO_USAGE)
def usage_missing(view: View) -> Iterator[Evidence]:
    exchange = view.exchange
    if exchange.attempts and not exchange.from_file:
        yield Evidence(text="no usage in the answer")


@check(USAGE_ARITHMETIC)
def usage_arithmetic(view: View) -> Iterator[Evidence]:
    usage = view.reply.usage
    if usage is None:
        return
    prompt, completion, total = usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("total_tokens")
    if not (_is_count(prompt) and _is_count(completion)):
        if prompt is not None or completion is not None:
            yield Evidence(text=f"prompt_tokens {prompt!r}, completion_tokens {completion!r}")
        return
    if total is not None and total != prompt + completion and total != prompt + completion + _reasoning(usage):
        yield Evidence(text=f"{prompt} + {completion} is not {total!r}")
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    if cached > prompt:
        yield Evidence(text=f"cached_tokens {cached} above prompt_tokens {prompt}")


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and value >= 0


def _reasoning(usage: JsonObject) -> int:
    """Reasoning tokens, which some vendors count beside the completion and not in it."""
    return _detail(usage, "completion_tokens_details", "reasoning_tokens")


def _detail(usage: JsonObject, group: str, field: str) -> int:
    details = usage.get(group)
    value = details.get(field) if isinstance(details, dict) else None
    return value if type(value) is int else 0
