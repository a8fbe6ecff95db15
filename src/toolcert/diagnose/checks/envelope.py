"""Findings about the envelope of an answer: its form and its token counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.values import JsonObject
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare

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


ARITHMETIC = FindingKind(
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


@check(USAGE_MISSING, When.PLAIN)
def usage_missing(view: View) -> Iterator[Evidence]:
    exchange = view.exchange
    if view.reply.usage is None and exchange.attempts and not exchange.from_file:
        yield Evidence(text="no usage in the answer")


@check(ARITHMETIC)
def arithmetic(view: View) -> Iterator[Evidence]:
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
