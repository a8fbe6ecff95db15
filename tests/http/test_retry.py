"""What is tried again, after how long, and when it is enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.exchanges import Fault, FaultKind
from toolcert.http.retry import RetryPolicy, is_overload, parse_retry_after

POLICY = RetryPolicy(retries=3, base=1.0, cap=30.0, budget=100.0)
NOW = 1_700_000_000.0


def fault(kind: FaultKind, status: int | None = None) -> Fault:
    return Fault(kind=kind, message="", status=status)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_answers_that_say_not_now_are_tried_again(status: int) -> None:
    assert POLICY.decide(1, status=status) is not None


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 413, 422])
def test_answers_that_say_not_so_are_not(status: int) -> None:
    assert POLICY.decide(1, status=status, fault=fault(FaultKind.REJECTED, status)) is None


@pytest.mark.parametrize("kind", [FaultKind.CONNECT, FaultKind.RESET])
def test_connection_faults_are_tried_again_only_before_an_answer(kind: FaultKind) -> None:
    assert POLICY.decide(1, fault=fault(kind)) is not None
    assert POLICY.decide(1, status=200, fault=fault(kind, 200)) is None


@pytest.mark.parametrize("kind", [FaultKind.TLS, FaultKind.OVERSIZED, FaultKind.CONFIGURATION])
def test_faults_that_stay_are_not_tried_again(kind: FaultKind) -> None:
    assert POLICY.decide(1, fault=fault(kind)) is None


def test_a_timeout_is_tried_again_once() -> None:
    assert POLICY.decide(1, fault=fault(FaultKind.TIMEOUT)) is not None
    assert POLICY.decide(2, fault=fault(FaultKind.TIMEOUT)) is None


def test_the_number_of_retries_is_kept() -> None:
    assert [POLICY.decide(attempt, status=500) is not None for attempt in (1, 2, 3, 4)] == [True, True, True, False]


def test_waits_double_and_are_drawn_from_the_whole_range() -> None:
    longest = [POLICY.decide(attempt, status=500, draw=lambda: 1.0) for attempt in (1, 2, 3)]
    assert longest == [1.0, 2.0, 4.0]
    assert POLICY.decide(3, status=500, draw=lambda: 0.0) == 0.0


@given(st.integers(1, 5000), st.floats(0, 1))
def test_no_wait_is_longer_than_the_cap(attempt: int, drawn: float) -> None:
    policy = RetryPolicy(retries=5000, cap=30.0)
    wait = policy.decide(attempt, status=500, draw=lambda: drawn)
    assert wait is not None
    assert 0 <= wait <= 30


def test_what_the_server_asks_for_is_waited_in_full_or_not_at_all() -> None:
    """Asking earlier than the server allows gets one refusal a minute and no answer."""
    assert POLICY.decide(1, status=429, headers={"retry-after": "2"}) == 2.0
    assert POLICY.decide(1, status=429, headers={"retry-after": "45"}) == 45.0
    assert POLICY.decide(1, status=429, headers={"retry-after": "3600"}) is None


def test_the_budget_ends_the_waiting() -> None:
    assert POLICY.decide(2, status=429, headers={"retry-after": "20"}, waited=80.0) == 20.0
    assert POLICY.decide(2, status=429, headers={"retry-after": "20"}, waited=81.0) is None


def test_without_waits_the_decisions_stay_the_same() -> None:
    policy = RetryPolicy.without_waits(retries=2)
    assert policy.decide(1, status=429, headers={"retry-after": "60"}) == 0.0
    assert policy.decide(2, status=500) == 0.0
    assert policy.decide(3, status=500) is None
    assert policy.decide(1, status=400) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:25 GMT"}, 5.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:25 -0000"}, 5.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:15 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"llm_provider-retry-after": "7"}, 7.0),
        ({"llm_provider-retry-after-ms": "70"}, 0.07),
        ({"retry-after": "soon", "llm_provider-retry-after": "3"}, 3.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_understood_in_every_spelling(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers, NOW) == seconds


@given(st.text())
def test_no_value_of_the_header_breaks_the_parser(value: str) -> None:
    seconds = parse_retry_after({"retry-after": value}, NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("status", "headers", "overload"),
    [
        (429, {}, True),
        (503, {"retry-after": "1"}, True),
        (503, {}, False),
        (500, {"retry-after": "1"}, False),
        (200, {}, False),
    ],
)
def test_only_the_words_for_too_many_are_overload(status: int, headers: dict[str, str], overload: bool) -> None:
    assert is_overload(status, headers) is overload
