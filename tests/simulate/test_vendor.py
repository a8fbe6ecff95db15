"""A vendor under control: outages, limits, keys, pace, and the log of what it received."""

from __future__ import annotations

import http.client
import threading
import time

import pytest

from support.raw_http import chat, fetch
from toolcert.core.errors import UsageError
from toolcert.core.requests import user
from toolcert.simulate import Vendor
from toolcert.simulate.backend import Latency, RateLimit, latency
from toolcert.simulate.situations import WORDS

BODY = WORDS.request("faithful")


def test_an_outage_hits_the_requests_it_is_meant_for_and_passes() -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("500", after=1, count=2)
        assert [chat(vendor.url, BODY).status for _ in range(4)] == [200, 500, 500, 200]
        assert vendor.requests.by_status() == {200: 2, 500: 2}


def test_an_outage_lasts_until_it_is_lifted() -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("429", retry_after=2)
        got = chat(vendor.url, BODY)
        assert (got.status, got.headers["retry-after"]) == (429, "2")
        vendor.restore()
        assert chat(vendor.url, BODY).status == 200


def test_an_outage_may_concern_one_model() -> None:
    with Vendor(models=["faithful", "reasoner"]) as vendor:
        vendor.outage("503", model="reasoner")
        assert chat(vendor.url, BODY).status == 200
        assert chat(vendor.url, {**BODY, "model": "reasoner"}).status == 503


def test_resets_and_silence_reach_the_client() -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("reset", count=1)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            chat(vendor.url, BODY)
        vendor.outage("timeout", count=1)
        with pytest.raises(TimeoutError):
            chat(vendor.url, BODY, timeout=0.2)


def test_an_unknown_kind_of_outage_is_a_usage_error() -> None:
    with Vendor(models=["faithful"]) as vendor, pytest.raises(UsageError, match="Choose one of 400, 401"):
        vendor.outage("sulking")


def test_a_key_is_demanded_and_never_kept() -> None:
    with Vendor(models=["faithful"], api_key="sk-the-right-one") as vendor:
        assert chat(vendor.url, BODY).status == 401
        wrong = chat(vendor.url, BODY, {"Authorization": "Bearer sk-a-wrong-one"})
        assert (wrong.status, wrong.json["error"]["code"]) == (401, "invalid_api_key")
        assert b"sk-a-wrong-one" not in wrong.payload
        assert chat(vendor.url, BODY, {"Authorization": "Bearer sk-the-right-one"}).status == 200
        assert fetch("GET", f"{vendor.url}/models").status == 401
        assert [one.authorised for one in vendor.requests] == [False, True, True, False]
        assert "sk-" not in repr(list(vendor.requests))


def test_a_rate_limit_says_when_to_come_back() -> None:
    now = [100.0]
    limit = RateLimit(2, 60.0, clock=lambda: now[0])
    assert (limit.failure(), limit.failure()) == (None, None)
    failure = limit.failure()
    assert failure is not None
    assert failure.headers["retry-after"] == "60.001"
    now[0] += 61
    assert limit.failure() is None


@pytest.mark.heavy
def test_more_at_once_than_the_capacity_is_overload() -> None:
    with Vendor(models=["faithful"], latency=1.0, capacity=2) as vendor:
        statuses: list[int] = []
        threads = [threading.Thread(target=lambda: statuses.append(chat(vendor.url, BODY).status)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [200, 200, 429, 429, 429]
        assert vendor.peak >= 3


def test_latency_delays_the_answer_and_a_gap_spreads_the_stream() -> None:
    with Vendor(models=["faithful"], latency=0.15) as vendor:
        started = time.monotonic()
        chat(vendor.url, BODY)
        assert time.monotonic() - started >= 0.15
    with Vendor(models=["faithful"], chunk_gap=0.005) as vendor:
        started = time.monotonic()
        events = chat(vendor.url, {**BODY, "stream": True}).events
        assert time.monotonic() - started >= 0.004 * len(events)


def test_latency_is_read_from_text() -> None:
    assert latency(0.2) == Latency(low=0.2, high=0.2)
    assert latency("0.1-0.5") == Latency(low=0.1, high=0.5)
    assert latency("0.2~0.5") == Latency(low=0.2, high=0.2, tail=0.5)
    with pytest.raises(UsageError, match="not a latency"):
        latency("soon")


def test_the_log_counts_by_model_and_keeps_bodies() -> None:
    with Vendor(models={"gpt-x": "faithful", "other": "reasoner"}) as vendor:
        for model in ("gpt-x", "gpt-x", "other"):
            chat(vendor.url, {**BODY, "model": model}, {"X-Test": "1"})
        assert (vendor.requests.count("gpt-x"), vendor.requests.count()) == (2, 3)
        assert [body["model"] for body in vendor.requests.bodies("other")] == ["other"]
        assert vendor.requests[0].headers["x-test"] == "1"
        vendor.requests.clear()
        assert (len(vendor.requests), vendor.requests.count()) == (0, 0)


def test_two_vendors_with_the_same_seed_say_the_same_to_the_letter() -> None:
    said = []
    for _ in range(2):
        with Vendor(models=["faithful"], seed=7) as vendor:
            body = chat(vendor.url, BODY).json
            said.append((body["id"], body["system_fingerprint"], body["choices"]))
    assert said[0] == said[1]


def test_a_model_nobody_knows_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no simulated model 'gpt-5'"):
        Vendor(models=["gpt-5"])


def test_a_port_in_use_is_a_usage_error() -> None:
    with Vendor(models=["faithful"]) as vendor:
        taken = int(vendor.root.rpartition(":")[2])
        with pytest.raises(UsageError, match="Cannot listen"):
            Vendor(models=["faithful"], port=taken).start()


@pytest.mark.heavy
def test_fifty_connections_at_once() -> None:
    with Vendor(models=["faithful"], latency=1.0) as vendor:
        statuses: list[int] = []
        body = {"model": "faithful", "messages": [user("Hi")]}
        threads = [threading.Thread(target=lambda: statuses.append(chat(vendor.url, body).status)) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 50
        assert vendor.peak > 25
