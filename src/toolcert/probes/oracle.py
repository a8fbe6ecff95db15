"""What probes look for in an answer: valid calls, and why there are none."""

from __future__ import annotations

from toolcert.core.values import JsonObject
from toolcert.diagnose import CallJudgement, judge_calls
from toolcert.probes.base import Turn


def calls_of(turn: Turn) -> tuple[CallJudgement, ...]:
    """Every call of the answer, judged against the tools that were offered."""
    return judge_calls(turn.exchange.request, turn.answer)


def valid_calls(turn: Turn, tool: str) -> list[CallJudgement]:
    """The calls of `tool` whose arguments satisfy its schema."""
    return [call for call in calls_of(turn) if call.known and call.call.name == tool and call.valid]


def arguments_of(call: CallJudgement) -> JsonObject:
    """The arguments of a call, where they are an object."""
    parsed = call.judgement.arguments
    return parsed if isinstance(parsed, dict) else {}


def carries(call: CallJudgement, **wanted: str) -> bool:
    """Whether each named argument holds the wanted word; letter case and words around it do not matter."""
    given = arguments_of(call)
    return all(word.casefold() in str(given.get(name, "")).casefold() for name, word in wanted.items())


def equals(call: CallJudgement, **wanted: object) -> bool:
    """Whether each named argument is exactly the wanted value."""
    given = arguments_of(call)
    return all(name in given and given[name] == value for name, value in wanted.items())


def mentions(turn: Turn, word: str) -> bool:
    """Whether the answer's text holds `word`, in any letter case."""
    return word.casefold() in turn.text.casefold()


def why_not_called(turn: Turn, tool: str) -> str:
    """Why there is no valid call of `tool`, in words without the case's own values, so that reasons can be counted."""
    calls = calls_of(turn)
    if not calls:
        return _why_no_call(turn, tool)
    ours = [call for call in calls if call.call.name == tool]
    if not ours:
        return f"calls {_shown(calls[0])} instead of {tool}"
    invalid = next((call for call in ours if not call.valid), None)
    if invalid is None:
        return f"calls {tool} with other values than asked for"
    return f"calls {tool} with invalid arguments{_bucket(invalid)}"


def _why_no_call(turn: Turn, tool: str) -> str:
    codes = {found.code for found in turn.findings}
    if "call.in_text" in codes:
        return f"leaves the call of {tool} as text in the content"
    if "call.in_reasoning" in codes:
        return f"leaves the call of {tool} in its reasoning"
    if not turn.text:
        return f"answers with nothing instead of calling {tool}"
    return f"answers in words instead of calling {tool}"


def _shown(call: CallJudgement) -> str:
    return call.call.name if call.known else f"an unknown tool{f' (meant: {call.meant})' if call.meant else ''}"


def _bucket(call: CallJudgement) -> str:
    return f" ({', '.join(call.buckets)})" if call.buckets else ""
