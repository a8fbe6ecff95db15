"""Findings about exchanges without an answer. They say nothing about the model: `not_measured`."""

from __future__ import annotations

from toolcert.core.exchanges import Exchange, Fault, FaultCause, FaultKind
from toolcert.core.findings import Finding, FindingKind, Severity
from toolcert.core.requests import Request
from toolcert.diagnose.checks.registry import declare, finding
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
