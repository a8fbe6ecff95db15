"""The policy under which the processes of a Ray run share a machine."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcert.engine import batch_policy as module
from toolcert.engine.batch_policy import TURN_SECONDS, batch_policy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these policies")


def in_a_thread(look: Callable[[], None]) -> None:
    """Run something in a thread of its own: policies are those of threads, and this one goes with its own."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            look()
        except BaseException as error:  # noqa: BLE001 - raised below
            failures.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def turn_of_this_thread() -> float | None:
    """Seconds; None where the kernel does not tell."""
    try:
        lines = Path("/proc/thread-self/sched").read_text().splitlines()
    except OSError:
        return None
    told = [line.partition(":")[2] for line in lines if line.startswith("se.slice ")]
    return int(told[0]) / 1e9 if told else None


def lengthens_turns() -> bool:
    """Whether the kernel does, and tells."""
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    return release >= (6, 12) and os.uname().machine in module._SCHED_SETATTR and turn_of_this_thread() is not None


def test_the_policy_holds_meanwhile_and_not_longer() -> None:
    def look() -> None:
        turn = turn_of_this_thread()
        with batch_policy():
            assert os.sched_getscheduler(0) == os.SCHED_BATCH
            assert turn_of_this_thread() == (TURN_SECONDS if lengthens_turns() else turn)
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
        assert turn_of_this_thread() == turn

    in_a_thread(look)


def test_it_ends_with_an_error_as_well() -> None:
    def look() -> None:
        with pytest.raises(ValueError, match="of the run"), batch_policy():
            raise ValueError("of the run")
        assert os.sched_getscheduler(0) == os.SCHED_OTHER

    in_a_thread(look)


def test_a_policy_that_the_user_chose_stays() -> None:
    def look() -> None:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        with batch_policy():
            assert os.sched_getscheduler(0) == os.SCHED_IDLE
        assert os.sched_getscheduler(0) == os.SCHED_IDLE

    in_a_thread(look)


def test_how_nice_the_thread_is_stays() -> None:
    def look() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 7)
        with batch_policy():
            assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == 7
        assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == 7

    in_a_thread(look)


def test_a_machine_that_forbids_it_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError(1, "forbidden")

    monkeypatch.setattr(os, "sched_setscheduler", forbidden)
    ran = False
    with batch_policy():
        ran = True
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    assert ran
    monkeypatch.setattr(os, "sched_getscheduler", forbidden)
    ran = False
    with batch_policy():
        ran = True
    assert ran


def test_where_there_is_no_such_policy_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with batch_policy():
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
