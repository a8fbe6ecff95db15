"""The question of a load run, and the record of it: a call whose values no other request has."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import msgspec

from toolcert.core.cases import Case
from toolcert.core.exchanges import Exchange, OnAttempt
from toolcert.core.records import LoadFacts, LoadPhase, Record
from toolcert.core.requests import Request, tool, user
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.engine.interfaces import Session
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed
from toolcert.probes.oracle import arguments_of, judgeable, valid_calls, why_not_called
from toolcert.probes.refusal_pairs import RunRefusals
from toolcert.probes.run.live_conversation import ProbeSettings, ProbeWork

NAME = "load"
_UNITS = ("kelvin", "litre", "metre", "pascal")
_WORDS = ("amber", "bridge", "candle", "desert", "engine", "forest", "garden", "harbour", "island", "jacket", "lantern")
_REMARKS = 8
"""An answer long enough for many to be computed at the same time."""
LOG_READING = tool(
    "log_reading",
    "Log the reading of a station.",
    {
        "type": "object",
        "properties": {
            "station": {"type": "string", "description": "Code of the station, exactly as given."},
            "value": {"type": "integer"},
            "unit": {"type": "string", "enum": list(_UNITS)},
            "remarks": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["station", "value", "unit", "remarks"],
        "additionalProperties": False,
    },
)
_NONCE = re.compile(r"[A-Za-z]{7}-\d{4}", re.ASCII)


class NonceLedger:
    """Every nonce of a run with the request that carries it: an answer with another's is crosstalk."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}

    def enter(self, nonce: str, owner: str) -> None:
        """Note which request it belongs to before that is sent."""
        self._owners[nonce.lower()] = owner

    def foreign(self, text: str, own: str) -> tuple[str, str] | None:
        """The first nonce in the text that belongs to another request, and that request."""
        for found in _NONCE.findall(text):
            owner = self._owners.get(found.lower())
            if owner is not None and found.lower() != own.lower():
                return found, owner
        return None


class LoadQuestion(ScriptedProbe):
    """Asks for one call; every second question is streamed."""

    name = NAME
    group = "server"
    title = "Calls as well among many requests as alone"
    meaning = "What works in a test works under load."

    def __init__(self, ledger: NonceLedger, key: str) -> None:
        self._ledger = ledger
        self._key = key

    async def run(self, talk: Conversation) -> ProbeResult:
        wanted = _values(talk)
        station = str(wanted["station"])
        self._ledger.enter(station, self._key)
        stream = {"stream": True} if talk.iteration % 2 == 0 else {}
        turn = await judgeable(talk, await talk.ask([user(_words(wanted))], tools=[LOG_READING], **stream))
        if foreign := self._ledger.foreign(answer_text(turn), station):
            talk.report(
                finding("load.crosstalk", f"{foreign[0]} belongs to {foreign[1]}; asked for {station}", turn=turn.index)
            )
        calls = valid_calls(turn, "log_reading")
        if any(_same(arguments_of(call), wanted) for call in calls):
            return passed(called=True)
        return failed(why_not_called(turn, "log_reading"), called=bool(calls), wanted=wanted)


def _values(talk: Conversation) -> JsonObject:
    """What is to be called: a nonce, and values that the number of the question decides for both of a pair."""
    number = talk.iteration
    return {
        "station": f"{talk.nonce('station')}-{talk.number('station')}",
        "value": talk.number("value", low=100, high=99_999),
        "unit": _UNITS[number % len(_UNITS)],
        "remarks": [_WORDS[(number * 7 + place * 3) % len(_WORDS)] for place in range(_REMARKS)],
    }


def _words(wanted: JsonObject) -> str:
    remarks = ", ".join(f'"{word}"' for word in wanted["remarks"])
    return (
        f'Call log_reading with station "{wanted["station"]}", value {wanted["value"]}, unit "{wanted["unit"]}" '
        f"and remarks [{remarks}]."
    )


def _same(given: JsonObject, wanted: JsonObject) -> bool:
    return all(_plain(given.get(name)) == _plain(value) for name, value in wanted.items())


def _plain(value: Any) -> Any:
    """A value without what a model is allowed to change: space around a text."""
    if isinstance(value, str):
        return value.strip()
    return [_plain(one) for one in value] if isinstance(value, list) else value


def answer_text(turn: Turn) -> str:
    """All that the answer says: calls, text and reasoning."""
    reply = turn.answer
    called = (f"{call.name} {call.arguments}" for call in reply.tool_calls)
    return " ".join((*called, reply.content or "", reply.reasoning or ""))


def case_key(endpoint: str, model: str, phase: LoadPhase, level: int, number: int) -> str:
    """Identifies a request of a load run: the two of a pair differ in their level alone."""
    return f"{endpoint}/{model}/{phase.value}/{level}/{number}"


class LevelSession:
    """A session in which as many requests are in flight as the level says, and the next is sent before one is judged.

    Without the latter the endpoint would see fewer than the level: one for each answer that waits to be judged.
    """

    def __init__(self, session: Session, places: asyncio.Semaphore) -> None:
        self._session = session
        self._places = places

    async def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Exchange:
        async with self._places:
            exchange = await self._session.ask(request, on_attempt=on_attempt)
        await asyncio.sleep(0)  # let the next request go out first
        return exchange

    async def models(self) -> list[ModelInfo]:
        return await self._session.models()


class LoadWork:
    """Performs the cases of a load run."""

    def __init__(self, settings: ProbeSettings) -> None:
        self._settings = settings
        self._places: dict[int, asyncio.Semaphore] = {}
        self._ledger = NonceLedger()
        self._refusals = RunRefusals()

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record:
        """Ask, judge, and say where the request belongs."""
        began, level = time.time(), case.extra["level"]
        places = self._places.setdefault(level, asyncio.Semaphore(level))
        label = f"request {case.iteration} at {level} at a time"
        question = LoadQuestion(self._ledger, label)
        work = ProbeWork(self._settings, own=[question], refusals=self._refusals)
        record = await work.perform(case, LevelSession(session, places), on_attempt)
        facts = LoadFacts(
            phase=LoadPhase(case.extra["phase"]),
            level=level,
            number=case.iteration or 0,
            began=began,
        )
        return msgspec.structs.replace(record, load=facts)
