"""The scheduling policy of processes that share a busy machine for one run."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

TURN_SECONDS = 0.025
"""How long a thread may compute before another has its turn; usual are 1 to 3 ms."""
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
"""The number of the system call, by machine: neither Python nor most C libraries have a function for it."""


@contextlib.contextmanager
def batch_policy() -> Iterator[None]:
    """Meanwhile, this thread interrupts no other when data come for it, and has longer turns.

    An engine and its workers on one machine would otherwise take turns so often that each finds the processor's caches
    full of what the others need. Where the processor is not busy, nothing waits. Only Linux has such a policy, and
    before Linux 6.12 turns are as long as ever. Threads and processes that this thread starts meanwhile keep it.
    """
    usual = _has_usual_policy()  # otherwise, the user has chosen one
    try:
        if usual:
            _set_policy("SCHED_BATCH", TURN_SECONDS)
        yield
    finally:
        if usual:
            _set_policy("SCHED_OTHER")


class _Attributes(ctypes.Structure):
    """The `struct sched_attr` of Linux."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("turn", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def _has_usual_policy() -> bool:
    """Whether this thread has the policy that threads begin with; no where that cannot be known."""
    if sys.platform != "linux":
        return False
    try:
        return os.sched_getscheduler(0) == os.SCHED_OTHER
    except OSError:
        return False


def _set_policy(name: str, turn: float = 0.0) -> None:
    """Set the policy of this thread and the seconds of a turn, 0 for the usual, unless that is forbidden."""
    if sys.platform != "linux":
        return
    policy: int = getattr(os, name)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, policy, os.sched_param(0))
        call = _SCHED_SETATTR.get(os.uname().machine)
        if call is not None:
            wanted = _Attributes(
                size=ctypes.sizeof(_Attributes),
                policy=policy,
                nice=os.getpriority(os.PRIO_PROCESS, 0),
                turn=int(turn * 1e9),
            )
            ctypes.CDLL(None).syscall(call, 0, ctypes.byref(wanted), 0)
