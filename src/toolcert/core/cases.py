"""Cases: what is asked once. Plain values, so that a worker may live in another process."""

from __future__ import annotations

from toolcert.core.values import JsonObject, Value


class Case(Value):
    """One iteration of one probe, or one dataset row, against one target."""

    key: str
    """Identifies the case across runs: what is measured under this key is not asked again."""
    endpoint: str
    model: str
    probe: str | None = None
    iteration: int | None = None
    index: int | None = None
    """Dataset line, 1-based."""
    body: JsonObject | None = None
    """The request of a dataset row, prepared for sending."""
    extra: JsonObject = {}
    """What the job needs besides: expectations, tags, seeds."""
    skip: str = ""
    """Why this case is not asked; the engine records it as skipped without running it."""
