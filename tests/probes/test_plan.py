"""The plan: stages, early stops, preconditions, resuming; no request is needed to prove these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
import pytest

from toolcert.core.cases import Case, Outcome
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.targets import ModelInfo
from toolcert.engine.local import skipped
from toolcert.probes.base import find_probe, with_needs
from toolcert.probes.run.schedule import ProbePlan

Answering = Callable[[Case], Record]


def record_of(case: Case, outcome: Outcome, *, called: bool | None = None) -> Record:
    facts = ProbeFacts(probe=case.probe or "", iteration=case.iteration or 0, called=called, requests=1)
    return Record(case=case.key, endpoint=case.endpoint, model=case.model, outcome=outcome, probe=facts)


def passing(case: Case) -> Record:
    return record_of(case, Outcome.PASSED, called=True)


def silent(case: Case) -> Record:
    return record_of(case, Outcome.FAILED, called=False)


def unmeasured(case: Case) -> Record:
    return record_of(case, Outcome.NOT_MEASURED)


def plan_of(*names: str, models: Sequence[ModelInfo] = (ModelInfo(id="m"),), **settings: object) -> ProbePlan:
    return ProbePlan({"e": models}, with_needs(names), **settings)  # type: ignore[arg-type]  # keywords of the plan


def work_off(plan: ProbePlan, answer: Answering, most: int = 100_000) -> list[Record]:
    """Do all cases one after the other, as an engine would."""
    waiting = [case for source in plan.sources().values() for case in source]
    records: list[Record] = []
    while waiting and len(records) < most:
        case = waiting.pop(0)
        records.append(skipped(case, case.skip) if case.skip else answer(case))
        waiting.extend(plan.after(records[-1]))
    return records


def asked(records: Iterable[Record], probe: str) -> list[int]:
    """The iterations of a probe that were really asked."""
    return [
        record.probe.iteration
        for record in records
        if record.probe and record.probe.probe == probe and record.outcome is not Outcome.SKIPPED
    ]


def test_keys_are_stable_and_every_case_comes_once() -> None:
    plan = plan_of("basic", "parallel", iterations=7, models=[ModelInfo(id="a/b"), ModelInfo(id="c")])
    keys = [record.case for record in work_off(plan, passing)]
    assert len(keys) == len(set(keys)) == plan.total == 2 * 2 * 7
    assert "e/a/b/parallel/7" in keys


def test_it_is_known_how_many_models_are_through() -> None:
    models = [ModelInfo(id="a"), ModelInfo(id="b"), ModelInfo(id="no", can_chat=False)]
    plan = plan_of("basic", "parallel", iterations=7, models=models)
    assert plan.models_done == (0, 2)
    first = [case for source in plan.sources().values() for case in source if case.model == "a"]
    while first:
        first.extend(plan.after(silent(first.pop())))
    assert plan.models_done == (1, 2)


def test_requests_are_known_beforehand() -> None:
    plan = plan_of("hello_world", "basic", iterations=10, models=[ModelInfo(id="a"), ModelInfo(id="b")])
    assert plan.requests_planned() == 2 * 10 * (2 + 1)


def test_no_call_in_the_first_five_ends_a_probe() -> None:
    records = work_off(plan_of("basic", iterations=50), silent)
    assert asked(records, "basic") == [1, 2, 3, 4, 5]
    assert {record.reason for record in records[5:]} == {"no valid call in the first 5 iterations"}
    assert len(records) == 50


def test_one_call_in_the_first_five_releases_the_rest_at_once() -> None:
    plan = plan_of("basic", iterations=50)
    first = next(plan.sources()["e"])
    assert len(plan.after(passing(first))) == 45


def test_what_is_not_measured_does_not_count_towards_the_five() -> None:
    """Two timeouts among the first five: two more iterations are asked before the probe is given up."""
    records = work_off(
        plan_of("basic", iterations=50), lambda case: unmeasured(case) if case.iteration in (2, 4) else silent(case)
    )
    assert asked(records, "basic") == [1, 2, 3, 4, 5, 6, 7]


def test_an_outage_is_asked_through_to_the_end() -> None:
    assert len(asked(work_off(plan_of("basic", iterations=20), unmeasured), "basic")) == 20


def test_failures_that_are_not_about_calling_do_not_stop_a_probe() -> None:
    records = work_off(plan_of("json_object", iterations=20), lambda case: record_of(case, Outcome.FAILED))
    assert len(asked(records, "json_object")) == 20


def test_refusals_stop_a_probe_too() -> None:
    records = work_off(plan_of("json_object", iterations=20), lambda case: record_of(case, Outcome.UNSUPPORTED))
    assert len(asked(records, "json_object")) == 5
    assert records[-1].reason == "refused in the first 5 iterations"


def test_a_needed_probe_releases_its_dependents_with_its_first_pass() -> None:
    plan = plan_of("irrelevance", iterations=3)
    cases = list(plan.sources()["e"])
    assert {case.probe for case in cases} == {"basic"}
    assert {case.probe for case in plan.after(passing(cases[0]))} == {"irrelevance"}
    assert plan.after(passing(cases[1])) == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (silent, "needs basic, which never passed"),
        (unmeasured, "needs basic, which is not measured"),
        (lambda case: record_of(case, Outcome.UNSUPPORTED), "needs basic, which is unsupported"),
    ],
)
def test_a_precondition_that_failed_skips_with_the_reason(answer: Answering, reason: str) -> None:
    records = work_off(plan_of("parallel_off", iterations=2), answer)
    by_probe = {record.probe.probe: record.reason for record in records if record.probe}
    assert by_probe["parallel"] == reason
    assert by_probe["parallel_off"] == f"needs parallel, which {reason}"
    assert asked(records, "parallel") == asked(records, "parallel_off") == []
    assert len(records) == 3 * 2


def test_choosing_a_probe_takes_what_it_needs() -> None:
    assert [probe.name for probe in with_needs(["parallel_off"])] == ["basic", "parallel", "parallel_off"]


def test_a_model_that_cannot_chat_is_skipped_once_for_each_probe() -> None:
    models = [ModelInfo(id="embedder", can_chat=False, why_not="an embedding model")]
    plan = plan_of("basic", "parallel", iterations=9, models=models)
    records = work_off(plan, passing)
    assert [record.outcome for record in records] == [Outcome.SKIPPED, Outcome.SKIPPED]
    assert plan.total == 2
    assert plan.requests_planned() == 0


def test_probes_that_others_need_are_asked_first() -> None:
    plan = plan_of("hello_world", "json_object", "many_tools", iterations=1)
    assert next(plan.sources()["e"]).probe == "basic"


@pytest.mark.parametrize("done", [0, 1, 4, 5, 6, 11, 23])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("answer", [passing, silent])
def test_resuming_anywhere_asks_the_rest_and_nothing_twice(done: int, adaptive: bool, answer: Answering) -> None:
    names = ("basic", "irrelevance", "json_object")
    whole = work_off(plan_of(*names, iterations=12, adaptive=adaptive), answer)
    part = [record for record in whole[:done] if record.outcome is not Outcome.SKIPPED]
    plan = plan_of(*names, iterations=12, adaptive=adaptive)
    plan.resume({record.case for record in part}, part)
    rest = work_off(plan, answer)
    keys = [record.case for record in (*part, *rest)]
    assert len(keys) == len(set(keys))
    assert set(keys) == {record.case for record in whole}


def test_resumed_records_may_come_in_any_order() -> None:
    whole = work_off(plan_of("basic", "irrelevance", iterations=12), passing)
    part = list(reversed(whole[:15]))
    plan = plan_of("basic", "irrelevance", iterations=12)
    plan.resume({record.case for record in part}, part)
    rest = work_off(plan, passing)
    assert sorted(record.case for record in (*part, *rest)) == sorted(record.case for record in whole)


def test_own_probes_plan_like_all_others() -> None:
    plan = ProbePlan({"e": [ModelInfo(id="m")]}, [find_probe("basic")], iterations=2)
    assert [case.key for case in plan.sources()["e"]] == ["e/m/basic/1", "e/m/basic/2"]


def erring(*codes: str, in_probe: str = "streaming", iterations: tuple[int, ...] = (1,)) -> Answering:
    """Passes everything; some iterations of one probe show errors beside it."""

    def answer(case: Case) -> Record:
        shows = case.probe == in_probe and case.iteration in iterations
        return msgspec.structs.replace(passing(case), codes=codes if shows else ())

    return answer


@pytest.mark.parametrize("iterations", [1, 3, 7])
def test_an_error_that_one_case_shows_is_asked_for_once_more(iterations: int) -> None:
    plan = plan_of("basic", "streaming", iterations=iterations)
    records = work_off(plan, erring("stream.cut"))
    assert sorted(asked(records, "streaming")) == list(range(1, iterations + 2))
    assert sorted(asked(records, "basic")) == list(range(1, iterations + 1))
    assert plan.models_done == (1, 1)
    assert plan.requests_to_look_again() == 2


def test_a_second_look_is_the_last_one() -> None:
    """Seen again or another error: no third iteration follows."""
    records = work_off(plan_of("streaming", iterations=1), erring("stream.cut", iterations=(1, 2)))
    assert sorted(asked(records, "streaming")) == [1, 2]


@pytest.mark.parametrize(
    "answer",
    [
        erring("stream.cut", iterations=(1, 2)),
        erring("usage.arithmetic", "transport.server_error"),
        passing,
    ],
)
def test_what_is_reproduced_or_cannot_cap_needs_no_second_look(answer: Answering) -> None:
    assert sorted(asked(work_off(plan_of("streaming", iterations=2), answer), "streaming")) == [1, 2]


def test_an_error_that_two_probes_show_needs_no_second_look() -> None:
    records = work_off(
        plan_of("basic", "streaming", iterations=1),
        lambda case: msgspec.structs.replace(passing(case), codes=("call.in_text",)),
    )
    assert (asked(records, "basic"), asked(records, "streaming")) == ([1], [1])


def test_a_resumed_run_does_not_repeat_a_second_look() -> None:
    records = work_off(plan_of("streaming", iterations=1), erring("stream.cut"))
    plan = plan_of("streaming", iterations=1)
    plan.resume({record.case for record in records}, records)
    assert work_off(plan, passing) == []
    half = plan_of("streaming", iterations=1)
    half.resume({records[0].case}, records[:1])
    assert [record.case for record in work_off(half, passing)] == ["e/m/streaming/2"]
