"""Streamed twins of other probes: the same question and oracle, with every answer streamed."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.findings import Finding
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject
from toolcert.probes.base import (
    Concluded,
    Conversation,
    Probe,
    ProbeResult,
    Turn,
    find_probe,
    not_applicable,
    not_measured,
    register,
)
from toolcert.probes.catalogue.streamed_call import STREAM, lost_arguments
from toolcert.probes.oracle import Feature, unless_refused
from toolcert.probes.refusal_pairs import is_server_error


class _Streaming:
    """The conversation of a case, with every answer streamed."""

    def __init__(self, talk: Conversation, *features: Feature) -> None:
        """`features` are what may turn out to be refused in streams alone."""
        self.model, self.iteration = talk.model, talk.iteration
        self.nonce, self.number = talk.nonce, talk.number
        self.refusals = talk.refusals
        self.in_one_piece = False
        """Whether an answer came that was no stream."""
        self.turns: list[Turn] = []
        self._talk = talk
        self._features = features

    async def ask(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send one request, streamed."""
        turn = await self._talk.ask(messages, **({"stream": True} | parameters))
        for feature in self._features:
            # No answer of a server that breaks is wanted, so the stream is suspected before what the probe asks for.
            if self.refusals.is_proven(feature.what, turn) or (feature is not STREAM and is_server_error(turn)):
                turn = await unless_refused(self._talk, turn, feature)
        self.turns.append(turn)
        self.in_one_piece |= turn.fault is None and not turn.exchange.event_stream
        return turn

    async def control(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send a request for comparison, streamed as well: only the feature in question is left out."""
        return await self._talk.control(messages, **({"stream": True} | parameters))

    def report(self, finding: Finding) -> None:
        """Keep a finding that does not end the conversation."""
        self._talk.report(finding)

    async def models(self) -> list[ModelInfo]:
        """The models the endpoint lists."""
        return await self._talk.models()


class _Plain(_Streaming):
    """The same conversation again without streams, for comparison only."""

    async def ask(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send one request whose answer is not judged."""
        return await self._talk.control(messages, **parameters)

    control = ask

    def report(self, finding: Finding) -> None:
        """Forget a finding: the plain probe has its own."""


class StreamedTwin:
    """Asks what another probe asks, streamed; only what fails in streams alone is its failure."""

    group = "streamed"

    def __init__(self, plain: str, order: int) -> None:
        self.name = f"streamed_{plain}"
        self.needs = (plain,)
        self.order = order

    @property
    def _plain(self) -> Probe:
        """Found when it is asked for: probes are registered in any order."""
        return find_probe(self.needs[0])

    @property
    def title(self) -> str:
        return f"{self._plain.title}, streamed"

    @property
    def meaning(self) -> str:
        return f"The same in a stream. {self._plain.meaning}"

    @property
    def requests(self) -> int:
        return self._plain.requests

    @property
    def may_be_cut(self) -> bool:
        return self._plain.may_be_cut

    async def run(self, talk: Conversation) -> ProbeResult:
        feature = Feature(what=f"{self.needs[0]} in a stream", without=STREAM.without, same_words=True)
        streaming = _Streaming(talk, STREAM, feature)
        result = await _held(self._plain, streaming)
        if streaming.in_one_piece:
            return not_applicable("answers in one piece although a stream was asked for", called=result.called)
        if result.outcome is Outcome.NOT_MEASURED and streaming.turns:
            return await _refused_streamed(talk, streaming.turns[-1], feature, otherwise=result)
        if result.outcome is not Outcome.FAILED:
            return result
        # The control: a model that fails in one piece as well does not fail because of the stream.
        control = await _held(self._plain, _Plain(talk))
        if control.outcome is Outcome.PASSED:
            return msgspec.structs.replace(result, findings=(*result.findings, *lost_arguments(streaming.turns)))
        if control.outcome is Outcome.NOT_MEASURED:
            return not_measured(f"the same without a stream: {control.reason}", called=result.called)
        return not_applicable("fails without a stream as well", called=result.called)


async def _refused_streamed(talk: Conversation, turn: Turn, feature: Feature, otherwise: ProbeResult) -> ProbeResult:
    """What is refused in streams alone: the probe's own control is streamed as well, and may be refused alike."""
    try:
        await unless_refused(talk, turn, feature)
    except Concluded as conclusion:
        return conclusion.result
    return otherwise


async def _held(probe: Probe, talk: Conversation) -> ProbeResult:
    try:
        return await probe.run(talk)
    except Concluded as conclusion:
        return conclusion.result


TWINS = (
    "result_use",
    "multi_tool",
    "parallel",
    "multi_step",
    "irrelevance",
    "missing_info",
    "choice_required",
    "choice_named",
    "choice_none",
    "parallel_off",
    "max_tokens_cut",
    "unicode_args",
    "long_args",
    "zero_params",
    "schema_ladder",
    "strict",
    "many_tools",
    "json_object",
    "json_schema",
    "tool_error",
    "empty_result",
    "swapped_results",
    "injected_result",
    "null_content",
    "foreign_ids",
    "wrong_id",
    "malformed_history",
    "reasoning_back",
)
"""Not those that are decided before a stream begins: the length of names, the bytes of schemas, `tool_choice auto`."""
for _place, _name in enumerate(TWINS, start=1):
    register(StreamedTwin(_name, 10 * _place))
