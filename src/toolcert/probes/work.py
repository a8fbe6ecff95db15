"""How one probe case is done; a worker needs nothing but these settings."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Detail, ProbeFacts, Record
from toolcert.diagnose import in_order
from toolcert.engine.plan import OnAttempt, Session
from toolcert.probes.base import Concluded, Probe, ProbeResult, Turn
from toolcert.probes.fingerprints import changed_within, fingerprints_of
from toolcert.probes.live import LiveConversation, ProbeSettings
from toolcert.probes.registry import find_probe
from toolcert.wire.retry import is_retried


class ProbeWork:
    """Performs probe cases; own probes (scenarios) are given, all others found by name."""

    def __init__(self, settings: ProbeSettings | None = None, own: Iterable[Probe] = ()) -> None:
        self._settings = settings or ProbeSettings()
        self._own = {probe.name: probe for probe in own}

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record:
        """Hold the conversation and judge it. An exception in here is our bug and is not caught."""
        name = case.probe or ""
        probe = self._own.get(name) or find_probe(name)
        talk = LiveConversation(case, session, on_attempt, self._settings)
        try:
            result = await probe.run(talk)
        except Concluded as conclusion:
            result = conclusion.result
        if not probe.may_be_cut:
            result = _unless_cut(result, talk.judged)
        return _record(case, talk, result)


def _unless_cut(result: ProbeResult, turns: list[Turn]) -> ProbeResult:
    """A failure in an answer that our own token limit cut says nothing about the model."""
    cut = turns and turns[-1].reply is not None and turns[-1].reply.finish_reason == "length"
    if result.outcome is not Outcome.FAILED or not cut:
        return result
    limit = turns[-1].exchange.request.body.get("max_tokens")
    return msgspec.structs.replace(
        result,
        outcome=Outcome.NOT_MEASURED,
        reason=f"the answer was cut at the probe's own limit of {limit} tokens",
        called=result.called or None,
        handled=None,
    )


def _record(case: Case, talk: LiveConversation, result: ProbeResult) -> Record:
    findings = _collected(talk, result)
    return Record(
        case=case.key,
        endpoint=case.endpoint,
        model=case.model,
        outcome=result.outcome,
        reason=result.reason,
        codes=tuple(dict.fromkeys(found.code for found in findings)),
        at=time.time(),
        probe=_facts(case, talk, result),
        detail=Detail(findings=findings, exchanges=tuple(turn.exchange for turn in talk.turns), figures=result.detail),
    )


def _collected(talk: LiveConversation, result: ProbeResult) -> tuple[Finding, ...]:
    """What the turns and the probe found; a refusal is a finding of its own only where nothing explained it."""
    turns = [turn for turn in talk.judged if turn.fault is None]
    if result.outcome is Outcome.NOT_MEASURED and talk.turns and talk.turns[-1].fault is not None:
        turns.append(talk.turns[-1])
    seen = [found for turn in turns for found in turn.findings]
    return in_order([*seen, *talk.reported, *result.findings, *changed_within(talk.turns)])


def _facts(case: Case, talk: LiveConversation, result: ProbeResult) -> ProbeFacts:
    exchanges = [turn.exchange for turn in talk.turns]
    return ProbeFacts(
        probe=case.probe or "",
        iteration=case.iteration or 0,
        called=result.called,
        handled=result.handled,
        seconds=tuple(turn.exchange.seconds or 0.0 for turn in talk.judged if turn.exchange.fault is None),
        first_token=_first_token(talk.judged),
        retried=any(_retried(exchange) for exchange in exchanges),
        requests=talk.listings + sum(_sent(exchange) for exchange in exchanges),
        tokens_in=_tokens(talk.turns, "prompt_tokens"),
        tokens_out=_tokens(talk.turns, "completion_tokens"),
        fingerprints=fingerprints_of(talk.turns),
    )


def _retried(exchange: Exchange) -> bool:
    """Whether chance had a second chance; a refused parameter left out or a renewed token is none."""
    return any(is_retried(attempt.number, attempt.status, attempt.fault) for attempt in exchange.attempts[:-1])


def _sent(exchange: Exchange) -> int:
    return max(1, len(exchange.attempts))


def _first_token(turns: list[Turn]) -> float | None:
    """Of the first streamed answer; an answer in one piece has no first token apart from its end."""
    for turn in turns:
        if turn.exchange.event_stream and turn.exchange.attempts:
            return turn.exchange.last.timing.first_token
    return None


def _tokens(turns: list[Turn], field: str) -> int:
    counts = [turn.reply.usage.get(field) for turn in turns if turn.reply is not None and turn.reply.usage]
    return sum(count for count in counts if isinstance(count, int) and count > 0)
