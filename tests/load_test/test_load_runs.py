"""Load runs over real HTTP: what is found, what is not, and what the run folder keeps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

import toolcert
from toolcert import LoadOptions, LoadRun, Word
from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, UsageError
from toolcert.core.findings import Severity
from toolcert.core.records import LoadFacts, LoadPhase, Manifest, ProbeFacts, Record
from toolcert.load_test import summary as load_summary
from toolcert.probes.summary.load_tally import LevelTally, LoadTally
from toolcert.runs.reader import RunReader
from toolcert.simulate import Vendor
from toolcert.simulate.faults import SeenBy, all_faults

STRONG = {
    "load.corruption": ("8/0.4", {}),
    "load.crosstalk": ("8/0.4", {}),
    "load.degrades": ("400", {"for_": 8.0, "pairs": 16}),
    "load.queueing": ("0.15", {}),
}
"""Each fault so strong that a few pairs show it, and what the run needs."""


def loaded(model: str, folder: Path, *, latency: str = "0.02", **options: object) -> LoadRun:
    settings = {"at_load": 8, "pairs": 40, "seed": 1, "output": str(folder), **options}
    # Answers that take longer the more there are keep the level up also on a busy machine.
    with Vendor(models=[model], latency=latency, queueing=0.01) as vendor:
        return toolcert.load(vendor.url, LoadOptions(**settings))  # type: ignore[arg-type]


def stood_still(folder: Path) -> bool:
    """Whether the whole machine was paused for seconds, as virtual ones are: a load held meanwhile shows nothing."""
    ends = sorted(record.at for record in RunReader(folder).heads())
    return any(later - earlier > 4 for earlier, later in pairwise(ends))


@pytest.mark.heavy
@pytest.mark.parametrize("fault", [one for one in all_faults() if one.seen_by is SeenBy.LOAD], ids=lambda one: one.code)
def test_every_fault_that_load_reveals_is_named_and_nothing_else(fault: object, tmp_path: Path) -> None:
    code = fault.code  # type: ignore[attr-defined]
    option, more = STRONG[code]
    run = loaded(f"fault:{code}:{option}", tmp_path / "run", **more)
    if stood_still(tmp_path / "run"):
        run = loaded(f"fault:{code}:{option}", tmp_path / "again", **more)
    assert [found.code for found in run.summary.findings] == [code]
    errors = [found for found in run.summary.findings if found.severity is Severity.ERROR]
    assert bool(errors) == bool(run.summary.verdict.caps)
    if errors:
        assert f"not under load ({code} in " in run.summary.verdict.reason


@pytest.mark.heavy
@pytest.mark.parametrize("model", ["faithful", "overloaded", "flaky:9/10"])
def test_a_vendor_that_is_slow_busy_or_wrong_by_itself_is_not_said_to_break_under_load(
    model: str, tmp_path: Path
) -> None:
    """`overloaded` answers two of five requests with 429, `flaky` errs in one of ten wherever it is asked."""
    run = loaded(model, tmp_path / "run", latency="0.02~0.8")
    assert not {"load.corruption", "load.crosstalk", "load.degrades"} & {one.code for one in run.summary.findings}
    assert run.summary.verdict.caps == ()


@pytest.mark.heavy
def test_a_level_that_the_vendor_does_not_allow_is_not_certified(tmp_path: Path) -> None:
    """All answers are right, but few requests were ever in flight together."""
    summary = loaded("overloaded", tmp_path / "run").summary
    (full,) = [one for one in summary.levels if one.level == 8]
    assert full.held_back
    assert full.right.k == full.right.n > 0
    assert summary.verdict.word is Word.UNDECIDED
    assert summary.verdict.reason == "a call at 8 at a time could not be measured"
    assert any(line.startswith("The vendor let only ") for line in summary.lines)


def test_answers_that_get_slower_and_not_wrong_are_counted_as_slower() -> None:
    tally = LoadTally(8)
    for number in range(120):
        seconds = 0.5 if number < 60 else 2.0
        facts = LoadFacts(phase=LoadPhase.HOLD, level=8, number=number, began=1000.0 + number)
        tally.add(msgspec.structs.replace(answer(at=1001.0 + number, seconds=seconds), load=facts))
    run = Manifest(run="r", toolcert="0", job="load", started_at=1000.0, parameters={"at_load": 8})
    (found,) = load_summary._summary(run, tally, 1121.0, {}).findings
    assert (found.code, found.count, found.of) == ("load.degrades", 40, 40)
    assert found.evidence == "the median answer takes 0.50 s at first, 2.00 s at last"


def test_the_wait_for_a_retry_is_no_lower_load() -> None:
    """Eight at a time for a second, and one of them once more after a long pause."""
    level = LevelTally(8)
    for number in range(8):
        level.add(answer(at=1001.0, retried=number == 0))
    level.add(answer(at=1010.0))
    assert level.busy == pytest.approx((8 * 8 + 1) / 9)
    assert not level.held_back
    for number in range(64):
        level.add(answer(at=1020.0 + number))
    assert level.busy is not None
    assert level.busy < 4
    assert level.held_back


def answer(*, at: float, seconds: float = 1.0, retried: bool = False) -> Record:
    """A right answer."""
    facts = ProbeFacts(probe="load", iteration=1, seconds=(seconds,), requests=1, retried=retried)
    return Record(case="c", endpoint="e", model="m", outcome=Outcome.PASSED, at=at, probe=facts)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2])
def test_two_percent_crosstalk_from_16_at_a_time_on_is_found_within_500_requests(seed: int, tmp_path: Path) -> None:
    run = loaded(
        "fault:load.crosstalk", tmp_path / "run", latency="0.04", at_load=16, pairs=250, seed=seed, bisect=False
    )
    assert [found.code for found in run.summary.findings] == ["load.crosstalk"]


@pytest.mark.heavy
def test_the_first_level_that_breaks_is_found(tmp_path: Path) -> None:
    # Slow answers overlap also on a busy machine, and a frequent fault is not missed by chance.
    run = loaded("fault:load.corruption:5/0.9", tmp_path / "run", latency="0.1")
    assert run.summary.search is not None
    assert run.summary.search.sound < 5 <= run.summary.search.broken <= 6
    assert "Calls begin to break between" in " ".join(run.summary.lines)


@pytest.mark.heavy
def test_both_answers_of_a_broken_pair_and_both_owners_of_a_foreign_value_are_shown(tmp_path: Path) -> None:
    pair = loaded("fault:load.corruption:8/0.4", tmp_path / "pair", bisect=False).summary.findings[0].examples[0]
    assert "log_reading" in pair.alone
    assert "log_reading" in pair.loaded
    assert pair.alone_case.replace("/pair/1/", "/pair/8/") == pair.case
    foreign = loaded("fault:load.crosstalk:8/0.4", tmp_path / "foreign", bisect=False).summary.findings[0].examples[0]
    assert "belongs to request" in foreign.evidence


def test_a_small_run_counts_pairs_levels_and_times(tmp_path: Path) -> None:
    run = loaded("faithful", tmp_path / "run", at_load=4, pairs=8, latency="0.002")
    summary = run.summary
    assert (summary.pairs.measured, summary.pairs.both_right) == (8, 8)
    assert [one.level for one in summary.levels] == [1, 2, 4]
    alone, loaded_level = summary.levels[0], summary.levels[-1]
    assert alone.timings.first_token.n == 4  # every second question is streamed
    assert alone.timings.call.n == loaded_level.timings.call.n == 8
    assert alone.timings.tokens_per_second.p50
    assert summary.verdict.word is Word.PASSES
    assert toolcert.load_run(run.folder).summary == summary


def test_a_finished_run_is_not_asked_again_and_more_pairs_extend_it(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:

        def again(**more: object) -> int:
            before = vendor.requests.count()
            settings = {"at_load": 2, "pairs": 4, "output": str(tmp_path / "run"), **more}
            run = toolcert.load(vendor.url, LoadOptions(**settings))  # type: ignore[arg-type]
            assert run.summary.pairs.measured == settings["pairs"]
            return vendor.requests.count() - before

        assert again() == 8
        assert again() == 0
        assert again(pairs=6) == 4
        with pytest.raises(InputError, match="at load was 2, now 3"):
            again(at_load=3)


def test_a_budget_that_is_spent_leaves_the_question_open(tmp_path: Path) -> None:
    run = loaded("faithful", tmp_path / "run", at_load=4, pairs=20, max_requests=10, latency="0")
    assert run.summary.verdict.word is Word.UNDECIDED
    assert run.summary.verdict.coverage.planned == 40
    assert "limit on requests" in run.summary.headline


def test_a_model_that_cannot_call_is_not_blamed_on_load(tmp_path: Path) -> None:
    wrong = loaded("text-caller", tmp_path / "wrong", latency="0").summary
    assert (wrong.verdict.word, wrong.findings, wrong.requests) == (Word.FAILS, (), 16)
    refused = loaded("no-tools", tmp_path / "refused", latency="0").summary
    assert (refused.verdict.word, refused.findings) == (Word.UNSUPPORTED, ())


@pytest.mark.heavy
def test_the_vendor_never_sees_more_requests_than_the_level(tmp_path: Path) -> None:
    with Vendor(models=["faithful"], latency=0.1) as vendor:
        toolcert.load(vendor.url, LoadOptions(at_load=6, pairs=12, output=str(tmp_path)))
        assert vendor.peak == 6


@pytest.mark.heavy
def test_a_run_without_evidence_still_says_what_was_seen(tmp_path: Path) -> None:
    run = loaded("fault:load.crosstalk:2/1", tmp_path / "run", at_load=4, pairs=8, bisect=False, keep="verdicts")
    (found,) = run.summary.findings
    assert (found.code, found.evidence) == ("load.crosstalk", "an answer has the code of another request")
    assert toolcert.report(run.folder, html=tmp_path / "page.html", junit=tmp_path / "j.xml").job == "load"


def test_a_load_run_is_about_one_model(tmp_path: Path) -> None:
    with Vendor(models=["faithful", "slow"]) as vendor, pytest.raises(UsageError, match="one model, and 2 are chosen"):
        toolcert.load(vendor.url, LoadOptions(output=str(tmp_path)))


def test_the_two_requests_of_a_pair_differ_in_their_code_and_number_only(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        toolcert.load(vendor.url, LoadOptions(at_load=2, pairs=3, output=str(tmp_path)))
        asked = [body["messages"][0]["content"] for body in vendor.requests.bodies()]
    assert len(set(asked)) == 6
    shapes = sorted(text.partition(", unit")[2] for text in asked)
    assert shapes[0::2] == shapes[1::2]


@pytest.mark.heavy
def test_pairs_with_the_values_of_others_are_told_beside_those_that_are_wrong_in_another_way(tmp_path: Path) -> None:
    """They are not counted as corruption, so "0 pairs wrong under load" alone would be untrue."""
    summary = loaded("fault:load.crosstalk:2/1", tmp_path / "run", at_load=4, pairs=8, bisect=False).summary
    assert summary.pairs.crosstalk
    assert summary.lines[0].endswith(" with another request's values.")
    assert summary.lines[1].startswith("0 other pairs right alone and wrong under load")
