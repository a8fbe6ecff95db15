"""The lease of a writer: an object that names its holder, is renewed in time, and says which parts count.

It is taken, renewed and handed over by conditional writes only, so that of two writers one wins. Each writer puts its
parts into a series of its own. The lease lists the series that count and, for all but the last, how many of their parts
do: what a writer sends after it has lost the lease lies beyond that number or outside the list, and counts nowhere.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time

import msgspec

from toolcert.core.errors import OutputError
from toolcert.core.values import Value
from toolcert.stores.object_store import LEASE, Conflict, ObjectStore, StoreFault
from toolcert.stores.parts import SERIES, Series, list_parts

HELD_SECONDS = 30.0
"""A lease that was not renewed for this long may be taken over."""
BEAT_SECONDS = 5.0


class Lease(Value):
    """The lease as it is in the store."""

    holder: str
    writer: str
    """Process and machine, for people."""
    generation: int
    """Grows with each series."""
    beat: float
    series: tuple[Series, ...]
    released: bool = False


class LeaseLost(Exception):  # noqa: N818 - becomes an OutputError that names the URL
    """Another writer holds the lease."""


class HeldLease:
    """A lease that is ours until another writer takes it."""

    def __init__(self, store: ObjectStore, lease: Lease, tag: str) -> None:
        self._store = store
        self._lease = lease
        self._tag = tag
        self._one_at_a_time = threading.Lock()
        """The lease is renewed in another thread than the one that sends parts."""

    @property
    def series(self) -> tuple[Series, ...]:
        return self._lease.series

    @property
    def holder(self) -> str:
        return self._lease.holder

    def next_series(self, number: int) -> str:
        """A name for a further series of this writer."""
        return f"{_series(self._lease.generation + 1, self.holder)}-{number}"

    def renew(self, series: tuple[Series, ...] | None = None, *, released: bool = False) -> None:
        """Write the lease again, with other series if they are given; LeaseLost if it is no longer ours."""
        with self._one_at_a_time:
            former = self._lease
            if former.released:
                return
            lease = msgspec.structs.replace(
                former,
                beat=time.time(),
                released=released,
                series=former.series if series is None else series,
                generation=former.generation + (series is not None and series[-1] != former.series[-1]),
            )
            try:
                self._tag = self._store.write(LEASE, msgspec.json.encode(lease), instead_of=self._tag)
            except Conflict:
                self._tag = self._write_after_doubt(lease)
            self._lease = lease

    def _write_after_doubt(self, lease: Lease) -> str:
        """An answer that got lost leaves us with an old tag; the lease itself says whose it is."""
        found = read_lease(self._store)
        if found is None or found[0].holder != lease.holder:
            raise LeaseLost
        try:
            return self._store.write(LEASE, msgspec.json.encode(lease), instead_of=found[1])
        except Conflict:
            raise LeaseLost from None

    def forget(self) -> None:
        """Delete the lease of a place where nothing was written."""
        self._store.delete([LEASE])


def read_lease(store: ObjectStore) -> tuple[Lease, str] | None:
    """The lease at a URL and its tag; None if there is no run."""
    found = store.read(LEASE)
    if found is None:
        return None
    try:
        lease = msgspec.json.decode(found[0], type=Lease)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise StoreFault(f"its {LEASE} is damaged") from None
    if not lease.series or not all(SERIES.fullmatch(one.name) for one in lease.series):
        raise StoreFault(f"its {LEASE} is damaged")
    return lease, found[1]


def take_lease(store: ObjectStore, gone: str | None) -> tuple[HeldLease, Lease | None]:
    """Take the lease, or refuse while another writer has it; also the lease before it.

    `gone` is a holder that is known to have ended.
    """
    found = read_lease(store)
    if found is not None and not found[0].released and found[0].holder != gone:
        _wait_for_silence(store, *found)
    before = None if found is None else found[0]
    holder, generation = secrets.token_hex(4), 1 if before is None else before.generation + 1
    closed = () if before is None else tuple(_closed(store, series) for series in before.series)
    lease = Lease(
        holder=holder,
        writer=f"process {os.getpid()} on {socket.gethostname()}",
        generation=generation,
        beat=time.time(),
        series=(*closed, Series(name=_series(generation, holder))),
    )
    try:
        if found is None:
            tag = store.write(LEASE, msgspec.json.encode(lease), new=True)
        else:
            tag = store.write(LEASE, msgspec.json.encode(lease), instead_of=found[1])
    except Conflict:
        raise _refusal(store, "another toolcert") from None
    _refuse_unconditional_store(store, lease)
    return HeldLease(store, lease, tag), before


def _refuse_unconditional_store(store: ObjectStore, lease: Lease) -> None:
    """Refuse a store that takes writes whose conditions do not hold: two writers would never notice each other."""
    for new, instead_of in ((True, None), (False, '"0"')):
        try:
            store.write(LEASE, msgspec.json.encode(lease), new=new, instead_of=instead_of)
        except Conflict:
            continue
        store.delete([LEASE])
        raise OutputError(
            f"the store of {store.url} ignores the conditions of a write, so that it cannot hold one writer at a time.",
            remedy="Use a store with conditional writes, as Amazon S3 has them, or a local --output.",
        )


def _wait_for_silence(store: ObjectStore, lease: Lease, tag: str) -> None:
    """Refuse a lease that is still renewed. One that seems too old or of tomorrow is watched: clocks differ."""
    left = lease.beat + HELD_SECONDS - time.time()
    if 0 < left <= HELD_SECONDS:
        raise _refusal(store, lease.writer, f"Wait for it; if it has died, its lease ends in {left:.0f} seconds.")
    time.sleep(BEAT_SECONDS + 1)
    found = read_lease(store)
    if found is None or found[1] != tag:
        raise _refusal(store, lease.writer)


def _refusal(store: ObjectStore, writer: str, remedy: str = "Wait for it.") -> OutputError:
    return OutputError(f"{writer} is writing to {store.url}.", remedy=f"{remedy} Or choose another --output.")


def _series(generation: int, holder: str) -> str:
    return f"{generation:06d}-{holder}"


def _closed(store: ObjectStore, series: Series) -> Series:
    """A series with the number of its parts as they lie in the store now."""
    return series if series.parts is not None else Series(name=series.name, parts=len(list_parts(store, series)))
