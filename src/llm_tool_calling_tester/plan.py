"""The tests of all models as a plan for toolcert's engine."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from llm_tool_calling_tester.statuses import record_of
from llm_tool_calling_tester.tester import NAME, ModelTester
from toolcert.core.cases import Case
from toolcert.core.records import Detail, Record
from toolcert.core.targets import ModelInfo
from toolcert.engine.plan import OnAttempt, Session


class TestPlan:
    """Every test of every model; what an interrupted run has measured is passed over."""

    __test__ = False  # for pytest, which collects by name

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
                skip = "" if info.can_chat else f"model not supported: {info.why_not or 'not a chat model'}"
                key = f"{NAME}/{info.id}/{test}"
                yield Case(key=key, endpoint=NAME, model=info.id, probe=test, iteration=1, skip=skip)


class TestWork:
    """Does a test through the tester's method of that name."""

    __test__ = False

    def __init__(self, tester: ModelTester) -> None:
        self._tester = tester

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record:  # noqa: ARG002 - the tester has its session
        """The record of one test."""
        test = case.probe or ""
        self._tester.watching[case.model, test] = on_attempt
        result = await self._tester.run_test(test, case.model)
        return record_of(result, case, self._tester.evidence.pop((case.model, test), Detail()))
