"""The keys of many cases in little memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable

_WHOLE = (1 << 64) - 1


class Keys:
    """Keys in eight bytes each; they can be found and not listed."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = array("Q", sorted(hash(key) & _WHOLE for key in keys))

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, key: object) -> bool:
        return self._place(key) is not None

    def _place(self, key: object) -> int | None:
        digest = hash(key) & _WHOLE
        place = bisect_left(self._digests, digest)
        return place if place < len(self._digests) and self._digests[place] == digest else None


class PlacedKeys(Keys):
    """Keys with the line each was last met on, in four bytes more."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        super().__init__(keys)
        self._lines = array("I", bytes(4 * len(self)))

    @property
    def met(self) -> int:
        """How many were met so far."""
        return len(self) - self._lines.count(0)

    def meet(self, key: str, line: int) -> bool:
        """Note the line a key stands on now; False for a key that is not here."""
        place = self._place(key)
        if place is None:
            return False
        self._lines[place] = line
        return True

    def line_of(self, key: str) -> int:
        """The line noted for a key; 0 where it was not met."""
        place = self._place(key)
        return 0 if place is None else self._lines[place]
