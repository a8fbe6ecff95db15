"""When a refusal counts: the feature and its control are asked in turn, and chance must not explain the failures."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from toolcert.core.exchanges import FaultKind
from toolcert.core.values import Value
from toolcert.probes.base import Conversation, Turn

REFUSALS = (FaultKind.REJECTED, FaultKind.SERVER_ERROR, FaultKind.UNSUPPORTED)
"""Faults that the feature may have caused; requests without it decide."""
PAIRS = 5
"""Pairs in which the feature must fail every time."""
MOST_PAIRS = 24
"""If this many pairs cannot distinguish a refusal from chance, nothing is reported."""
RISK = 0.001
"""Probability of one wrongly reported refusal in a run: it is divided by the features asked for at the endpoint."""
_FEWEST_FEATURES = 50
"""What a suite asks for; a run that has only begun must not report a refusal more easily for that."""
_TRANSIENT = (FaultKind.RATE_LIMITED, FaultKind.TIMEOUT, FaultKind.RESET)
"""Faults that say nothing about the feature: the pair is asked again."""
_MOST_VOID = 5
_TRIES = 3
"""Control requests after which one that never works is taken to be refused itself."""
_MOST_TRIES = 8
_UNLIKELY = 0.02
"""A control that is refused with less probability by chance is refused itself."""

Sign: TypeAlias = int | FaultKind
"""What a failure is counted by: its HTTP status, or its kind if it has none."""
Ask: TypeAlias = Callable[[], Awaitable[Turn]]


def _sign(turn: Turn) -> Sign | None:
    fault = turn.fault
    if fault is None:
        return None
    return fault.kind if fault.status is None else fault.status


class Background:
    """How often requests end with which fault when no feature is to blame."""

    def __init__(self) -> None:
        self.features = 0
        """Features asked for: the more there are, the likelier one of them fails by chance."""
        self._requests = 0
        self._failed: Counter[Sign | None] = Counter()

    def count(self, sign: Sign | None, times: int = 1) -> None:
        """Add requests that ended this way (None: with an answer); a negative number takes them back."""
        self._requests += times
        if sign is not None:
            self._failed[sign] += times

    @property
    def answered(self) -> bool:
        """Whether any request was answered yet."""
        return self._requests > self._failed.total()

    def chance(self, sign: Sign | None, times: int) -> float:
        """The probability that this many requests with a suspected feature all end with this fault by chance alone.

        It is Fisher's exact test against the requests seen so far, so a few good ones are no proof that none fails.
        """
        chance = 1.0
        for place in range(1, times + 1):
            chance *= (self._failed[sign] + place) / (self._requests + place)
        return chance


class ModelRefusals:
    """What a run knows about refusals of one model; all its conversations share it."""

    def __init__(self, endpoint: Background) -> None:
        # One model's upstream may fail at random where the rest of the endpoint is healthy, and the other way round.
        self._endpoint = endpoint
        self._backgrounds = (Background(), endpoint)
        self._proven: dict[tuple[str, Sign | None], bool] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def answered(self) -> bool:
        """Whether the endpoint has answered any request."""
        return self._endpoint.answered

    def saw(self, turn: Turn, times: int = 1) -> None:
        """Count a request as one that no feature explains."""
        for background in self._backgrounds:
            background.count(_sign(turn), times)

    def set_aside(self, turn: Turn) -> None:
        """Take a request out of the background: it was meant to be refused, or its feature is suspected."""
        self.saw(turn, -1)

    def asks_feature(self) -> None:
        """Count a feature that is asked for, whatever the answer."""
        self._endpoint.features += 1

    def chance(self, sign: Sign | None, times: int) -> float:
        """How likely this many failures in a row are by chance."""
        return max(background.chance(sign, times) for background in self._backgrounds)

    def is_beyond_chance(self, sign: Sign | None, times: int) -> bool:
        """Whether chance does not explain this many failures in a row."""
        return self.chance(sign, times) < RISK / max(_FEWEST_FEATURES, self._endpoint.features)

    def is_proven(self, feature: str, turn: Turn) -> bool:
        """Whether pairs have shown before that this feature is refused in this way."""
        return (_named(feature, turn), _sign(turn)) in self._proven

    def is_about_feature(self, feature: str, turn: Turn) -> bool:
        """Whether a proven refusal comes from the feature alone, and not from the words beside it."""
        return self._proven[_named(feature, turn), _sign(turn)]

    def prove(self, feature: str, turn: Turn, *, about_feature: bool = True) -> None:
        """Remember that the feature is refused in this way: later iterations ask for a control only."""
        self._proven[_named(feature, turn), _sign(turn)] = about_feature

    def lock(self, feature: str) -> asyncio.Lock:
        """Held while pairs are asked: iterations that run at the same time wait for what they show."""
        return self._locks[feature]


def _named(feature: str, turn: Turn) -> str:
    """The feature apart from the same one in streams, for which servers have code of their own."""
    return f"{feature}, streamed" if turn.exchange.request.body.get("stream") else feature


class RunRefusals:
    """The refusals of a run, by endpoint and model."""

    def __init__(self) -> None:
        self._endpoints: defaultdict[str, Background] = defaultdict(Background)
        self._models: dict[tuple[str, str], ModelRefusals] = {}

    def of(self, endpoint: str, model: str) -> ModelRefusals:
        """What is known about one model."""
        if (endpoint, model) not in self._models:
            self._models[endpoint, model] = ModelRefusals(self._endpoints[endpoint])
        return self._models[endpoint, model]


class Trial(Value):
    """What the pairs have shown."""

    refused: bool
    """The feature fails every time, its control works, and chance does not explain it."""
    turn: Turn
    """A request with the feature: one that was refused in this way, or the last one, which may have been answered."""
    about_feature: bool = True
    """The refusal does not come from something else in this one request."""


def is_refusal(turn: Turn) -> bool:
    """Whether the request may have been refused for a feature of it."""
    return turn.fault is not None and turn.fault.kind in REFUSALS


def is_server_error(turn: Turn) -> bool:
    """Whether the server answered with an error of its own."""
    return turn.fault is not None and turn.fault.kind is FaultKind.SERVER_ERROR


async def works_once(talk: Conversation, ask: Ask) -> bool:
    """Whether a request works; it is asked again until chance does not explain that it never does."""
    failed: list[Turn] = []
    while len(failed) < _MOST_TRIES:
        turn = await ask()
        if _works(turn):
            for unlucky in failed:
                talk.refusals.saw(unlucky)
            return True
        talk.refusals.set_aside(turn)
        failed.append(turn)
        if is_refusal(turn) and talk.refusals.chance(_sign(turn), len(failed)) < RISK:
            return False
    return False


async def try_pairs(
    talk: Conversation,
    first: Turn,
    feature: str,
    control: Ask,
    *,
    fails: Callable[[Turn], bool] = is_refusal,
    exonerates: Callable[[], Awaitable[bool]] | None = None,
    judged: bool = True,
    lasting: bool = True,
    same_words: bool = False,
) -> Trial:
    """Ask for the feature and its control in turn, after the request `first` was refused.

    `fails` says what counts as a failure of the feature. `exonerates` is asked at the end, whether something else in
    the request explains the refusal. With `judged` an answer to the repeated request may be judged. A `lasting` refusal
    is remembered: where other requests meet it, one control that works will do. With `same_words`
    this holds also where something else in the request explains the refusal: others have it as well.
    """
    refusals = talk.refusals
    refusals.set_aside(first)
    async with refusals.lock(_named(feature, first)):
        if refusals.is_proven(feature, first):
            about_feature = refusals.is_about_feature(feature, first)
            return Trial(refused=await works_once(talk, control), turn=first, about_feature=about_feature)
        pairs = _Pairs(talk, first, feature, control, fails, judged=judged)
        refused = await pairs.ask()
        about_feature = refused and (exonerates is None or not await exonerates())
        if lasting and (about_feature or (refused and same_words)):
            refusals.prove(feature, pairs.usual, about_feature=about_feature)
        return Trial(refused=refused, turn=pairs.usual if refused else pairs.last, about_feature=about_feature)


class _Pairs:
    """The pairs of one trial."""

    def __init__(
        self,
        talk: Conversation,
        first: Turn,
        feature: str,
        control: Ask,
        fails: Callable[[Turn], bool],
        *,
        judged: bool,
    ) -> None:
        self.last = first
        self._talk = talk
        self._refusals = talk.refusals
        self._feature = feature
        self._control = control
        self._fails = fails
        self._judged = judged
        self._failed = [first]
        """Requests with the feature that were refused, set aside from the background like `_broken`."""
        self._broken: list[Turn] = []
        """Control requests that were refused before any has worked."""
        self._worked = self._void = 0

    @property
    def usual(self) -> Turn:
        """A request that was refused as most were: another fault among them may have come by chance."""
        signs = Counter(_sign(turn) for turn in self._failed)
        return max(self._failed, key=lambda turn: signs[_sign(turn)])

    async def ask(self) -> bool:
        """Whether the feature is refused; `last` is the last request with it."""
        proven = False
        while not proven and await self._control_works() and await self._fails_again():
            proven = self._is_proven()
        self._count_controls()
        if not self._fails(self.last):
            # It was bad luck: it counts as such from now on, and stays in the record as a note without consequences.
            for turn in self._failed:
                self._refusals.saw(turn)
            for found in self._failed[0].findings:
                self._talk.report(found)
        return proven

    async def _control_works(self) -> bool:
        """Ask without the feature; whether another pair is worth it."""
        if len(self._failed) > MOST_PAIRS or self._void > _MOST_VOID:
            return False
        turn = await self._control()
        if _works(turn):
            self._worked += 1
            self._count_controls()
        elif _is_transient(turn):
            self._void += 1
        elif turn.fault is None:
            return False
        elif not self._worked:
            self._refusals.set_aside(turn)
            self._broken.append(turn)
        return not self._broken or not self._is_refused_too()

    def _count_controls(self) -> None:
        """Put the controls that failed into the background, where no feature is to blame for them."""
        for turn in self._broken:
            self._refusals.saw(turn)
        self._broken.clear()

    def _is_refused_too(self) -> bool:
        """Whether the control is refused itself, and not by chance."""
        if not self._refusals.answered or len(self._broken) >= _TRIES:
            return True
        return self._refusals.chance(_sign(self._broken[-1]), len(self._broken)) < _UNLIKELY

    async def _fails_again(self) -> bool:
        """Ask with the feature; False if it does not fail in this way this time."""
        body = self._failed[0].exchange.request.body
        turn = await (self._talk.ask if self._judged else self._talk.control)(**body)
        if _is_transient(turn):
            self._void += 1
            return True
        self.last = turn
        if not self._fails(turn):
            return False
        self._refusals.set_aside(turn)
        self._failed.append(turn)
        return True

    def _is_proven(self) -> bool:
        usual = self.usual
        # The first refusal led to the trial, so it is no evidence in it.
        times = sum(_sign(turn) == _sign(usual) for turn in self._failed[1:])
        if times and self._worked and self._refusals.is_proven(self._feature, usual):
            return True
        return min(times, self._worked) >= PAIRS and self._refusals.is_beyond_chance(_sign(usual), times)


def _works(turn: Turn) -> bool:
    return turn.reply is not None and turn.reply.readable


def _is_transient(turn: Turn) -> bool:
    return turn.fault is not None and turn.fault.kind in _TRANSIENT
