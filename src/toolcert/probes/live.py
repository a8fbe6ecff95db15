"""The conversation of one case: sends, reads, examines, and keeps what the record needs."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding
from toolcert.core.replies import Reply
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import examine
from toolcert.engine.plan import OnAttempt, Session
from toolcert.probes.base import Turn
from toolcert.wire.reading import read_reply

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


class ProbeSettings(Value):
    """What shapes every request of a probe run."""

    max_tokens: int = 1024
    """An answer cut at this limit measures nothing, so it is generous; probes ask for short answers."""
    parameters: JsonObject = {}
    """More fields for every request, such as temperature; what a probe itself sets wins."""
    seed: str = ""
    """Goes into every nonce: with another seed a run asks anew, and no cache on the way knows the answers."""


class LiveConversation:
    """Talks to one model in one iteration of one probe."""

    def __init__(self, case: Case, session: Session, on_attempt: OnAttempt, settings: ProbeSettings) -> None:
        self.model = case.model
        self.iteration = case.iteration or 0
        self.turns: list[Turn] = []
        self.controls: set[int] = set()
        self.reported: list[Finding] = []
        self.listings = 0
        self._key = case.key
        self._session = session
        self._on_attempt = on_attempt
        self._settings = settings

    def nonce(self, label: str = "") -> str:
        """A pronounceable word: weak models copy those without a slip."""
        digits = iter(self._digest(f"word/{label}"))
        pattern = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)
        return "".join(letters[next(digits) % len(letters)] for letters in pattern).capitalize()

    def number(self, label: str = "", *, low: int = 1000, high: int = 9999) -> int:
        """A number no model can guess, the same whenever this case is repeated."""
        return low + int.from_bytes(self._digest(f"number/{label}")[:8], "big") % (high - low + 1)

    async def ask(self, messages: list[JsonObject], **parameters: Any) -> Turn:
        """Send one request and examine the answer."""
        exchange = await self._session.ask(self._request(messages, parameters), on_attempt=self._on_attempt)
        reply = None if exchange.fault is not None else read_reply(exchange)
        turn = Turn(
            exchange=exchange,
            reply=reply,
            findings=self._examined(exchange, reply),
            index=len(self.turns),
        )
        self.turns.append(turn)
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
