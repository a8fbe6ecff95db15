"""The order of the models in a report; missing values come last, whatever the order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from toolcert.probes.scorecard import ModelSummary, ProbeSummary


def in_order(summary: ProbeSummary, order: str) -> ProbeSummary:
    """The summary with its models sorted; `score` is the ranking itself."""
    key = _KEYS.get(order)
    if key is None:
        return summary
    return msgspec.structs.replace(summary, models=tuple(sorted(summary.models, key=key)))


def _by_time(*labels: str) -> Callable[[ModelSummary], tuple[bool, float]]:
    def key(model: ModelSummary) -> tuple[bool, float]:
        times = [model.seconds(label) for label in labels]
        known = [time for time in times if time is not None]
        return len(known) < len(times), sum(known)

    return key


def _by_name(model: ModelSummary) -> tuple[str, str]:
    return model.model.lower(), model.endpoint


_KEYS: Mapping[str, Callable[[ModelSummary], tuple[object, ...]]] = {
    "name": _by_name,
    "call-time": _by_time("call"),
    "response-time": _by_time("answer"),
    "total-time": _by_time("call", "answer"),
}
