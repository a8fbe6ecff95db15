"""A case is one question to a model; its outcome says how it ended. A shard is a share of the cases of a run."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject, Value


class Outcome(StrEnum):
    """How a case ended; only PASSED and FAILED are measurements."""

    PASSED = "passed"
    FAILED = "failed"
    """The model or server behaved wrongly."""
    UNSUPPORTED = "unsupported"
    """The server says that it cannot."""
    NOT_MEASURED = "not_measured"
    """Transport, rate limit, authentication or outage: nothing is known about the model."""
    SKIPPED = "skipped"
    """Not asked: a precondition failed, or the result was decided; the record gives the reason."""

    @property
    def measured(self) -> bool:
        return self in (Outcome.PASSED, Outcome.FAILED)


class SkipKind(StrEnum):
    """Why a case was not asked, or not to its end."""

    NO_CALL = "no_call"
    """No valid call came in the first iterations."""
    REFUSED = "refused"
    """The server refused the first iterations."""
    DECIDED = "decided"
    """The iterations so far decide whether the rate reaches the threshold."""
    NEED_FAILED = "need_failed"
    """A probe that this one needs never passed."""
    NEED_NOT_MEASURED = "need_not_measured"
    NOT_APPLICABLE = "not_applicable"
    """The probe found that the model lacks what it is about."""
    NO_CHAT = "no_chat"
    """The model is not for chatting."""
    BAD_ROW = "bad_row"
    """Nothing can be asked from the dataset's line."""
    BUDGET = "budget"
    """The limit on requests was reached."""
    OUTAGE = "outage"
    """The endpoint does not answer any more."""


class Skip(Value):
    """The decision not to ask a case: one value for the program, one sentence for people."""

    kind: SkipKind
    reason: str


class Case(Value):
    """One iteration of one probe, or one dataset row, against one target."""

    key: str
    """Identifies the case across runs: a case that was measured under this key is not asked again."""
    endpoint: str
    model: str
    probe: str | None = None
    iteration: int | None = None
    index: int | None = None
    """Dataset line, 1-based."""
    body: JsonObject | None = None
    """The request of a dataset row, prepared for sending."""
    extra: JsonObject = {}
    """What else the job needs: expectations, tags, seeds."""
    skip: Skip | None = None
    """Why this case is not asked; the engine records it as skipped without running it."""


MOST_SHARDS = 100_000
ONLY_A_SHARE = "a shard asks only a part of the cases, too few for a verdict"
BELONGS_TO_MERGE = "Leave it out here, and give it to `toolcert merge`, which sees all of them."
_FORM = lazy_pattern(r"([0-9]{1,6})/([0-9]{1,6})")


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
