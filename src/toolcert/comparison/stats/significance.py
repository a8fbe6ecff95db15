"""Exact tests on counts, the difference of two rates on the same rows, and how many rows it takes to find one.

Written out: a science library is too big to load for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from toolcert.core.errors import UsageError
from toolcert.core.statistics.p_values import binomial_point, binomial_tail, mcnemar
from toolcert.core.statistics.rates import Interval, normal_quantile
from toolcert.core.values import Value

_EXACT_CONVOLUTION = 3000
"""Up to this many informative rows the exact distribution is used; beyond, the normal one is close enough."""


def excess(vendor_differs: int, informative: Mapping[int, int], runs: int) -> float:
    """Exact one-sided test that a vendor differs from the reference no more than its further runs do.

    `runs` answers are compared with the reference on every row: the vendor's and those of the further
    baseline runs. If they all come from one deployment, then on a row where s of them differ the
    vendor is among those s with probability s/runs. `informative` counts the rows by s (0 < s < runs),
    `vendor_differs` those of them on which the vendor does. With one further run this is the exact
    sign test on the discordant rows.
    """
    total = sum(informative.values())
    if total == 0:
        return 1.0
    chances = {s / runs: rows for s, rows in informative.items() if rows}
    if len(chances) == 1:
        [(chance, rows)] = chances.items()
        return binomial_tail(vendor_differs, rows, chance)
    if total > _EXACT_CONVOLUTION:
        return _normal_tail(vendor_differs, chances)
    return _sum_tail(vendor_differs, chances)


def _sum_tail(k: int, chances: Mapping[float, int]) -> float:
    """P(sum of independent binomials >= k)."""
    distribution = [1.0]
    for chance, rows in chances.items():
        distribution = _convolved(distribution, _binomial_distribution(rows, chance))
    return min(1.0, math.fsum(distribution[k:]))


def _convolved(first: Sequence[float], second: Sequence[float]) -> list[float]:
    result = [0.0] * (len(first) + len(second) - 1)
    for shift, weight in enumerate(first):
        for place, value in enumerate(second, shift):
            result[place] += weight * value
    return result


def _binomial_distribution(n: int, p: float) -> Sequence[float]:
    return [binomial_point(k, n, p) for k in range(n + 1)]


def _normal_tail(k: int, chances: Mapping[float, int]) -> float:
    mean = sum(chance * rows for chance, rows in chances.items())
    spread = math.sqrt(sum(chance * (1 - chance) * rows for chance, rows in chances.items()))
    return 0.5 * math.erfc((k - 0.5 - mean) / (spread * math.sqrt(2)))


_STEPS = 50
"""Halvings of the search for a bound: a millionth of a millionth, more than any count carries."""
_MOST_ROWS = 100_000_000
"""If even this many rows would not decide, no number is given."""


class MarginOutcome(StrEnum):
    """Whether a rate is at most the margin worse."""

    PASSED = "pass"
    FAILED = "fail"
    INCONCLUSIVE = "inconclusive"


class Discordance(Value):
    """Rows on which two answers to the same question differ in one fact, out of n."""

    gained: int
    """Rows on which only the vendor has it."""
    lost: int
    """Rows on which only the baseline has it."""
    n: int

    @property
    def difference(self) -> float | None:
        return (self.gained - self.lost) / self.n if self.n else None


def tango(rows: Discordance, confidence: float) -> Interval | None:
    """Tango's score interval of the paired difference; None without rows.

    Unlike the usual one it does not shrink to nothing when no row differs.
    """
    if rows.n == 0:
        return None
    z = normal_quantile((1 + confidence) / 2)
    difference = (rows.gained - rows.lost) / rows.n
    return Interval(lower=_bound(rows, z, difference, -1.0), upper=_bound(rows, -z, difference, 1.0))


def _bound(rows: Discordance, z: float, inside: float, outside: float) -> float:
    """Where the score statistic, which falls as the assumed difference grows, meets z."""
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if (score(rows, middle) < z) == (z > 0):
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2


def score(rows: Discordance, difference: float) -> float:
    """How many standard errors the counts lie above an assumed difference (Tango 1998)."""
    gained, lost, n = rows.gained, rows.lost, rows.n
    a = 2 * n
    b = -gained - lost + (2 * n - gained + lost) * difference
    c = -lost * difference * (1 - difference)
    rate = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * rate + difference * (1 - difference))
    distance = gained - lost - n * difference
    if variance <= 0:
        return 0.0 if distance == 0 else math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def judge_margin(interval: Interval | None, margin: float) -> MarginOutcome:
    """Passed when a loss beyond the margin is excluded, failed when anything better is."""
    if interval is None:
        return MarginOutcome.INCONCLUSIVE
    if interval.lower > -margin:
        return MarginOutcome.PASSED
    return MarginOutcome.FAILED if interval.upper < -margin else MarginOutcome.INCONCLUSIVE


def rows_to_decide(rows: Discordance, margin: float, confidence: float) -> int | None:
    """How many rows would decide if the rates stay as they are; None where no sensible number would."""
    undecided = MarginOutcome.INCONCLUSIVE
    return _fewest(rows, lambda scaled: judge_margin(tango(scaled, confidence), margin) is not undecided)


def rows_to_show(rows: Discordance, level: float) -> int | None:
    """How many rows would prove the loss at that level, if the rates stay as they are."""
    return _fewest(rows, lambda scaled: mcnemar(scaled.lost, scaled.gained) < level)


def _fewest(rows: Discordance, enough: Callable[[Discordance], bool]) -> int | None:
    """The number of rows, to a hundredth, at which counts in these proportions are enough."""
    if rows.n == 0:
        return None
    low, high = rows.n, rows.n
    while not enough(_scaled(rows, high)):
        low, high = high, high * 2
        if high > _MOST_ROWS:
            return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        if enough(_scaled(rows, middle)):
            high = middle
        else:
            low = middle
    return high


def _scaled(rows: Discordance, n: int) -> Discordance:
    return Discordance(gained=round(rows.gained * n / rows.n), lost=round(rows.lost * n / rows.n), n=n)


USUAL_NOISE = 0.05
"""Share of rows on which two runs of one deployment decide differently, if that was not measured."""
FAMILY = 4
"""Tests of one vendor that share alpha: decision, payload, call rate, validity; the plan takes the strictest share."""
_WINDOW = 5.0
"""Standard deviations of the number of discordant rows that are summed over."""
_POINTS = 400
_EXACT_UP_TO = 1000
"""Discordant rows beyond which the approximation has the power asked for within 0.005, and the search takes long."""


class Plan(Value):
    """The rows needed, and what was assumed."""

    rows: int
    effect: float
    """Share of all rows on which the vendor additionally differs."""
    noise: float
    """Share of rows on which two runs of the baseline differ."""
    alpha: float
    power: float
    tests: int
    """Tests that share alpha."""
    measured: bool = False
    """The noise was measured on two runs, not assumed."""


def plan(
    effect: float, *, noise: float = USUAL_NOISE, alpha: float = 0.05, power: float = 0.8, tests: int = FAMILY
) -> Plan:
    """The smallest number of rows that finds `effect` with probability `power`."""
    if not 0 < effect < 1:
        raise UsageError(
            f"--effect {effect:g} is not a share of rows.", remedy="Give one between 0 and 1, such as 0.03."
        )
    if not 0 < power < 1:
        raise UsageError(
            f"--power {power:g} is never reached for sure, and 0 asks for nothing.",
            remedy="Give one between 0 and 1, such as 0.8.",
        )
    rows = _smallest(effect, noise, alpha / tests, power)
    return Plan(rows=rows, effect=effect, noise=noise, alpha=alpha, power=power, tests=tests)


def _smallest(effect: float, noise: float, alpha: float, power: float) -> int:
    """Near the normal approximation; the exact search starts below it."""
    near = _normal_rows(effect, noise, alpha, power)
    if near * (noise + effect) > _EXACT_UP_TO:
        return math.ceil(near)
    rows = max(5, int(0.9 * near))
    while chance_to_find(rows, effect, noise, alpha) < power:
        rows = math.ceil(rows * 1.01) + 1
    return rows


def _normal_rows(effect: float, noise: float, alpha: float, power: float) -> float:
    """The normal approximation with the rows that whole counts cost."""
    discordant = noise + effect
    needed = normal_quantile(1 - alpha) * math.sqrt(discordant)
    needed += normal_quantile(power) * math.sqrt(max(1e-9, discordant - effect * effect))
    return (needed / effect) ** 2 + 1 / effect


def chance_to_find(rows: int, effect: float, noise: float, alpha: float) -> float:
    """Power of the exact test: over the number of discordant rows that may come, how often it rejects.

    Two runs of one deployment differ on a share `noise` of the rows; on half of these the third run
    sides with one of them. A vendor that additionally differs on `effect` adds to its own half only.
    """
    discordant = noise + effect
    share = (noise / 2 + effect) / discordant
    middle, spread = rows * discordant, math.sqrt(rows * discordant * (1 - min(discordant, 1)))
    first, last = max(0, int(middle - _WINDOW * spread)), min(rows, int(middle + _WINDOW * spread) + 1)
    step = max(1, (last - first) // _POINTS)
    total = found = 0.0
    for m in range(first, last + 1, step):
        weight = binomial_point(m, rows, discordant) if discordant < 1 else float(m == rows)
        total += weight
        found += weight * binomial_tail(_critical(m, alpha), m, share)
    return found / total if total else 0.0


def _critical(m: int, alpha: float) -> int:
    """The smallest count out of m that a fair coin reaches with probability below alpha."""
    low, high = m // 2, m + 1
    while low < high:
        middle = (low + high) // 2
        if binomial_tail(middle, m, 0.5) < alpha:
            high = middle
        else:
            low = middle + 1
    return low
