"""Summaries of invented runs, for reports to draw."""

from __future__ import annotations

import random

from reports.hostile import HOSTILE, HUGE, SURROGATE
from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import Rate
from toolcert.core.targets import EndpointSpec
from toolcert.core.verdict import Coverage, Verdict, Word
from toolcert.probes.summary.scorecard import (
    Cause,
    Cell,
    CellState,
    Counts,
    Example,
    FindingCount,
    Latency,
    ModelSummary,
    ProbeColumn,
    ProbeSummary,
    Reliability,
    Score,
    Totals,
    Usage,
)

PROBES = {
    "calling": "hello_world basic result_use multi_tool parallel multi_step irrelevance missing_information",
    "control": "choice_auto choice_none choice_required choice_named parallel_off token_limit",
    "format": "streaming stream_twin json_object json_schema strict unicode no_parameters schema_ladder many_tools",
    "conversation": "tool_error empty_result swapped_results null_content wrong_id malformed_history reasoning_back",
    "server": "model_listing unknown_model error_shapes usage repeatability",
}
ADDRESS = "http://inference.example.net/v1"


def probe_summary(models: int = 8, *, probes: int = 35, iterations: int = 10, hostile: bool = False) -> ProbeSummary:
    """A run in which every kind of cell occurs; seeded, so always the same."""
    chance = random.Random(models)
    columns = [
        ProbeColumn(name=name, group=group, title=f"What {name} asks")
        for group, names in PROBES.items()
        for name in names.split()
    ][:probes]
    made = [_model(number, columns, iterations, chance, hostile=hostile) for number in range(models)]
    causes = [_cause(code, severity, made, hostile=hostile) for code, severity in _CODES]
    return ProbeSummary(
        run="7f3a21c9",
        toolcert="0.1.0",
        started_at=1_782_283_620.0,
        finished_at=1_782_284_022.0,
        headline=SURROGATE if hostile else f"{models // 2} of {models} models pass on this endpoint.",
        lines=(HOSTILE,)
        if hostile
        else ("The fault to know about: call.in_text in 5 models.", "Best choice: model-0."),
        suite="full",
        iterations=iterations,
        endpoints=(EndpointSpec(name="e", base_url=HOSTILE if hostile else ADDRESS, key_env="VENDOR_KEY"),),
        probes=tuple(columns),
        models=tuple(made),
        causes=tuple(causes),
        totals=Totals(
            models=models,
            counts=Counts(passed=4000, failed=109, not_measured=18),
            usage=Usage(requests=4127, tokens_in=1_200_345, tokens_out=88_100),
            seconds=402.0,
        ),
    )


_CODES = [
    ("finish.stop_with_calls", Severity.ERROR),
    ("call.in_text", Severity.ERROR),
    ("json.fenced", Severity.WARNING),
    ("nondeterministic", Severity.NOTE),
]
_VERDICTS = [
    (Word.PASSES, 98.0),
    (Word.PARTIAL, 71.0),
    (Word.FAILS, 12.0),
    (Word.UNSUPPORTED, 12.0),
    (Word.NOT_MEASURED, 40.0),
]


def _model(number: int, columns: list[ProbeColumn], n: int, chance: random.Random, *, hostile: bool) -> ModelSummary:
    word, best = _VERDICTS[number % len(_VERDICTS)]
    points = best - number % 9
    open_points = 30.0 if word is Word.NOT_MEASURED else 0.0
    reason = HOSTILE if hostile else "Calls, does not use the result" if number else "10 of 10"
    name = f"{HOSTILE}{number}" if hostile else f"vendor/model-{number}-instruct"
    return ModelSummary(
        endpoint="e",
        model=name,
        verdict=Verdict(word=word, reason=reason, coverage=Coverage(measured=350, planned=350)),
        score=Score(low=points, high=points + open_points),
        reason=reason,
        rank=number + 1,
        reliability=Reliability(probe="result_use", rate=Rate(k=max(0, n - number), n=n)),
        counts=Counts(skipped=350) if word is Word.UNSUPPORTED else Counts(passed=350),
        cells=tuple(_cell(column, n, chance, hostile=hostile) for column in columns),
        findings=tuple(_found(code, severity, hostile=hostile) for code, severity in _CODES[: number % 4 + 1]),
        latency=tuple(_latency(label, chance) for label in ("first token", "call", "answer")),
        usage=Usage(requests=350, tokens_in=10_000, tokens_out=900, retried=2),
    )


def _cell(column: ProbeColumn, n: int, chance: random.Random, *, hostile: bool) -> Cell:
    state = chance.choices(list(CellState), [12, 3, 2, 1, 1, 1])[0]
    k = {CellState.PASSED: n, CellState.FLAKY: chance.randint(1, n - 1), CellState.FAILED: 0}.get(state, 0)
    measured = state in (CellState.PASSED, CellState.FLAKY, CellState.FAILED)
    reason = "" if state is CellState.PASSED else HOSTILE if hostile else "the tool result is not in the answer"
    return Cell(
        probe=column.name, group=column.group, state=state, rate=Rate(k=k, n=n) if measured else Rate(), reason=reason
    )


def _found(code: str, severity: Severity, *, hostile: bool) -> FindingCount:
    return FindingCount(code=code, severity=severity, count=3, example=_example(hostile=hostile))


def _example(*, hostile: bool) -> Example:
    evidence = HUGE if hostile else '"finish_reason": "stop" beside 1 call'
    body = {"model": "m", "messages": [{"role": "user", "content": HOSTILE if hostile else "it's"}]}
    return Example(
        case="e/m/basic/1",
        probe="basic",
        evidence=evidence,
        url=f"{ADDRESS}/chat/completions",
        body=body,
    )


def _latency(label: str, chance: random.Random) -> Latency:
    samples = tuple(sorted(chance.lognormvariate(-0.5, 0.5) for _ in range(50)))
    return Latency(label=label, count=50, p50=samples[25], p95=samples[47], longest=samples[-1], samples=samples)


def _cause(code: str, severity: Severity, models: list[ModelSummary], *, hostile: bool) -> Cause:
    return Cause(
        code=code,
        severity=severity,
        title="Calls are present, but finish_reason says stop",
        count=31,
        models=tuple(model.model for model in models[:5]),
        probes=("basic", "streaming"),
        example=_example(hostile=hostile),
    )
