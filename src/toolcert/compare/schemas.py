"""How the calls of a run stand to their schemas: per call, per answer, by bucket."""

from __future__ import annotations

from toolcert.compare.answers import read_answer
from toolcert.compare.comparison import SchemaFigures
from toolcert.compare.rundata import RunData
from toolcert.core.requests import Request
from toolcert.core.statistics import Rate

_LOOKED_AT = 30
"""Invalid rows whose calls are judged once more to see whether coercion would mend them."""


def schema_figures(run: RunData, *, look_closer: bool = True) -> SchemaFigures:
    """Counts over all answers of a run that carry calls; whether coercion would mend them takes a closer look."""
    valid = invalid = unjudged = calls = 0
    for kind, count in run.kind_counts:
        if kind.called:
            valid += count * (kind.valid is True)
            invalid += count * (kind.valid is False)
            unjudged += count * (kind.valid is None)
            calls += count * kind.calls
    tallies = run.tallies
    return SchemaFigures(
        responses=valid + invalid + unjudged,
        responses_valid=valid,
        responses_invalid=invalid,
        responses_unjudged=unjudged,
        calls=calls,
        calls_valid=calls - tallies.invalid - tallies.unjudged,
        calls_invalid=tallies.invalid,
        calls_unjudged=tallies.unjudged,
        buckets=dict(tallies.buckets.most_common()),
        rows={bucket: tuple(rows) for bucket, rows in tallies.bucket_rows.items()},
        coercible=_coercible(run) if look_closer else Rate(),
    )


def _coercible(run: RunData) -> Rate:
    from toolcert.diagnose.judging import judge_calls

    k = n = 0
    for place in run.tallies.invalid_places[:_LOOKED_AT]:
        given = read_answer(run, place)
        if given.reply is None:
            continue
        for call in judge_calls(Request(body=given.request), given.reply):
            n += call.valid is False
            k += call.valid is False and call.known and call.judgement.coercible
    return Rate(k=k, n=n)
