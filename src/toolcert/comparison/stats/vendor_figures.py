"""The figures of one vendor: each with its interval, its noise ceiling and what trivial baselines would score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any, TypeVar

import msgspec

from toolcert.comparison.match.pairs import (
    Answer,
    Decisions,
    Pairing,
    Pattern,
    both_call,
    further_pairs,
    payload_rates,
    vendor_pairs,
)
from toolcert.comparison.read.packed_run import KeptAnswer, read_answer
from toolcert.comparison.result import Figure, TokenDifferences
from toolcert.comparison.stats.confusion import (
    METRICS,
    Confusion,
    always_calling,
    best_at_these_rates,
    calling_at_random,
    with_errors,
)
from toolcert.core.exchanges import ToolCall
from toolcert.core.statistics.p_values import binomial_point
from toolcert.core.statistics.rates import Interval, Rate, wilson
from toolcert.core.text.json_value import same_value
from toolcert.core.values import JsonObject, Value

T = TypeVar("T")


class _Call(Value):
    """A call with its parameters read; none where the arguments are not an object."""

    name: Any
    parameters: JsonObject


def same_parameters(first: Sequence[ToolCall], second: Sequence[ToolCall]) -> tuple[int, int]:
    """How many parameters have the same value on both sides, out of all that either side gives.

    Equal calls are paired, then calls of one name; the parameters of a call without a partner count as different.
    """
    same = total = 0
    for own, theirs in pair_up([*map(_read, first)], [*map(_read, second)], _equal, _named_alike):
        left, right = own.parameters if own else {}, theirs.parameters if theirs else {}
        total += len({*left, *right})
        same += sum(name in right and same_value(value, right[name]) for name, value in left.items())
    return same, total


def pair_up(first: Sequence[T], second: Sequence[T], *bonds: Callable[[T, T], bool]) -> list[tuple[T | None, T | None]]:
    """Members of both lists in pairs, best matches first and in order; None where no partner is left."""
    partners: dict[int, int] = {}
    free = list(range(len(second)))
    for bond in bonds:
        for place, one in enumerate(first):
            found = None if place in partners else next((at for at in free if bond(one, second[at])), None)
            if found is not None:
                partners[place] = found
                free.remove(found)
    pairs = [(one, second[partners[place]] if place in partners else None) for place, one in enumerate(first)]
    return [*pairs, *((None, second[at]) for at in free)]


def _read(call: ToolCall) -> _Call:
    value = call.arguments
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            value = None
    return _Call(name=call.name, parameters=value if isinstance(value, dict) else {})


def _equal(own: _Call, theirs: _Call) -> bool:
    return _named_alike(own, theirs) and same_value(own.parameters, theirs.parameters)


def _named_alike(own: _Call, theirs: _Call) -> bool:
    return bool(own.name == theirs.name)


RESAMPLES = 2000
_EXACT_MEAN = 200.0
"""Binomial draws with a smaller mean are exact; above, the normal distribution is indistinguishable."""
_MOST_DRAWS = 1_000_000
"""Bounds the time where very many prompts are repeated in different ways; still hundreds of resamples."""


def bootstrap(
    clusters: Sequence[tuple[Sequence[float], int]],
    figures: Callable[[Sequence[float]], Sequence[float | None]],
    *,
    confidence: float,
    seed: int,
) -> list[Interval | None]:
    """Percentile intervals of the figures computed from summed vectors; None for those that never exist.

    A cluster is a prompt's vector (its share of the sums) and how many prompts have the same one. Drawing
    as many prompts as there are, with replacement, is one multinomial draw over the distinct vectors.
    """
    rng = Random(seed)  # noqa: S311 - resampling, not secrecy
    total = sum(count for _, count in clusters)
    if not total:
        return [None] * len(figures([0.0] * 4))
    resamples = max(200, min(RESAMPLES, _MOST_DRAWS // len(clusters)))
    places = len(clusters[0][0])
    shares = [([(at, part) for at, part in enumerate(vector) if part], count) for vector, count in clusters]
    drawn = [figures(_resampled(shares, places, total, rng)) for _ in range(resamples)]
    return [
        _percentiles([value for value in values if value is not None], confidence)
        for values in zip(*drawn, strict=True)
    ]


def _resampled(
    shares: Sequence[tuple[Sequence[tuple[int, float]], int]], places: int, total: int, rng: Random
) -> list[float]:
    """The sums of one resample; a share is the parts of a vector that are not 0, with their places."""
    sums = [0.0] * places
    left, mass = total, total
    for share, count in shares:
        if not left:
            break
        times = left if count == mass else binomial(left, count / mass, rng)
        left -= times
        mass -= count
        if times:
            for place, part in share:
                sums[place] += times * part
    return sums


def binomial(n: int, p: float, rng: Random) -> int:
    """One draw of the number of successes in n trials."""
    if p > 0.5:
        return n - binomial(n, 1 - p, rng)
    mean = n * p
    if mean > _EXACT_MEAN:
        return min(n, max(0, round(rng.gauss(mean, math.sqrt(mean * (1 - p))))))
    # From the middle outwards: nearly all draws end within a few steps of it.
    low = high = middle = int(mean)
    below = above = binomial_point(middle, n, p) if mean else 1.0
    point, odds = rng.random() - above, p / (1 - p)
    while point > 0 and (above or below):
        above *= odds * (n - high) / (high + 1)
        high += 1
        point -= above
        if point <= 0:
            return high
        below *= low / (odds * (n - low + 1))
        low -= 1
        point -= below
        if point <= 0:
            return low
    return middle


def _percentiles(drawn: Sequence[float], confidence: float) -> Interval | None:
    values = sorted(drawn)
    if not values:
        return None
    tail = (1 - confidence) / 2
    return Interval(lower=_at(values, tail), upper=_at(values, 1 - tail))


def _at(values: Sequence[float], share: float) -> float:
    """The quantile by linear interpolation between order statistics."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


_ALL_UP_TO = 1000
"""At most this many rows are compared parameter by parameter; of more rows, a sample is."""
_SAMPLED = 150
_RESAMPLED = ("f1", "kappa", "mcc")


class Settings(Value):
    """What shapes the figures."""

    confidence: float
    seed: int


class _Measured(Value):
    """A figure of one side: its value with what is known about it."""

    value: float | None = None
    interval: Interval | None = None
    rate: Rate | None = None
    sampled: bool = False


def decision_figures(pairing: Pairing, decisions: Decisions, settings: Settings) -> list[Figure]:
    """Agreement, precision, recall, F1, kappa and MCC of the decision to call."""
    cells = decisions.cells(vendor_pairs(pairing))
    vendor = _measure_decision(pairing, decisions, cells, settings, others=lambda pattern: (pattern.vendor,))
    runs = len(pairing.others) - 1
    ceiling: dict[str, _Measured] = {}
    if runs:
        own = decisions.cells(further_pairs(pairing))
        ceiling = _measure_decision(
            pairing, decisions, own, settings, others=lambda pattern: pattern.further, runs=runs
        )
    always, blind, best = always_calling(cells), calling_at_random(cells), best_at_these_rates(cells)
    return [
        _figure(
            name,
            "decision",
            vendor[name],
            ceiling.get(name),
            always=metric(always),
            blind=metric(blind),
            best=metric(best),
        )
        for name, metric in METRICS.items()
    ]


def _measure_decision(
    pairing: Pairing,
    decisions: Decisions,
    cells: Confusion,
    settings: Settings,
    *,
    others: Callable[[Pattern], Iterable[Answer]],
    runs: int = 1,
) -> dict[str, _Measured]:
    """Proportions with Wilson intervals, the others resampled; several ceiling runs are resampled throughout."""
    rates = {
        "agreement": Rate(k=round(cells.tp + cells.tn), n=round(cells.n)),
        "precision": Rate(k=round(cells.tp), n=round(cells.tp + cells.fp)),
        "recall": Rate(k=round(cells.tp), n=round(cells.tp + cells.fn)),
    }
    resampled = [name for name in METRICS if runs > 1 or name in _RESAMPLED]
    metrics = [METRICS[name] for name in resampled]
    clusters = decisions.clusters(pairing, others)
    if cells.fp or cells.fn:
        intervals = bootstrap(clusters, _of_sums(metrics), confidence=settings.confidence, seed=settings.seed)
    else:
        prompts = sum(count for _, count in clusters)
        intervals = [_never_wrong(cells, prompts, metric, settings.confidence) for metric in metrics]
    found: dict[str, Interval | None] = dict(zip(resampled, intervals, strict=True))
    for name, rate in rates.items():
        found.setdefault(name, wilson(rate.k, rate.n, settings.confidence))
    return {
        name: _Measured(value=metric(cells), interval=found[name], rate=rates.get(name))
        for name, metric in METRICS.items()
    }


def _never_wrong(
    cells: Confusion, prompts: int, metric: Callable[[Confusion], float | None], confidence: float
) -> Interval | None:
    """The interval where no row differs: resampling would give no width, however few rows there are."""
    certain = wilson(prompts, prompts, confidence)
    value = metric(cells)
    if certain is None or value is None:
        return None
    lower = metric(with_errors(cells, 1 - certain.lower))
    return Interval(lower=value if lower is None else lower, upper=value)


def _of_sums(
    metrics: Sequence[Callable[[Confusion], float | None]],
) -> Callable[[Sequence[float]], list[float | None]]:
    def figures(sums: Sequence[float]) -> list[float | None]:
        cells = Confusion(tp=sums[0], fp=sums[1], fn=sums[2], tn=sums[3])
        return [metric(cells) for metric in metrics]

    return figures


def payload_figures(pairing: Pairing, settings: Settings) -> list[Figure]:
    """Names, number of calls, all arguments and single parameters on rows where both call."""
    vendor = payload_rates(vendor_pairs(pairing))
    ceiling = payload_rates(further_pairs(pairing)) if len(pairing.others) > 1 else {}
    figures = [
        _figure(name, "payload", _of_rate(rate, settings), _of_rate(ceiling[name], settings) if ceiling else None)
        for name, rate in vendor.items()
    ]
    own = _parameters(pairing, 0, settings)
    further = [_parameters(pairing, which, settings) for which in range(1, len(pairing.others))]
    pooled = _pooled(further, settings) if further else None
    return [*figures, _figure("parameters", "payload", own, pooled)]


def _parameters(pairing: Pairing, which: int, settings: Settings) -> _Measured:
    """Single parameters that agree, from the answers themselves; rows are sampled where there are many."""
    run, partners = pairing.others[which]

    def other(pattern: Pattern) -> Answer:
        return (pattern.vendor, *pattern.further)[which]

    def applies(pattern: Pattern) -> bool:
        return both_call(pattern.baseline, other(pattern))

    rows = pairing.count(applies)
    sampled = rows > _ALL_UP_TO
    places = pairing.places(applies)
    if sampled:
        places = _at_ranks(places, Random(settings.seed).sample(range(rows), _SAMPLED))  # noqa: S311 - sampling rows
    k = n = 0
    for place in places:
        own = read_answer(pairing.baseline, place)
        alike = other(pairing.patterns[pairing.ids[place]]).same_payload
        same, total = _same(own, own if alike else read_answer(run, partners[place]))
        k, n = k + same, n + total
    return msgspec.structs.replace(_of_rate(Rate(k=k, n=n), settings), sampled=sampled)


def _at_ranks(places: Iterator[int], ranks: Iterable[int]) -> Iterator[int]:
    """The places that stand at these ranks."""
    passed = 0
    for rank in sorted(ranks):
        yield from islice(places, rank - passed, rank - passed + 1)
        passed = rank + 1


def _same(own: KeptAnswer, theirs: KeptAnswer) -> tuple[int, int]:
    if own.reply is None or theirs.reply is None:
        return 0, 0
    return same_parameters(own.reply.tool_calls, theirs.reply.tool_calls)


def _pooled(measured: list[_Measured], settings: Settings) -> _Measured:
    rate = Rate()
    for one in measured:
        rate += one.rate or Rate()
    return _of_rate(rate, settings)


def token_figure(tokens: TokenDifferences, settings: Settings) -> Figure:
    """How often the prompt has the same number of tokens."""
    ceiling = _of_rate(tokens.ceiling_equal, settings) if tokens.ceiling_equal is not None else None
    return _figure("prompt_tokens", "deterministic", _of_rate(tokens.equal, settings), ceiling)


def _of_rate(rate: Rate, settings: Settings) -> _Measured:
    return _Measured(value=rate.value, interval=wilson(rate.k, rate.n, settings.confidence), rate=rate)


def _figure(
    name: str,
    family: str,
    vendor: _Measured,
    ceiling: _Measured | None,
    *,
    always: float | None = None,
    blind: float | None = None,
    best: float | None = None,
) -> Figure:
    above = ceiling or _Measured()
    return Figure(
        name=name,
        family=family,
        value=vendor.value,
        interval=vendor.interval,
        rate=vendor.rate,
        ceiling=above.value,
        ceiling_interval=above.interval,
        ceiling_rate=above.rate,
        always=always,
        blind=blind,
        best=best,
        sampled=vendor.sampled,
    )
