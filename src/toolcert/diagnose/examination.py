"""All checks over one exchange."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding, Severity
from toolcert.core.replies import Reply
from toolcert.diagnose.checks.registry import View, checks_for, finding
from toolcert.diagnose.checks.transport import transport_finding
from toolcert.diagnose.consequences import fold
from toolcert.diagnose.judgement import CallJudgement, judge_calls

_HARMLESS = frozenset({("stream.framing", "role")})
"""Departures that clients live with, and that many vendors send: the role in every chunk."""


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
    """Errors first, then by code, turn and call; each fact once, and each consequence behind its cause."""
    told = fold(dict.fromkeys(findings))
    severities = {one.code: one.severity for one in reversed(told)}
    return tuple(sorted(told, key=lambda one: _rank(one, severities)))


def _noticed_by_reader(reply: Reply) -> Iterator[Finding]:
    """What the reader noted; of an answer that is not of the protocol at all, only that."""
    for irregularity in reply.irregularities:
        if reply.readable or irregularity.code == "envelope.not_openai":
            severity = Severity.NOTE if (irregularity.code, irregularity.rule) in _HARMLESS else None
            yield finding(irregularity.code, irregularity.evidence, severity=severity)


def _noticed_by_checks(view: View) -> Iterator[Finding]:
    for kind, function in checks_for(view):
        for evidence in function(view):
            yield finding(evidence.code or kind.code, evidence.text, call=evidence.call, severity=evidence.severity)


def _rank(finding: Finding, severities: dict[str, Severity]) -> tuple[int, str, bool, str, int, int]:
    first = finding.because_of or finding.code
    weight = severities.get(first, finding.severity).rank if finding.because_of else finding.severity.rank
    call = -1 if finding.call is None else finding.call
    return weight, first, finding.because_of is not None, finding.code, finding.turn, call
