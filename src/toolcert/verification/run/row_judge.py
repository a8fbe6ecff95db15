"""Judges one row: form and expectation separately, and problems of the dataset apart from faults of the vendor."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from typing import Any, cast

import msgspec

from toolcert.core.cases import Case, Outcome, SkipKind
from toolcert.core.exchanges import CallsField, Exchange, FaultKind, Reply, ToolCall
from toolcert.core.findings import DATASET, LOST_CALLS, Finding, Severity, codes_of
from toolcert.core.records import Detail, Record, RowFacts
from toolcert.core.requests import Request, RequestKind, named_functions
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import CallJudgement, examine, in_order, judge_calls, kind_of
from toolcert.diagnose.checks.finish import is_filtered
from toolcert.diagnose.judgement import Offer
from toolcert.protocol.reply import read_reply
from toolcert.verification.adapters.base import ModelAdapter
from toolcert.verification.dataset.expectation import Expected, MadeCall, unmet
from toolcert.verification.dataset.lines import MAX_TOOLSETS
from toolcert.verification.digest import call_digest, id_style


class Row(Value):
    """A dataset row as it is asked of one target."""

    key: str
    endpoint: str
    model: str
    index: int
    content: str = ""
    sampling: str = ""
    tags: tuple[str, ...] = ()
    id: str | None = None
    expected: Any = None
    """As written in the dataset."""
    problems: tuple[Finding, ...] = ()
    """Problems of the dataset."""
    offered: tuple[str, ...] | None = None
    """Names of the offered tools, if known."""

    @property
    def expectation(self) -> Expected | None:
        return None if self.expected is None else msgspec.convert(self.expected, Expected)

    @classmethod
    def of_case(cls, case: Case) -> Row:
        """The row of a planned case."""
        extra = case.extra
        problems, offered = extra.get("problems", ()), extra.get("offered")
        return cls(
            key=case.key,
            endpoint=case.endpoint,
            model=case.model,
            index=case.index or 0,
            content=extra.get("content", ""),
            sampling=extra.get("sampling", ""),
            tags=tuple(extra.get("tags", ())),
            id=extra.get("id"),
            expected=extra.get("expected"),
            problems=msgspec.convert(problems, tuple[Finding, ...]) if problems else (),
            offered=None if offered is None else tuple(offered),
        )

    @classmethod
    def of_record(cls, record: Record, problems: tuple[Finding, ...]) -> Row:
        """The row behind an earlier record, to be judged again."""
        facts = record.row
        assert facts is not None
        return cls(
            key=record.case,
            endpoint=record.endpoint,
            model=record.model,
            index=facts.index,
            content=facts.content,
            sampling=facts.sampling,
            tags=facts.tags,
            id=facts.id,
            expected=record.detail.expected,
            problems=problems,
        )


def reply_of_completion(reply: Reply, adapter: ModelAdapter) -> Reply:
    """The answer with the calls from its text; the finish reason stays as the server sent it."""
    if not reply.readable or not reply.content:
        return reply
    found = adapter.extract_tool_calls_from_text(reply.content)
    if not found:
        return reply
    return msgspec.structs.replace(
        reply,
        content=adapter.text_before_calls(reply.content) or None,
        tool_calls=tuple(_call_in_text(call) for call in found),
        calls_field=CallsField.LIST,
    )


def _call_in_text(call: JsonObject) -> ToolCall:
    function: Any = call.get("function") or {}
    return ToolCall(
        id=call.get("id"),
        type=call.get("type"),
        name=function.get("name"),
        arguments=function.get("arguments"),
        index=call.get("index"),
        raw=call,
    )


MAX_OFFERED = 16
"""Names of offered tools kept per row; the whole list is in the request."""


class ExpectationCheck(Value):
    """Whether an answer meets the expectation of its row."""

    wanted: bool | None = None
    correct: bool | None = None
    missed: str = ""


_NOTHING_EXPECTED = ExpectationCheck()


class RowJudge:
    """Judges rows of one adapter; rows that share their tools share the compiled schemas."""

    def __init__(self, adapter: ModelAdapter) -> None:
        self._adapter = adapter
        self._offers: dict[int, tuple[list[Any], Offer]] = {}

    def judge(self, row: Row, exchange: Exchange, *, at: float | None = None) -> Record:
        """The record of a row that was asked."""
        return all_steps(self.steps(row, exchange, at=at))

    def steps(self, row: Row, exchange: Exchange, *, at: float | None = None) -> Generator[None, None, Record]:
        """The same in steps of about equal length."""
        at = time.time() if at is None else at
        if exchange.fault is not None:
            return _not_answered(row, exchange, at)
        reply = read_answer(exchange, self._adapter)
        calls = judge_calls(exchange.request, reply, self._offer(exchange.request)) if reply.tool_calls else ()
        yield
        findings = _merged(examine(exchange, reply, calls), row.problems)
        yield
        met = _compare_with_expected(row, reply, calls) if row.expected is not None else _NOTHING_EXPECTED
        outcome, reason = _verdict(findings, met.missed)
        if is_filtered(reply.finish_reason):
            outcome, reason = Outcome.NOT_MEASURED, "a content filter ended the answer"
        detail = Detail(findings=findings, exchanges=(exchange,), expected=row.expected)
        facts = _facts(row, exchange, reply, calls, met)
        if findings and not reply.called and (lost := _lost_tool(findings, exchange.request)):
            facts = msgspec.structs.replace(facts, lost=lost)
        return _record(row, facts, outcome, reason, detail=detail, at=at)

    def _offer(self, request: Request) -> Offer:
        """The compiled schemas of these tools; rows with the same tools share one list, so its identity is the key."""
        tools = request.tools
        known = self._offers.get(id(tools))
        if known is not None and known[0] is tools:
            return known[1]
        if len(self._offers) >= MAX_TOOLSETS:
            self._offers.clear()
        offer = Offer(request)
        self._offers[id(tools)] = (tools, offer)
        return offer


def all_steps(judge: Generator[None, None, Record]) -> Record:
    """What comes out in the end."""
    while True:
        try:
            next(judge)
        except StopIteration as finished:
            return cast(Record, finished.value)


def refuse_row(row: Row, *problems: Finding) -> Record:
    """The record of a line that cannot be asked, because of its own problems or of `problems`."""
    found = (*problems, *row.problems)
    reason = kind_of(found[0].code).title
    facts = RowFacts(index=row.index, content=row.content, attempts=0, tags=row.tags, id=row.id)
    detail = Detail(findings=found, expected=row.expected)
    record = _record(row, facts, Outcome.SKIPPED, reason, detail=detail, at=time.time())
    return msgspec.structs.replace(record, skip=SkipKind.BAD_ROW)


def _compare_with_expected(row: Row, reply: Reply, calls: tuple[CallJudgement, ...]) -> ExpectationCheck:
    expected = row.expectation
    if expected is None or not reply.readable:
        return _NOTHING_EXPECTED
    made = [MadeCall(name=call.call.name, arguments=call.judgement.arguments) for call in calls]
    missed = unmet(expected, made)
    return ExpectationCheck(wanted=expected.wants_call, correct=not missed, missed=missed)


def _not_answered(row: Row, exchange: Exchange, at: float) -> Record:
    assert exchange.fault is not None
    unsupported = exchange.fault.kind is FaultKind.UNSUPPORTED
    findings = _merged(examine(exchange, None), row.problems)
    facts = RowFacts(
        index=row.index,
        content=row.content,
        sampling=row.sampling,
        attempts=max(1, len(exchange.attempts)),
        tools=len(exchange.request.tools),
        offered=_offered(row, exchange.request),
        turns=_turns(exchange.request),
        streamed=exchange.request.stream,
        tags=row.tags,
        id=row.id,
    )
    # A call that the server could not read is an answer of the model's that it lost; other faults say nothing.
    lost = any(found.code == "call.server_error" for found in findings)
    outcome = Outcome.UNSUPPORTED if unsupported else Outcome.FAILED if lost else Outcome.NOT_MEASURED
    detail = Detail(findings=findings, exchanges=(exchange,), expected=row.expected)
    return _record(row, facts, outcome, exchange.fault.message, detail=detail, at=at)


def read_answer(exchange: Exchange, adapter: ModelAdapter) -> Reply:
    """The answer of a row; of a raw completion, with the calls read from its text."""
    reply = read_reply(exchange)
    if exchange.request.kind is RequestKind.COMPLETIONS:
        return reply_of_completion(reply, adapter)
    return reply


def _merged(found: tuple[Finding, ...], problems: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings of the vendor, and those of the dataset in the words of the dataset's reader."""
    if not problems:
        return found
    codes = {problem.code for problem in problems}
    return in_order([*problems, *(finding for finding in found if finding.code not in codes)])


def _verdict(findings: Iterable[Finding], missed: str) -> tuple[Outcome, str]:
    for finding in findings:
        ours = finding.because_of is not None or finding.code.startswith(DATASET)
        if finding.severity is Severity.ERROR and not ours:
            return Outcome.FAILED, f"{finding.code}: {finding.evidence}" if finding.evidence else finding.code
    return (Outcome.FAILED, missed) if missed else (Outcome.PASSED, "")


def _facts(
    row: Row, exchange: Exchange, reply: Reply, calls: tuple[CallJudgement, ...], met: ExpectationCheck
) -> RowFacts:
    usage, request, attempts = reply.usage or {}, exchange.request, exchange.attempts
    timing = attempts[-1].timing if attempts else None
    return RowFacts(
        index=row.index,
        content=row.content,
        sampling=row.sampling,
        called=reply.called if reply.readable else None,
        finish=reply.finish_reason,
        calls=tuple([_digest(call) for call in calls]),
        names=tuple([str(call.call.name) for call in calls]),
        valid=_all_valid(calls),
        verdicts=tuple([call.valid for call in calls]),
        wanted=met.wanted,
        correct=met.correct,
        buckets=calls[0].buckets if len(calls) == 1 else tuple([one for call in calls for one in call.buckets]),
        prompt_tokens=_whole(usage.get("prompt_tokens")),
        completion_tokens=_whole(usage.get("completion_tokens")),
        fingerprint=_text(reply.system_fingerprint),
        answered_as=_text(reply.model),
        id_style=id_style(calls[0].call.id) if calls else None,
        text_beside_call=bool(calls and reply.content),
        seconds=None if timing is None else timing.last_byte,
        first_token=None if timing is None else timing.first_token,
        attempts=len(attempts) or 1,
        tools=len(request.tools),
        offered=_offered(row, request) if row.offered is None else row.offered,
        turns=_turns(request),
        # A stream that another program put together was a stream; so was one that came as something unreadable.
        streamed=reply.streamed or (request.stream and (exchange.from_file or not reply.readable)),
        tags=row.tags,
        id=row.id,
    )


def _lost_tool(findings: Iterable[Finding], request: Request) -> str | None:
    """The tool of a call that was lost: the only one that was offered, or the first that the lost text names."""
    lost = [finding for finding in findings if finding.code in LOST_CALLS]
    names = [str(function["name"]) for function in named_functions(request.tools)] if lost else []
    if len(names) == 1:
        return names[0]
    named = [
        (place, -len(name), name)
        for finding in lost
        for name in names
        if name and (place := finding.evidence.find(name)) >= 0
    ]
    return min(named)[2] if named else None


def _offered(row: Row, request: Request) -> tuple[str, ...]:
    if row.offered is not None:
        return row.offered
    return tuple([function["name"] for function in named_functions(request.tools[:MAX_OFFERED])])


def _turns(request: Request) -> int:
    turns, messages = 0, request.body.get("messages")
    for message in messages if isinstance(messages, list) else ():  # a run that was changed may hold anything
        turns += isinstance(message, dict) and message.get("role") == "user"
    return turns


def _all_valid(calls: tuple[CallJudgement, ...]) -> bool | None:
    """False if any call is invalid; None without calls or without usable schemas."""
    if not calls:
        return None
    verdicts = [call.valid for call in calls]
    return False if False in verdicts else None if None in verdicts else True


def _digest(call: CallJudgement) -> str:
    parsed = call.judgement.arguments
    return call_digest(call.call.name, call.call.arguments if parsed is None else parsed)


def _record(row: Row, facts: RowFacts, outcome: Outcome, reason: str, *, detail: Detail, at: float) -> Record:
    return Record(
        case=row.key,
        endpoint=row.endpoint,
        model=row.model,
        outcome=outcome,
        reason=reason,
        codes=codes_of(detail.findings) if detail.findings else (),
        at=at,
        row=facts,
        detail=detail,
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
