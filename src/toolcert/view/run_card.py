"""A run in a nutshell: the certificate of its page and a line for each model, as values for the browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolcert.core.errors import InputError
from toolcert.core.findings import Severity
from toolcert.core.records import Manifest
from toolcert.core.statistics.quantiles import Timings
from toolcert.core.values import Value
from toolcert.load_test.summary import LoadSummary, summarise_load
from toolcert.probes.summary.scorecard import ModelSummary, ProbeSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.reports.display_text import dollars
from toolcert.reports.load.html import load_facts
from toolcert.reports.probe.html import facts as probe_facts
from toolcert.reports.probe.phrases import ROLES, VerdictCount, cost_of, label_of, place_of, score_of, verdict_counts
from toolcert.reports.verify.html import facts as verify_facts
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import summarise

Prices = Mapping[str, tuple[float, float]]
"""Model to price of a million tokens in and out."""


class ModelLine(Value):
    """One model of the run."""

    endpoint: str
    model: str
    role: str
    word: str
    score: str = ""
    reliable: str = ""
    """Counts, as `49/50`."""
    call: float | None = None
    answer: float | None = None
    reason: str = ""


class FindingLine(Value):
    """One finding of the run."""

    code: str
    severity: Severity
    title: str
    number: int
    """Cases that show it."""


class RunCard(Value):
    """What is known of a run without opening a case."""

    kind: str
    headline: str
    role: str
    word: str
    speeds: tuple[tuple[str, Timings], ...]
    """How fast each model answers, or each level of load is answered."""
    lines: tuple[str, ...] = ()
    tally: tuple[VerdictCount, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    models: tuple[ModelLine, ...] = ()
    findings: tuple[FindingLine, ...] = ()
    cost: str = ""
    unfinished: bool = False


def run_card(folder: Path, manifest: Manifest, prices: Prices) -> RunCard:
    """Read the whole log and sum it up; that takes seconds for a large one."""
    if manifest.job == "probe":
        return _probe_card(summarise_run(folder, prices))
    if manifest.job == "verify":
        return _verify_card(summarise(folder), prices)
    if manifest.job == "load":
        return _load_card(summarise_load(folder))
    raise InputError(f"a run of the kind {manifest.job} has no certificate.")


def _load_card(summary: LoadSummary) -> RunCard:
    return RunCard(
        kind=f"The same questions alone and {summary.level} at a time",
        headline=summary.headline,
        role=ROLES[summary.verdict.word],
        word=summary.verdict.word.text,
        speeds=tuple((f"{line.level} at a time", line.timings) for line in summary.levels if line.timings),
        lines=summary.lines,
        facts=load_facts(summary),
        findings=tuple(
            FindingLine(code=found.code, severity=found.severity, title=found.title, number=found.count)
            for found in summary.findings
        ),
        unfinished=summary.incomplete,
    )


def _probe_card(summary: ProbeSummary) -> RunCard:
    return RunCard(
        kind=f"Tool-calling certificate for {place_of(summary)}",
        headline=summary.headline,
        role=ROLES[summary.verdict],
        word=summary.verdict.text,
        speeds=tuple((label_of(summary, model), model.timings) for model in summary.models if model.timings),
        lines=summary.lines,
        tally=verdict_counts(model.verdict.word.text for model in summary.models),
        facts=probe_facts(summary),
        models=tuple(_model_line(model) for model in summary.models),
        findings=tuple(
            FindingLine(code=cause.code, severity=cause.severity, title=cause.title, number=cause.count)
            for cause in summary.causes
        ),
        cost=cost_of(summary),
        unfinished=summary.interrupted or summary.finished_at is None,
    )


def _model_line(model: ModelSummary) -> ModelLine:
    return ModelLine(
        endpoint=model.endpoint,
        model=model.model,
        role=ROLES[model.verdict.word],
        word=model.verdict.word.text,
        score=score_of(model),
        reliable=str(model.reliability.rate) if model.reliability.rate.n else "",
        call=model.seconds("call"),
        answer=model.seconds("answer"),
        reason=model.reason,
    )


def _verify_card(summary: VerifySummary, prices: Prices) -> RunCard:
    word = summary.verdict.word
    traffic, price = summary.traffic, prices.get(summary.model)
    cost = (
        ""
        if price is None
        else dollars((traffic.prompt_tokens * price[0] + traffic.completion_tokens * price[1]) / 1e6)
    )
    return RunCard(
        kind="Replay of a dataset against one vendor",
        headline=summary.headline,
        role=ROLES[word],
        word=word.text,
        speeds=((summary.model, summary.timings),) if summary.timings else (),
        lines=summary.lines,
        facts=(*verify_facts(summary), *([("Cost", cost)] if cost else [])),
        models=(
            ModelLine(
                endpoint=summary.endpoint,
                model=summary.model,
                role=ROLES[word],
                word=word.text,
                reliable=str(summary.sound) if summary.sound.n else "",
                reason=summary.verdict.sentence,
            ),
        ),
        findings=tuple(
            FindingLine(code=line.code, severity=line.severity, title=line.title, number=line.rows)
            for line in (*summary.vendor, *summary.of_dataset)
        ),
        cost=cost,
        unfinished=summary.incomplete,
    )
