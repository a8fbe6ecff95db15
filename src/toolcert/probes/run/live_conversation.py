"""One probe case: the conversation with the model over the network, and the record of it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from toolcert.core.cases import Case, Outcome
from toolcert.core.errors import ToolcertError
from toolcert.core.exchanges import Exchange, OnAttempt, Reply
from toolcert.core.findings import Finding, codes_of
from toolcert.core.records import Detail, ProbeFacts, Record
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import examine, in_order
from toolcert.engine.interfaces import Session, Unjudged
from toolcert.engine.local import BudgetSpent
from toolcert.http.retry import is_retried
from toolcert.probes.base import Concluded, Probe, ProbeResult, Turn, find_probe
from toolcert.probes.refusal_pairs import ModelRefusals, RunRefusals
from toolcert.probes.run.fingerprint import changed_within, fingerprints_of
from toolcert.protocol.reply import read_reply

_CUT_BY_ITSELF = {"finish.length_false", "json.whitespace"}
"""Findings about an end with `length` that a higher limit would not change."""
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


class ProbeSettings(Value):
    """What shapes every request of a probe run."""

    max_tokens: int = 1024
    """An answer cut at this limit measures nothing, so it is generous; probes ask for short answers."""
    parameters: JsonObject = {}
    """More fields for every request, such as temperature; what a probe itself sets takes precedence."""
    seed: str = ""
    """Goes into every nonce: with another seed all values are new, and no cache on the way knows the answers."""


class LiveConversation:
    """Talks to one model in one iteration of one probe."""

    def __init__(
        self, case: Case, session: Session, on_attempt: OnAttempt, settings: ProbeSettings, refusals: ModelRefusals
    ) -> None:
        self.model = case.model
        self.iteration = case.iteration or 0
        self.refusals = refusals
        self.turns: list[Turn] = []
        self.exchanges: list[Exchange] = []
        self.controls: set[int] = set()
        self.reported: list[Finding] = []
        self.listings = 0
        self._key = case.key
        self._session = session
        self._on_attempt = on_attempt
        self._settings = settings

    def nonce(self, label: str = "") -> str:
        """A pronounceable word, because weak models copy those without errors."""
        digits = iter(self._digest(f"word/{label}"))
        pattern = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)
        return "".join(letters[next(digits) % len(letters)] for letters in pattern).capitalize()

    def number(self, label: str = "", *, low: int = 1000, high: int = 9999) -> int:
        """A number no model can guess, the same whenever this case is repeated."""
        return low + int.from_bytes(self._digest(f"number/{label}")[:8], "big") % (high - low + 1)

    async def ask(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send one request and examine the answer."""
        exchange = await self._session.ask(self._request(messages, parameters), on_attempt=self._on_attempt)
        self.exchanges.append(exchange)  # before it is read, which an unforeseen answer may break
        reply = None if exchange.fault is not None else read_reply(exchange)
        turn = Turn(
            exchange=exchange,
            reply=reply,
            findings=self._examined(exchange, reply),
            index=len(self.turns),
        )
        self.turns.append(turn)
        self.refusals.saw(turn)
        return turn

    async def control(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send a request for comparison only."""
        turn = await self.ask(messages, **parameters)
        self.controls.add(turn.index)
        return turn

    def report(self, finding: Finding) -> None:
        """Keep a finding that does not end the conversation."""
        self.reported.append(finding)

    async def models(self) -> list[ModelInfo]:
        """The models the endpoint lists."""
        self.listings += 1
        return await self._session.models()

    @property
    def judged(self) -> list[Turn]:
        """The turns that count: all but the control requests."""
        return [turn for turn in self.turns if turn.index not in self.controls]

    def _request(self, messages: list[JsonObject], parameters: JsonObject) -> Request:
        body = {"model": self.model, "messages": messages, "max_tokens": self._settings.max_tokens}
        body |= self._settings.parameters | parameters
        if body.get("stream") is True:
            body.setdefault("stream_options", {"include_usage": True})
        return Request(body={key: value for key, value in body.items() if value is not None})

    def _examined(self, exchange: Exchange, reply: Reply | None) -> tuple[Finding, ...]:
        index = len(self.turns)
        return tuple(msgspec.structs.replace(found, turn=index) for found in examine(exchange, reply))

    def _digest(self, label: str) -> bytes:
        return hashlib.blake2b(f"{self._settings.seed}\0{self._key}\0{label}".encode(), digest_size=16).digest()


class ProbeWork:
    """Performs the probe cases of a run; own probes (scenarios) are given, all others found by name."""

    def __init__(
        self, settings: ProbeSettings | None = None, own: Iterable[Probe] = (), refusals: RunRefusals | None = None
    ) -> None:
        self._settings = settings or ProbeSettings()
        self._own = {probe.name: probe for probe in own}
        self._refusals = refusals or RunRefusals()

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record:
        """Hold the conversation and judge it."""
        name = case.probe or ""
        probe = self._own.get(name) or find_probe(name)
        refusals = self._refusals.of(case.endpoint, case.model)
        talk = LiveConversation(case, session, on_attempt, self._settings, refusals)
        try:
            try:
                result = await probe.run(talk)
            except Concluded as conclusion:
                result = conclusion.result
            return _record(case, talk, _unless_cut(result, talk.judged, may_be_cut=probe.may_be_cut))
        except (ToolcertError, BudgetSpent):
            raise
        except Exception as error:
            raise Unjudged(talk.exchanges) from error


def _unless_cut(result: ProbeResult, turns: list[Turn], *, may_be_cut: bool) -> ProbeResult:
    """A failure in an answer that our own token limit or a content filter ended says nothing about the model."""
    if result.outcome is not Outcome.FAILED or not turns or turns[-1].reply is None:
        return result
    found = {one.code for one in turns[-1].findings}
    if "finish.filtered" in found:
        reason = "a content filter ended the answer"
    elif turns[-1].reply.finish_reason == "length" and not may_be_cut and not found & _CUT_BY_ITSELF:
        limit = turns[-1].exchange.request.body.get("max_tokens")
        reason = f"the answer was cut at the probe's own limit of {limit} tokens"
    else:
        return result
    return msgspec.structs.replace(
        result, outcome=Outcome.NOT_MEASURED, reason=reason, called=result.called or None, handled=None
    )


def _record(case: Case, talk: LiveConversation, result: ProbeResult) -> Record:
    findings = _collected(talk, result)
    return Record(
        case=case.key,
        endpoint=case.endpoint,
        model=case.model,
        outcome=result.outcome,
        reason=result.reason,
        skip=result.skip,
        codes=codes_of(findings),
        at=time.time(),
        probe=_facts(case, talk, result),
        detail=Detail(findings=findings, exchanges=tuple(turn.exchange for turn in talk.turns), figures=result.detail),
    )


def _collected(talk: LiveConversation, result: ProbeResult) -> tuple[Finding, ...]:
    """What the turns and the probe found; a refusal is a finding of its own only if nothing explained it."""
    turns = [turn for turn in talk.judged if turn.fault is None]
    if result.outcome is Outcome.NOT_MEASURED:
        turns += [turn for turn in talk.turns if turn.fault is not None][-1:]
    seen = [found for turn in turns for found in turn.findings]
    return in_order([*seen, *talk.reported, *result.findings, *changed_within(talk.turns)])


def _facts(case: Case, talk: LiveConversation, result: ProbeResult) -> ProbeFacts:
    exchanges = [turn.exchange for turn in talk.turns]
    return ProbeFacts(
        probe=case.probe or "",
        iteration=case.iteration or 0,
        called=result.called,
        handled=result.handled,
        calls=sum(len(turn.reply.tool_calls) for turn in talk.judged if turn.reply is not None),
        seconds=tuple(turn.exchange.seconds or 0.0 for turn in talk.judged if turn.exchange.fault is None),
        first_token=_first_token(talk.judged),
        retried=any(_retried(exchange) for exchange in exchanges),
        requests=talk.listings + sum(_sent(exchange) for exchange in exchanges),
        tokens_in=_tokens(talk.turns, "prompt_tokens"),
        tokens_out=_tokens(talk.turns, "completion_tokens"),
        fingerprints=fingerprints_of(talk.turns),
    )


def _retried(exchange: Exchange) -> bool:
    """Whether a transient failure was repeated; leaving out a parameter or renewing a token does not count."""
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
