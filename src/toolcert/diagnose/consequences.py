"""One fault, one finding: what follows from another finding of the same answer is folded under it.

A folded finding stays in the record and names its cause; it is not counted, caps nothing and closes no gate.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolcert.core.findings import Finding
from toolcert.core.values import Value

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
        "stream.error_inside": (*_USE, "args", "finish", "usage", "stream", "call", "reasoning.only"),
        "finish.filtered": (*_USE, "args", "finish", "stream.args_truncated", "reasoning.only", "call.empty_list"),
        "finish.length_false": (*_USE, "args", "stream.args_truncated", "reasoning.only"),
        "stream.cut": (*_USE, "args", "call", "stream", "usage", "finish", "reasoning.only"),
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
        "text.degenerate": ("result", "json", "text.special_tokens"),
        "json.whitespace": ("json", "text.degenerate"),
    }.items()
)
"""In this order: the first cause that is there takes its consequences."""


def fold(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, each consequence with its cause: in the same turn, and not about different calls."""
    told = list(findings)
    for rule in CONSEQUENCES if len(told) > 1 else ():
        for cause in [one for one in told if one.because_of is None and _is(one.code, rule.cause)]:
            told = [_under(cause, one) if _follows(one, cause, rule) else one for one in told]
    return tuple(told)


def _under(cause: Finding, one: Finding) -> Finding:
    return msgspec.structs.replace(one, because_of=cause.code)


def _follows(one: Finding, cause: Finding, rule: Consequence) -> bool:
    if one.because_of is not None or one.code == cause.code or one.turn != cause.turn:
        return False
    same_call = one.call is None or cause.call is None or one.call == cause.call
    return same_call and any(_is(one.code, code) for code in rule.follows)


def _is(code: str, wanted: str) -> bool:
    return code == wanted or code.startswith(f"{wanted}.")
