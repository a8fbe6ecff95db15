"""The console summary; it shows the tests that have a weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llm_tool_calling_tester.models import ModelTestResults, TestStatus, TestSummary
from llm_tool_calling_tester.statuses import OTHER_VALUES
from toolcert.reports.display_text import visible

_TOP = 5
_MARKS = {TestStatus.PASSED: "✅", TestStatus.FAILED: "❌", TestStatus.ERROR: "⚠️", TestStatus.SKIPPED: "–"}
_CATEGORIES = (
    ("recommended", "Recommended"),
    ("partial_support", "Partial support"),
    ("no_tool_calling", "No tool calling"),
)


def summary_lines(summary: TestSummary, results: Sequence[ModelTestResults], tests: Sequence[str]) -> Iterator[str]:
    """Categories, all models, statistics, and the best models."""
    yield f"Tested {summary.tested_models} of {summary.total_models} models at {summary.api_endpoint}"
    yield from _categories(summary)
    yield ""
    yield from _models(results, tests)
    yield ""
    yield from _statistics(summary)
    yield ""
    yield from _top(summary, results)


def _categories(summary: TestSummary) -> Iterator[str]:
    for name, title in _CATEGORIES:
        models = getattr(summary, name)
        yield f"  {title}: {len(models)}{': ' + ', '.join(map(visible, models)) if models else ''}"
    for model, reason in summary.left_out.items():
        yield f"  Left out: {visible(model)}, {reason}"


def _models(results: Sequence[ModelTestResults], tests: Sequence[str]) -> Iterator[str]:
    yield "Models"
    for one in results:
        run = {name: one.tests[name] for name in tests if name in one.tests}
        marks = "  ".join(f"{_MARKS[result.status]} {name}" for name, result in run.items())
        yield f"  {one.overall_score:5.1f}  {visible(one.model_id)}  {marks}"
        for name, result in run.items():
            if result.error:
                yield f"         {name}: {visible(str(result.error))}"
            elif OTHER_VALUES in result.details.get("findings", ()):
                yield f"         {name}: {OTHER_VALUES}, the values are not those that were asked for"


def _statistics(summary: TestSummary) -> Iterator[str]:
    yield "Test statistics"
    for name, counts in summary.test_statistics.items():
        yield f"  {name}: " + ", ".join(f"{number} {status}" for status, number in counts.items())


def _top(summary: TestSummary, results: Sequence[ModelTestResults]) -> Iterator[str]:
    yield "Top recommendations"
    by_id = {one.model_id: one for one in results}
    best = [by_id[model] for model in summary.recommended[:_TOP]]
    for place, one in enumerate(best, 1):
        yield f"  {place}. {visible(one.model_id)}: {one.overall_score:.1f} points, {one.total_latency_ms:.0f} ms"
    if not best:
        yield "  none"
