"""Timings and the limits on them."""

from __future__ import annotations

import pytest

from toolcert.core.errors import UsageError
from toolcert.core.gates import Limit, parse_gates, parse_limits
from toolcert.core.statistics.quantiles import Percentiles, Quantiles, Timings, add_speed

TIMES = Quantiles(number / 100 for number in range(1, 101))
TIMED = Timings(call=Percentiles.of(TIMES), tokens_per_second=Percentiles.of(TIMES, speed=True))


def test_p95_is_the_time_that_95_percent_do_not_exceed() -> None:
    assert TIMED.call.n == 100
    assert [TIMED.call.p50, TIMED.call.p95, TIMED.call.p99] == pytest.approx([0.5, 0.95, 0.99], rel=0.01)


def test_p95_of_a_speed_is_what_95_percent_reach() -> None:
    speed = TIMED.tokens_per_second
    assert [speed.p50, speed.p95, speed.p99] == pytest.approx([0.5, 0.05, 0.01], rel=0.03)


def test_without_a_measurement_there_is_no_percentile() -> None:
    assert Percentiles.of(Quantiles()) == Percentiles()
    assert not Timings()


@pytest.mark.parametrize(("tokens", "seconds"), [(0, 1.0), (-5, 1.0), (None, 1.0), (5, None), (5, 0.0)])
def test_an_answer_without_tokens_or_time_has_no_speed(tokens: int | None, seconds: float | None) -> None:
    speeds = Quantiles()
    add_speed(speeds, tokens, seconds)
    assert not speeds.count


def test_a_count_of_tokens_that_nobody_can_write_breaks_nothing() -> None:
    speeds = Quantiles()
    add_speed(speeds, 10**400, 0.5)
    assert speeds.largest == 2e9


@pytest.mark.parametrize(
    ("text", "name", "bound"),
    [
        ("p95<2s", "p95", 2.0),
        ("ttft_p95<0.8s", "ttft_p95", 0.8),
        ("ttft_p50 < 800ms", "ttft_p50", 0.8),
        ("p99=3", "p99", 3.0),
        ("tps_p50>20", "tps_p50", 20.0),
    ],
)
def test_a_limit_is_written_as_it_is_said(text: str, name: str, bound: float) -> None:
    assert parse_limits(text) == ((Limit(name=name, bound=bound),), "")


def test_limits_stand_beside_other_figures() -> None:
    limits, rest = parse_limits("schema=0.98, p95<2s ,trigger=95%")
    assert [limit.name for limit in limits] == ["p95"]
    assert [gate.name for gate in parse_gates(rest, ("schema", "trigger"))] == ["schema", "trigger"]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("p94<2s", "Did you mean p9"),
        ("tfft_p95<2s", "Did you mean ttft_p95"),
        ("p95<", "p95<2s or p95<800ms"),
        ("p95<2h", "p95<2s or p95<800ms"),
        ("p95>2s", "p95<2s or p95<800ms"),
        ("p95<1.2.3", "p95<2s or p95<800ms"),
        ("tps_p50<20", "tps_p50>20"),
        ("tps_p50>20s", "tps_p50>20"),
        ("<2s", "Use p50"),
        ("p95<-1s", "p95<2s or p95<800ms"),
    ],
)
def test_a_wrong_limit_is_refused_with_the_right_form(text: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_limits(text)
    assert remedy in refused.value.remedy


def test_a_limit_says_why_it_is_missed() -> None:
    assert Limit(name="p95", bound=1.0).missed_by(TIMED) == ""
    assert Limit(name="p95", bound=0.5).missed_by(TIMED).startswith("p95 is 0.946 s (100 answers), not below 0.5 s.")
    assert "tokens/s" in Limit(name="tps_p50", bound=20).missed_by(TIMED)
    assert Limit(name="tps_p50", bound=0.1).missed_by(TIMED) == ""


def test_what_was_not_measured_does_not_meet_a_limit() -> None:
    assert Limit(name="ttft_p95", bound=9).missed_by(TIMED) == (
        "ttft_p95 could not be judged: nothing was measured for it."
    )
