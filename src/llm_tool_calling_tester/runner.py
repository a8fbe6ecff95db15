"""Test every model of an endpoint with toolcert's engine, and report."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import IO, Any

import msgspec

from llm_tool_calling_tester import config
from llm_tool_calling_tester.models import FullReport, ModelTestResults, TestResult, TestStatus, TestSummary
from llm_tool_calling_tester.statuses import OTHER_VALUES, record_of, result_of_error, results_in
from llm_tool_calling_tester.tester import NAME, ModelTester
from toolcert.api.endpoint import unfinished_run
from toolcert.cli.support.exit import echo
from toolcert.core.cases import Case, Skip, SkipKind
from toolcert.core.errors import OutputError, UsageError
from toolcert.core.events import Handler, RunStarted
from toolcert.core.exchanges import OnAttempt
from toolcert.core.records import Detail, Manifest, Record
from toolcert.core.targets import ModelInfo
from toolcert.engine.interfaces import Session
from toolcert.engine.local import LocalEngine
from toolcert.reports.display_text import visible
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.provenance import new_run_id, run_folder, without_secrets
from toolcert.runs.reader import RunReader, is_run
from toolcert.runs.resume import resume
from toolcert.runs.writer import RunWriter, hold
from toolcert.version import __version__

ALL_TESTS = "run_all_tests"
"""The case in which a user's own order runs all tests of a model."""
NOT_TESTED = "not tested: the run was interrupted before"


class TestPlan:
    """Every test of every model, without those that an interrupted run has already measured.

    The tests of a user's `run_all_tests` are one case.
    """

    __test__ = False  # or pytest would collect the class by its name

    def __init__(self, models: Sequence[ModelInfo], tests: Sequence[str], measured: Container[str] = ()) -> None:
        self._models = models
        self._tests = tests
        self._measured = measured
        self.total = len(models) * len(tests)

    def sources(self) -> Mapping[str, Iterator[Case]]:
        """The cases, model by model."""
        return {NAME: (case for case in self._cases() if case.key not in self._measured)}

    def after(self, record: Record) -> Iterable[Case]:  # noqa: ARG002 - no test waits for another
        return ()

    def _cases(self) -> Iterator[Case]:
        for info in self._models:
            for test in self._tests:
                reason = f"model not supported: {info.why_not or 'not a chat model'}"
                skip = None if info.can_chat else Skip(kind=SkipKind.NO_CHAT, reason=reason)
                key = f"{NAME}/{info.id}/{test}"
                extra = {"owned_by": info.owned_by or ""}
                yield Case(key=key, endpoint=NAME, model=info.id, probe=test, iteration=1, skip=skip, extra=extra)


class TestWork:
    """Runs a test by calling the tester's method of that name."""

    __test__ = False

    def __init__(self, tester: ModelTester) -> None:
        self._tester = tester

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record:  # noqa: ARG002 - the tester has its session
        """The record of one test."""
        tester, test = self._tester, case.probe or ""
        names = tuple(config.AUTONOMOUS_AGENT_WEIGHTS) if test == ALL_TESTS else (test,)
        tester.watching |= {(case.model, name): on_attempt for name in names}
        if test == ALL_TESTS:
            results = await tester.run_overridden(case.model, case.extra.get("owned_by", ""))
        else:
            results = {test: await tester.run_test(test, case.model)}
        found = [tester.evidence.pop((case.model, name), Detail()) for name in names]
        evidence = Detail(
            findings=tuple(one for detail in found for one in detail.findings),
            exchanges=tuple(one for detail in found for one in detail.exchanges),
        )
        return record_of(results, case, evidence)


class ModelTestRunner:
    """Tests every model of an endpoint; fetch_models, test_model and run_tests are coroutines."""

    def __init__(
        self,
        api_url: str | None = None,
        max_workers: int | None = None,
        filter_pattern: str | None = None,
        quick_mode: bool = False,
        *,
        api_key: str | None = None,
        timeout: float | None = None,
        output_dir: str = config.OUTPUT_DIR,
        quick: bool = False,
        include_gpt: bool = False,
        tester: ModelTester | None = None,
    ) -> None:
        """What is not given comes from the environment, as for the command."""
        self.tester = tester or ModelTester(api_url, api_key=api_key, timeout=timeout, max_workers=max_workers)
        self.api_url = self.tester.endpoint.spec.base_url
        self.max_workers = max_workers or self.tester.max_workers
        self.filter_pattern = filter_pattern
        self.output_dir = Path(output_dir)
        self.quick = quick or quick_mode
        self.include_gpt = include_gpt
        self.left_out: dict[str, str] = {}
        self.interrupted = False
        self.started_at = time.time()

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that are run, in order."""
        return config.QUICK_TESTS if self.quick else tuple(config.AUTONOMOUS_AGENT_WEIGHTS)

    async def fetch_models(self) -> list[ModelInfo]:
        """The models that the API lists."""
        return await self.tester.session.models()

    def filter_models(self, models: Sequence[ModelInfo], pattern: str | None = None) -> list[ModelInfo]:
        """The models to test; the others are recorded with the reason."""
        wanted = compile_filter(pattern or self.filter_pattern)
        self.left_out = {info.id: reason for info in models if (reason := self._why_left_out(info, wanted))}
        return [info for info in models if info.id not in self.left_out]

    def _why_left_out(self, info: ModelInfo, wanted: re.Pattern[str] | None) -> str:
        if wanted is not None and not wanted.search(info.id):
            return "does not match the filter"
        if not self.include_gpt and "gpt" in info.id.lower():
            return "a GPT model (--include-gpt takes them)"
        return ""

    def calculate_score(self, tests: Mapping[str, TestResult]) -> float:
        """Points of the passed tests; a test that was not measured gives 0."""
        weights = config.AUTONOMOUS_AGENT_WEIGHTS
        passed = [name for name, result in tests.items() if result.status is TestStatus.PASSED]
        return round(100 * sum(weights.get(name, 0.0) for name in passed) / sum(weights.values()), 2)

    def get_recommendation(self, score: float) -> str:
        """The category of a score; a single passed test is not enough for a recommendation."""
        if score >= config.RECOMMENDED_THRESHOLD:
            return "recommended"
        if score >= config.PARTIAL_THRESHOLD or (self.quick and score > 0):
            return "partial_support"
        return "no_tool_calling"

    async def test_model(self, model: ModelInfo | str) -> ModelTestResults:
        """All tests of one model, one after another."""
        info = ModelInfo(id=model) if isinstance(model, str) else model
        if self._has_own_order:
            return self._results(info, await self.tester.run_overridden(info.id, info.owned_by or ""))
        return self._results(info, await self.tester.run_all_tests(info.id, tests=self.tests))

    @property
    def _has_own_order(self) -> bool:
        return self.tester.has_own_order and not self.quick

    async def run_tests(
        self, models: Sequence[ModelInfo] | None = None, handlers: Sequence[Handler] = ()
    ) -> list[ModelTestResults]:
        """All tests of these models, or of those that the API lists, in parallel; every model has a result."""
        if models is None:
            models = self.filter_models(await self.fetch_models())
        if not models:  # an unfinished run waits for the models that it was about
            return []
        if type(self).test_model is not ModelTestRunner.test_model:  # a user's own: one model at a time, as in the text
            return [await self._test_overridden(info) for info in models]
        with contextlib.closing(self._hold()) as lock:
            folder = Path(lock.name).parent
            await self._run_in(folder, lock, models, handlers)
        return self._collect(models, folder)

    async def _test_overridden(self, info: ModelInfo) -> ModelTestResults:
        """The results of a user's `test_model`; what it raises becomes the error of every test of this model."""
        try:
            return await self.test_model(info)
        except Exception as error:  # noqa: BLE001 - a user's code may raise anything; the other models go on
            return self._results(info, {name: result_of_error(name, error) for name in self.tests})

    def _hold(self) -> IO[bytes]:
        """The lock of an unfinished run's folder, or of a new one if there is none or another process holds it."""
        folder = unfinished_run(self.output_dir / "runs", self.tester.endpoint)
        try:
            return hold(folder)
        except OutputError:
            if not is_run(folder):
                raise
            return hold(folder.with_name(run_folder(None, new_run_id()).name))

    async def _run_in(
        self, folder: Path, lock: IO[bytes], models: Sequence[ModelInfo], handlers: Sequence[Handler]
    ) -> None:
        earlier = resume(folder, self._manifest(models))
        manifest = earlier.manifest or self._manifest(models)
        plan = TestPlan(models, (ALL_TESTS,) if self._has_own_order else self.tests, earlier)
        writer = RunWriter(folder, manifest, lock=lock)
        engine = LocalEngine(
            {NAME: self.tester.session}, concurrency={NAME: self.max_workers}, handlers=[writer, *handlers]
        )
        try:
            started = RunStarted(manifest=manifest, total=plan.total, resumed=len(earlier))
            self.interrupted = (await engine.run(plan, TestWork(self.tester), started)).interrupted
        finally:
            writer.close()

    def _collect(self, models: Sequence[ModelInfo], folder: Path) -> list[ModelTestResults]:
        tests: dict[str, dict[str, TestResult]] = {info.id: {} for info in models}
        for record in RunReader(folder).records():
            if record.model in tests and record.probe is not None:
                tests[record.model] |= results_in(record, self.tests)
        return [self._results(info, tests[info.id]) for info in models]

    def _results(self, info: ModelInfo, found: Mapping[str, TestResult]) -> ModelTestResults:
        why = NOT_TESTED if self.interrupted else "not tested: run_all_tests did not run it"
        missing = TestResult(test_name="", status=TestStatus.SKIPPED, error=why)
        tests = {name: found.get(name) or msgspec.structs.replace(missing, test_name=name) for name in self.tests}
        tests |= found  # a user's own order may have run tests without a weight
        score = self.calculate_score(tests)
        return ModelTestResults(
            model_id=info.id,
            owned_by=info.owned_by,
            tests=tests,
            overall_score=score,
            recommendation=self.get_recommendation(score),
            total_latency_ms=round(sum(result.latency_ms for result in tests.values()), 1),
        )

    def generate_summary(self, results: Sequence[ModelTestResults]) -> TestSummary:
        """The figures over all models; sorted by score, then by time."""
        ranked = sorted(results, key=lambda one: (-one.overall_score, one.total_latency_ms))
        by_category = {
            name: [one.model_id for one in ranked if one.recommendation == name]
            for name in ("recommended", "partial_support", "no_tool_calling")
        }
        return TestSummary(
            timestamp=datetime.fromtimestamp(self.started_at, UTC).isoformat(),
            api_endpoint=self.api_url,
            total_models=len(results) + len(self.left_out),
            tested_models=len(results),
            left_out=self.left_out,
            test_statistics={name: _statistics(name, results) for name in self._names(results)},
            **by_category,
        )

    def _names(self, results: Sequence[ModelTestResults]) -> tuple[str, ...]:
        """The tests with a weight, and others that were run."""
        return tuple(dict.fromkeys([*self.tests, *(name for one in results for name in one.tests)]))

    def print_console_summary(self, results: Sequence[ModelTestResults]) -> None:
        """Categories, statistics and top recommendations on stdout."""
        echo("\n".join(summary_lines(self.generate_summary(results), results, self._names(results))))

    def save_json_report(self, results: Sequence[ModelTestResults]) -> Path:
        """Write the report to a file of its own and return its path."""
        path = self._new_report()
        report = FullReport(summary=self.generate_summary(results), results=list(results), metadata=self._metadata())
        write_whole(path, [msgspec.json.format(msgspec.json.encode(report), indent=2), b"\n"])
        return path

    def _new_report(self) -> Path:
        """An empty file that no other run writes to, not even one of the same second."""
        stamp = datetime.now(UTC).strftime("%Y%m%d_%H%M%S")
        for number in count(1):
            path = self.output_dir / f"model_capabilities_{stamp}{f'_{number}' if number > 1 else ''}.json"
            with output_errors(path), contextlib.suppress(FileExistsError):
                self.output_dir.mkdir(parents=True, exist_ok=True)
                path.touch(exist_ok=False)
                return path
        raise AssertionError("numbers do not end")

    def _metadata(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "mode": "quick" if self.quick else "full",
            "weights": {name: config.AUTONOMOUS_AGENT_WEIGHTS[name] for name in self.tests},
            "thresholds": {"recommended": config.RECOMMENDED_THRESHOLD, "partial_support": config.PARTIAL_THRESHOLD},
            "max_workers": self.max_workers,
            "timeout_seconds": self.tester.endpoint.spec.timeouts.total,
            "duration_seconds": round(time.time() - self.started_at, 3),
            "interrupted": self.interrupted,
        }

    def _manifest(self, models: Sequence[ModelInfo]) -> Manifest:
        return Manifest(
            run=new_run_id(),
            job="llm-tool-calling-tester",
            started_at=self.started_at,
            toolcert=__version__,
            endpoints=(self.tester.endpoint.spec,),
            models={NAME: tuple(models)},
            probes=self.tests,
            argv=without_secrets(sys.argv),
        )


def _statistics(test: str, results: Sequence[ModelTestResults]) -> dict[str, int]:
    found = [one.tests[test].status for one in results if test in one.tests]
    return {status.value: found.count(status) for status in TestStatus}


def compile_filter(pattern: str | None) -> re.Pattern[str] | None:
    """Compile the filter, or raise an error that names it."""
    try:
        return None if pattern is None else re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"--filter {pattern!r} is not a regular expression: {error}.") from None


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
    yield from _counts(summary)
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


def _counts(summary: TestSummary) -> Iterator[str]:
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
