"""The oracle of a probe: an answer to judge, a refusal explained by its control requests, valid calls."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Fault, FaultKind, Unreadable
from toolcert.core.requests import user
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import CallJudgement, finding, judge_calls
from toolcert.probes.base import Concluded, Conversation, ProbeResult, Turn, failed, not_measured, unsupported
from toolcert.probes.refusal_pairs import Ask, is_refusal, is_server_error, try_pairs, works_once
from toolcert.probes.sample_tools import WEATHER
from toolcert.probes.text_oracle import says_number, says_word
from toolcert.protocol.reply import declines

_NO_ANSWER = (Unreadable.ERROR, Unreadable.PAGE)
"""An error that came in place of an answer: the server's own, or the page of a gateway."""


class Feature(Value):
    """The part of a request that its control request leaves out."""

    what: str
    """Its name in reasons: `tools`, `tool_choice required`, ..."""
    without: tuple[str, ...] = ()
    """Fields of the request to leave out in the control request."""
    code: str | None = None
    """The finding a refusal is, if the catalogue has one."""
    instead: JsonObject = {}
    """Fields the control request carries instead."""
    capability: bool = True
    """A server may honestly lack it (`unsupported`); otherwise refusing it is a fault (`failed`)."""

    lasting: bool = True
    """Its refusal is the same in every request, so that it need be proven once only."""
    same_words: bool = False
    """It is always asked for in much the same words, so that they need be found to blame once only."""

    def over(self, messages: list[JsonObject]) -> Feature:
        """The same feature, with these messages in its control request."""
        return msgspec.structs.replace(self, instead={**self.instead, "messages": messages})


TOOLS = Feature(what="tools", without=("tools", "tool_choice", "parallel_tool_calls"))


async def answered(
    talk: Conversation,
    messages: list[JsonObject],
    *,
    feature: Feature | None = TOOLS,
    called: bool | None = None,
    **parameters: Any,
) -> Turn:
    """Ask and return a turn that can be judged; otherwise conclude, keeping the credit for an earlier call."""
    return await judgeable(talk, await talk.ask(messages, **parameters), feature=feature, called=called)


async def judgeable(
    talk: Conversation, turn: Turn, *, feature: Feature | None = None, called: bool | None = None
) -> Turn:
    """The turn itself, or its repetition, if it brought an answer of the protocol; otherwise conclude."""
    if feature is not None:
        turn = await unless_refused(talk, turn, feature, called)
    if turn.fault is not None:
        raise Concluded(unmeasured(turn.fault, called))
    if not turn.answer.readable:
        # An error inside a 200 is the server's: it does not show that the model cannot call or use a result.
        judged = None if turn.answer.unreadable in _NO_ANSWER else False
        raise Concluded(failed(unreadable(turn), called=called or judged, handled=judged if called else None))
    return turn


async def unless_refused(talk: Conversation, turn: Turn, feature: Feature, called: bool | None = None) -> Turn:
    """Conclude if the feature is refused; otherwise the last request with it, which may have been answered."""
    talk.refusals.asks_feature()
    fault = turn.fault
    if fault is None or not is_refusal(turn):
        return turn
    body = turn.exchange.request.body
    without = {key: value for key, value in body.items() if key not in feature.without} | feature.instead
    # If the server does not say what it refuses, the words of a request with tools may be to blame.
    unclear = "tools" in body and "messages" not in feature.instead and fault.kind is not FaultKind.UNSUPPORTED
    trial = await try_pairs(
        talk,
        turn,
        feature.what,
        lambda: talk.control(**without),
        exonerates=(lambda: _breaks_on_calls(talk, body, feature)) if unclear else None,
        lasting=feature.lasting,
        same_words=feature.same_words,
    )
    if not trial.refused:
        return trial.turn
    words = "" if trial.turn.fault is None else said(trial.turn.fault)
    if trial.about_feature and (feature is not TOOLS or not is_server_error(trial.turn)):
        raise Concluded(rejected(feature, trial.turn, called))
    words_too = "" if trial.about_feature else ", and in other words"
    evidence = f"works without {feature.what}{words_too}; otherwise every time {words}"
    found = finding("call.server_error", evidence, turn=trial.turn.index)
    raise Concluded(failed(f"answers with an error where a call is due ({words})", found, called=bool(called)))


async def _breaks_on_calls(talk: Conversation, body: JsonObject, feature: Feature) -> bool:
    """Whether it is the call and not the feature that the server fails on.

    Then the feature is taken where no call is due, or a call fails without it, too.
    """
    if await works_once(talk, lambda: talk.control(**body | {"messages": [user("Say hello.")]})):
        return True
    question = [user(f"Get the weather in {talk.nonce('other city')}.")]
    return feature is not TOOLS and not await works_once(talk, lambda: talk.control(question, tools=[WEATHER]))


async def unless_broken(talk: Conversation, turn: Turn, what: str, control: Ask) -> Turn:
    """The turn, answered or refused with a 4xx, of a request that a server may refuse and must not break on.

    Conclude if it breaks on it every time, or if nothing is known.
    """
    talk.refusals.asks_feature()
    if is_server_error(turn):
        trial = await try_pairs(talk, turn, what, control, fails=is_server_error, judged=False)
        if trial.refused and turn.fault is not None:
            raise Concluded(failed(f"breaks on {what} ({said(turn.fault)})", status=turn.exchange.status))
        turn = trial.turn
    if refuses(turn):
        talk.refusals.set_aside(turn)  # as it should be, so it says nothing about bad luck
    elif turn.fault is not None:
        raise Concluded(unmeasured(turn.fault))
    return turn


def rejected(feature: Feature, turn: Turn, called: bool | None = None) -> ProbeResult:
    """What the refusal of a feature means that pairs have proven; `turn` is the first that was refused."""
    assert turn.fault is not None
    words = said(turn.fault)
    findings = () if feature.code is None else (finding(feature.code, words, turn=turn.index),)
    if turn.fault.kind is FaultKind.SERVER_ERROR or not feature.capability:
        handled = False if called else None
        return failed(f"breaks on {feature.what} ({words})", *findings, called=bool(called), handled=handled)
    return unsupported(f"refuses {feature.what} ({words})", *findings)


def unreadable(turn: Turn) -> str:
    """Why an answer is not of the protocol's shape, in words that repeat from case to case."""
    seen = [one for one in turn.answer.irregularities if one.code == "envelope.not_openai"]
    what = f": {seen[-1].rule}" if seen else ""
    return f"the answer is not a chat completion{what}"


def unmeasured(fault: Fault, called: bool | None = None) -> ProbeResult:
    """What a fault means that no control request explains."""
    if fault.kind is FaultKind.UNSUPPORTED:
        return ProbeResult(outcome=Outcome.UNSUPPORTED, reason=fault.message, called=called)
    return not_measured(said(fault), called=called)


def left_out(turn: Turn, parameter: str) -> bool:
    """Whether a parameter was not sent in the end, because the server refuses it."""
    return parameter in turn.exchange.left_out


def said(fault: Fault) -> str:
    """The fault's message, with its HTTP status if the message does not name it."""
    if fault.status is None or str(fault.status) in fault.message:
        return fault.message
    return f"HTTP {fault.status}: {fault.message}"


_PASSING = frozenset({408, 425, 429})
"""Statuses of a transient refusal."""


def refuses(turn: Turn) -> bool:
    """Whether the server refused the request itself, with a 4xx that asking again would not change."""
    status = turn.exchange.status
    return status is not None and 400 <= status < 500 and status not in _PASSING


def calls_of(turn: Turn) -> tuple[CallJudgement, ...]:
    """Every call of the answer, judged against the tools that were offered."""
    return judge_calls(turn.exchange.request, turn.answer)


def valid_calls(turn: Turn, tool: str) -> list[CallJudgement]:
    """The calls of `tool` whose arguments satisfy its schema."""
    return [call for call in calls_of(turn) if call.known and call.call.name == tool and call.valid]


def arguments_of(call: CallJudgement) -> JsonObject:
    """The arguments of a call if they are an object."""
    parsed = call.judgement.arguments
    return parsed if isinstance(parsed, dict) else {}


def carries(call: CallJudgement, **wanted: str) -> bool:
    """Whether each named argument holds the wanted word or number; letter case and words around it do not matter."""
    given = arguments_of(call)
    return all(
        (says_number if word.isdecimal() else says_word)(str(given.get(name, "")), word)
        for name, word in wanted.items()
    )


def equals(call: CallJudgement, **wanted: object) -> bool:
    """Whether each named argument is exactly the wanted value."""
    given = arguments_of(call)
    return all(name in given and given[name] == value for name, value in wanted.items())


def mentions(turn: Turn, word: str) -> bool:
    """Whether the answer's text contains a word that cannot be guessed."""
    return says_word(turn.text, word)


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
    if not turn.text and declines(turn.exchange):
        return f"declines to answer instead of calling {tool}"
    if not turn.text:
        return f"answers with nothing instead of calling {tool}"
    return f"answers in words instead of calling {tool}"


def _shown(call: CallJudgement) -> str:
    return call.call.name if call.known else f"an unknown tool{f' (meant: {call.meant})' if call.meant else ''}"


def _bucket(call: CallJudgement) -> str:
    return f" ({', '.join(call.buckets)})" if call.buckets else ""
