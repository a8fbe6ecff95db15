"""Compare the newest run of a model with its last good run: an exact test over the probes.

If nothing changed, the passes of the newest run in a probe are a random draw from the passes of both runs (a
hypergeometric variable), and the draws of all probes add up. With one try per probe this is McNemar's exact test.
A probe that one of the runs did not measure is left out, so an outage cannot look like a regression of the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

import msgspec

from toolcert.core.statistics.p_values import holm
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.history.daily_status import Day, DayStatus, ModelHistory
from toolcert.history.observation import Observation
from toolcert.history.store import HistoryStore

Target = tuple[str, str]


class Standing(StrEnum):
    """How the newest run compares with the last good one."""

    WORSE = "worse"
    NOT_SHOWN = "no loss shown"
    NOT_MEASURED = "not measured"
    """The newest run measured nothing, so it says nothing about the model."""


class AgainstLastGood(Value):
    """The newest and the last good run of one model."""

    endpoint: str
    model: str
    day: str
    good_day: str
    standing: Standing
    before: Rate = Rate()
    after: Rate = Rate()
    """Passed tries, in the probes that both runs measured."""
    probes: int = 0
    p: float = 1.0
    """One-sided p-value, adjusted over all models by Holm's method."""


class _Pair(Value):
    """The two days of one model that are compared."""

    endpoint: str
    model: str
    new: Day
    good: Day


def against_last_good(
    store: HistoryStore, histories: Iterable[ModelHistory], last: str, budget: float
) -> list[AgainstLastGood]:
    """Compare every model that was tested on the last day and worked before; the clearest losses come first."""
    pairs = [pair for history in histories if (pair := _pair(history, last)) is not None]
    runs = {day.run for pair in pairs for day in (pair.new, pair.good)}
    seen: dict[tuple[str, Target], list[Observation]] = {}
    for one in store.observations(runs=runs, models={pair.model for pair in pairs}) if pairs else ():
        seen.setdefault((one.run, (one.endpoint, one.model)), []).append(one)
    compared = [_compare(pair, seen) for pair in pairs]
    adjusted = holm([one.p for one in compared])
    judged = [_judged(one, p, budget) for one, p in zip(compared, adjusted, strict=True)]
    return sorted(judged, key=lambda one: (list(Standing).index(one.standing), one.p, one.model))


def _pair(history: ModelHistory, last: str) -> _Pair | None:
    tested = [day for day in history.days if day.status is not DayStatus.NOT_TESTED]
    good = next((day for day in reversed(tested[:-1]) if day.status is DayStatus.WORKING), None)
    if good is None or tested[-1].day != last:
        return None
    return _Pair(endpoint=history.endpoint, model=history.model, new=tested[-1], good=good)


def _compare(pair: _Pair, seen: Mapping[tuple[str, Target], Sequence[Observation]]) -> AgainstLastGood:
    target = (pair.endpoint, pair.model)
    tables = list(_tables(seen.get((pair.good.run, target), ()), seen.get((pair.new.run, target), ())))
    return AgainstLastGood(
        endpoint=pair.endpoint,
        model=pair.model,
        day=pair.new.day,
        good_day=pair.good.day,
        standing=Standing.NOT_SHOWN if tables else Standing.NOT_MEASURED,
        before=sum((before for before, _ in tables), Rate()),
        after=sum((after for _, after in tables), Rate()),
        probes=len(tables),
        p=loss_p(tables),
    )


def _tables(before: Iterable[Observation], after: Iterable[Observation]) -> Iterator[tuple[Rate, Rate]]:
    """The passes of the probes that both runs measured."""
    old = {one.probe: one for one in before if one.measured}
    for one in after:
        if one.measured and one.probe in old:
            good = old[one.probe]
            yield Rate(k=good.passed, n=good.measured), Rate(k=one.passed, n=one.measured)


def loss_p(tables: Iterable[tuple[Rate, Rate]]) -> float:
    """Probability that the second run passes at most this many tries if nothing changed."""
    every = list(tables)
    return min(1.0, math.fsum(passes_if_unchanged(every)[: sum(after.k for _, after in every) + 1]))


def passes_if_unchanged(tables: Iterable[tuple[Rate, Rate]]) -> list[float]:
    """The distribution of the number of tries that the second run passes if nothing changed."""
    distribution = [1.0]
    for before, after in tables:
        distribution = _sum_of(distribution, _draws(before.k + after.k, before.n + after.n, after.n))
    return distribution


@lru_cache(maxsize=4096)  # probes are tried a few times each, so that few tables occur, each of them thousands of times
def _draws(passes: int, tries: int, drawn: int) -> list[float]:
    """The hypergeometric distribution: passes among `drawn` of all tries."""
    whole = math.comb(tries, drawn)
    return [math.comb(passes, k) * math.comb(tries - passes, drawn - k) / whole for k in range(drawn + 1)]


def _sum_of(first: Sequence[float], second: Sequence[float]) -> list[float]:
    total = [0.0] * (len(first) + len(second) - 1)
    for shift, weight in enumerate(first):
        if weight:
            for place, chance in enumerate(second, shift):
                total[place] += weight * chance
    return total


def _judged(one: AgainstLastGood, p: float, budget: float) -> AgainstLastGood:
    worse = one.standing is Standing.NOT_SHOWN and p <= budget
    return msgspec.structs.replace(one, p=p, standing=Standing.WORSE if worse else one.standing)
