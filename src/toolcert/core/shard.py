"""A shard: the share of a run's cases that one of several machines asks."""

from __future__ import annotations

import hashlib
import re

from toolcert.core.values import Value

MOST_SHARDS = 100_000
ONLY_A_SHARE = "a shard holds only a share of the cases, which decides nothing"
BELONGS_TO_MERGE = "Leave it out here, and give it to `toolcert merge`, which sees all of them."
_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


class Shard(Value):
    """Number `index` (from 1) of `count` shards; together they have every case, and each case is in one."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard written as `2/8`; a ValueError says what is expected."""
        found = _FORM.fullmatch(text.strip())
        index, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= index <= count <= MOST_SHARDS:
            raise ValueError("expected I/N with I from 1 to N, such as 2/8")
        return cls(index=index, count=count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def takes(self, key: str) -> bool:
        """Whether a case falls to this shard: by its key alone, so that no order and no other case matters."""
        # Python's own hash differs from process to process.
        number = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        return number % self.count == self.index - 1
