"""All checks over one exchange."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding
from toolcert.core.replies import Reply
from toolcert.diagnose.checks.registry import View, checks_for, finding
from toolcert.diagnose.checks.transport import transport_finding
from toolcert.diagnose.judgement import CallJudgement, judge_calls


def examine(
    exchange: Exchange, reply: Reply | None, calls: tuple[CallJudgement, ...] | None = None
) -> tuple[Finding, ...]:
    """The findings of one exchange, errors first; none for a faithful one.

    `calls` are the judgements of the reply's calls, for those who have made them already.
    """
    if exchange.fault is not None or reply is None:
        fault = transport_finding(exchange)
        return () if fault is None else (fault,)
    found = list(_noticed_by_reader(reply))
    if reply.readable:
        judged = judge_calls(exchange.request, reply) if calls is None else calls
        view = View(request=exchange.request, exchange=exchange, reply=reply, calls=judged)
        found.extend(_noticed_by_checks(view))
    return in_order(found) if found else ()


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Errors first, then by code, turn and call; each fact once."""
    return tuple(sorted(dict.fromkeys(findings), key=_rank))


def _noticed_by_reader(reply: Reply) -> Iterator[Finding]:
    """What the reader noted; of an answer that is not of the protocol at all, only that."""
    for irregularity in reply.irregularities:
        if reply.readable or irregularity.code == "envelope.not_openai":
            yield finding(irregularity.code, irregularity.evidence)


def _noticed_by_checks(view: View) -> Iterator[Finding]:
    for kind, function in checks_for(view):
        for evidence in function(view):
            yield finding(evidence.code or kind.code, evidence.text, call=evidence.call, severity=evidence.severity)


def _rank(finding: Finding) -> tuple[int, str, int, int]:
    return finding.severity.rank, finding.code, finding.turn, -1 if finding.call is None else finding.call
