"""A probe run in Markdown, small enough for a job summary or a pull request."""

from __future__ import annotations

from toolcert.probes.summary.scorecard import Cause, ModelSummary, ProbeSummary
from toolcert.reports.display_text import MOST_MARKS, count, mark_text, plural, seconds
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.markdown import SIGNS, code, document, escape, prose, short, table
from toolcert.reports.probe.phrases import caveat_of, label_of, score_of, still_open, verdict_of

SHOWN_CAUSES = 30


def probe_markdown(summary: ProbeSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a probe run; what does not fit is counted."""
    models = [_row(summary, model) for model in summary.models]
    causes = [_cause(cause) for cause in summary.causes[:SHOWN_CAUSES]]
    return document(
        [f"### {escape(summary.headline)}"],
        [escape(" ".join(summary.lines))] if summary.lines else [],
        table(["Model", ">Score", "Verdict", ">Reliable", ">Call, s", "Main reason"], models),
        [escape(still_open(summary))] if still_open(summary) else [],
        table(["Finding", "Severity", ">Models", "What"], causes) if causes else [],
        [f"- {escape(mark_text(mark))}" for mark in summary.marks[:MOST_MARKS]],
        [_sum(summary)],
        noun="model",
    )


def _row(summary: ProbeSummary, model: ModelSummary) -> tuple[object, ...]:
    role, word = verdict_of(model)
    caveat = caveat_of(model)
    rate = str(model.reliability.rate) if model.reliability.rate.n else "–"
    verdict = f"{SIGNS[role]} {word}" + (f", {caveat}" if caveat else "")
    call = seconds(model.seconds("call"))
    return short(label_of(summary, model)), score_of(model), verdict, rate, call, short(model.reason)


def _cause(cause: Cause) -> tuple[object, ...]:
    follows = f" From it follows: {', '.join(cause.follows)}" if cause.follows else ""
    return code(cause.code), cause.severity.value, len(cause.models), prose(cause.title + follows)


def _sum(summary: ProbeSummary) -> str:
    totals = summary.totals
    missing = count(totals.counts.not_measured)
    asked = plural(totals.usage.requests, "request")
    run = f"Run `{summary.run}`, " if summary.run else ""
    return f"{asked}, {missing} not measured. {run}toolcert {summary.toolcert}."
