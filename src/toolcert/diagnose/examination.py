"""All checks over one exchange, and the findings that follow from another one folded under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.findings import Finding, Severity
from toolcert.core.values import Value
from toolcert.diagnose.checks.registry import View, checks_for, finding
from toolcert.diagnose.checks.transport import transport_finding
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
    found = list(_noticed_by_reader(reply)) if reply.irregularities else []
    if reply.readable:
        judged = judge_calls(exchange.request, reply) if calls is None else calls
        view = View(request=exchange.request, exchange=exchange, reply=reply, calls=judged)
        for kind, function in checks_for(view):
            for seen in function(view):
                found.append(finding(seen.code or kind.code, seen.text, call=seen.call, severity=seen.severity))
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


def _rank(finding: Finding, severities: dict[str, Severity]) -> tuple[int, str, bool, str, int, int]:
    first = finding.because_of or finding.code
    weight = severities.get(first, finding.severity).rank if finding.because_of else finding.severity.rank
    call = -1 if finding.call is None else finding.call
    return weight, first, finding.because_of is not None, finding.code, finding.turn, call


_USE = ("result", "json", "trigger", "choice.required_ignored", "choice.named_ignored")
"""What a probe or a check says of an answer in which the call or the text never arrived."""


class Consequence(Value):
    """What one kind of fault brings with it. A code stands for itself and for all codes below it."""

    cause: str
    follows: tuple[str, ...]


CONSEQUENCES = tuple(
    Consequence(cause=cause, follows=follows)
    for cause, follows in {
        # No answer to judge: an upstream error, a filter, or an end that came too early.
        "envelope.not_openai": (*_USE, "finish", "usage", "stream", "args.lost"),
        "stream.error_inside": (*_USE, "args", "finish", "usage", "stream", "call", "reasoning.only", "history"),
        "finish.filtered": (*_USE, "args", "finish", "stream.args_truncated", "reasoning.only", "call.empty_list"),
        "finish.length_false": (*_USE, "args", "stream.args_truncated", "reasoning.only"),
        "stream.cut": (*_USE, "args", "call", "stream", "usage", "finish", "reasoning.only", "history"),
        # The call is there, in the wrong place or twice.
        "call.in_text": (*_USE, "finish.calls_missing", "reasoning.leaked", "text.special_tokens"),
        "call.in_reasoning": (*_USE, "finish.calls_missing", "reasoning.only"),
        "reasoning.only": _USE,
        "text.empty": (*_USE, "usage", "finish.nonstandard", "stream.one_piece"),
        "call.unknown_tool": ("choice.named_ignored",),
        "call.duplicate": ("call.id_duplicate", "parallel.flag_ignored", "result.repeat_call"),
        # The pieces of a stream were sent wrongly, so that what is assembled from them is wrong.
        "stream.order": ("args", "call", "json", "result", "stream", "parallel.merged"),
        "stream.cumulative": ("args", "json", "result", "text", "stream", "call.twice", "parallel.merged"),
        "stream.index_shared": ("args", "parallel.merged"),
        "stream.fragment_misplaced": ("args", "stream.args_truncated", "finish.truncation_hidden", "parallel.merged"),
        # The arguments were cut or emptied, and so break whatever else is asked of them.
        "stream.args_truncated": ("args",),
        "finish.truncation_hidden": ("args",),
        "args.lost": ("args.empty", "stream.differs"),
        "args.schema.minLength": ("args.schema.pattern",),
        "schema.strict_unenforced": ("args.schema",),
        "reasoning.leaked": ("json",),
        "text.special_tokens": ("json",),
        "text.degenerate": ("result", "json", "text.special_tokens"),
        "json.whitespace": ("json", "text.degenerate"),
    }.items()
)
"""In this order: the first cause that is there takes its consequences."""


def fold(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, each consequence with its cause: in the same turn, and not about different calls.

    A folded finding stays in the record and names its cause; it is not counted, caps nothing and closes no gate.
    """
    told = list(findings)
    for rule in CONSEQUENCES if len(told) > 1 else ():
        causes: dict[tuple[int, int | None], dict[str, int]] = {}
        for place, one in enumerate(told):
            if one.because_of is None and _is(one.code, rule.cause):
                for call in (one.call, _ANY_CALL):
                    causes.setdefault((one.turn, call), {}).setdefault(one.code, place)
        if causes:
            told = [_under_cause(one, causes, rule) for one in told]
    return tuple(told)


_ANY_CALL = -1


def _under_cause(one: Finding, causes: dict[tuple[int, int | None], dict[str, int]], rule: Consequence) -> Finding:
    """The finding with its first cause, if it has one; `causes` holds places of codes by turn and call."""
    if one.because_of is not None or not any(_is(one.code, code) for code in rule.follows):
        return one
    about = (_ANY_CALL,) if one.call is None else (None, one.call)
    places = [found for call in about for found in causes.get((one.turn, call), {}).items() if found[0] != one.code]
    if not places:
        return one
    return msgspec.structs.replace(one, because_of=min(places, key=lambda found: found[1])[0])


def _is(code: str, wanted: str) -> bool:
    return code == wanted or code.startswith(f"{wanted}.")
