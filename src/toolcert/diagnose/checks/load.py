"""Findings of a load run: each compares many answers, so no check of one exchange can make them."""

from __future__ import annotations

from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.checks.registry import declare

declare(
    FindingKind(
        code="load.corruption",
        severity=Severity.ERROR,
        title="Calls that are right alone are wrong under load.",
        meaning="An agent that works in a test breaks in production, now and then and without an error message.",
        cause="Requests that are computed together disturb each other: a race in the scheduler, in the cache of keys "
        "and values, in speculative decoding, or in the tool parser, which keeps state between requests.",
        remedy="Lower the concurrency to the level that the report names as sound, and show the report to the "
        "operator: it holds both answers of each pair.",
        seen_in=("vllm-project/vllm#48089", "vllm-project/vllm#54701"),
    )
)
declare(
    FindingKind(
        code="load.crosstalk",
        severity=Severity.ERROR,
        title="An answer carries the values of another request.",
        meaning="An agent acts on what somebody else asked for, and what it was asked may reach somebody else.",
        cause="A buffer, cache or parser that is shared between requests and not kept apart.",
        remedy="Send nothing confidential to this endpoint, and report it at once: each sighting names both requests.",
    )
)
declare(
    FindingKind(
        code="load.degrades",
        severity=Severity.WARNING,
        title="Answers get worse or slower the longer the load lasts.",
        meaning="A run of hours fails although its first minutes were good.",
        cause="Memory that is never freed, a cache that fills up or fragments, or a machine that is throttled.",
        remedy="Restart the server now and then, and measure again with a longer --for.",
        seen_in=("ggml-org/llama.cpp#26356", "vllm-project/vllm#35800"),
    )
)
declare(
    FindingKind(
        code="load.queueing",
        severity=Severity.NOTE,
        title="Requests wait for each other under load, or are refused.",
        meaning="Answers are as good as alone, and later. Nothing breaks that has patience.",
        cause="More requests than the server computes at a time, or a rate limit.",
        remedy="Ask with the concurrency at which times are still good, or raise the time-out.",
    )
)
