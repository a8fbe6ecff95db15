"""The rule that decides, word by word."""

from __future__ import annotations

import math

import pytest

from toolcert.core.statistics.rates import wilson
from toolcert.core.statistics.sequential import SequentialTest
from toolcert.core.verdict import Ability, CappingFinding, Coverage, Word, decide

FULL = Coverage(measured=100, planned=100)


def core(k: int, n: int, **more: object) -> Ability:
    return Ability(name="basic", k=k, n=n, core=True, **more)  # type: ignore[arg-type]


def streamed(k: int, n: int, **more: object) -> Ability:
    return Ability(name="streaming", k=k, n=n, **more)  # type: ignore[arg-type]


CUT = CappingFinding(code="stream.cut", title="The stream ends early.", k=5, n=5)


@pytest.mark.parametrize(
    ("abilities", "faults", "coverage", "word"),
    [
        ([core(35, 35), streamed(35, 35)], [], FULL, Word.CERTIFIED),
        ([core(35, 35), streamed(34, 35)], [], FULL, Word.PASSES),
        ([core(5, 5)], [], FULL, Word.PASSES),
        ([core(35, 35), streamed(35, 35)], [CUT], FULL, Word.PARTIAL),
        ([core(35, 35), streamed(0, 35)], [], FULL, Word.PARTIAL),
        ([core(35, 35), streamed(0, 35, asked_for=False)], [], FULL, Word.CERTIFIED),
        ([core(35, 35), streamed(0, 0, refused=5)], [], FULL, Word.PARTIAL),
        ([core(0, 5)], [], FULL, Word.FAILS),
        ([core(20, 35)], [], FULL, Word.FAILS),
        ([core(4, 5)], [], FULL, Word.UNDECIDED),
        ([core(4, 5), streamed(0, 5)], [CUT], FULL, Word.UNDECIDED),
        ([core(5, 5), streamed(4, 5)], [], FULL, Word.UNDECIDED),
        ([core(0, 0, refused=5)], [], FULL, Word.UNSUPPORTED),
        ([core(0, 0)], [], Coverage(), Word.NOT_MEASURED),
        ([], [], FULL, Word.NOT_MEASURED),
        ([core(56, 56)], [], Coverage(measured=64, planned=300), Word.UNDECIDED),
        ([core(0, 56)], [], Coverage(measured=64, planned=300), Word.FAILS),
        ([core(95, 95)], [], Coverage(measured=95, planned=100), Word.CERTIFIED),
        ([core(94, 94)], [], Coverage(measured=94, planned=100), Word.UNDECIDED),
    ],
)
def test_each_word_of_the_table(
    abilities: list[Ability], faults: list[CappingFinding], coverage: Coverage, word: Word
) -> None:
    verdict = decide(abilities, faults, coverage=coverage)
    assert verdict.word is word
    assert verdict.good == (word in (Word.CERTIFIED, Word.PASSES))


def test_good_rates_never_outvote_a_reproduced_error() -> None:
    verdict = decide([core(1000, 1000), streamed(1000, 1000)], [CUT], coverage=FULL)
    assert verdict.word is Word.PARTIAL
    assert "stream.cut in 5 of 5" in verdict.reason
    assert not verdict.meets()


def test_a_fault_that_the_user_allows_may_stand() -> None:
    assert decide([core(5, 5)], [CUT], coverage=FULL).caps == ("stream.cut",)
    assert decide([core(5, 5)], [CUT], coverage=FULL, allow=["stream.cut"]).word is Word.PASSES
    assert decide([core(5, 5)], [CUT], coverage=FULL, allow=["stream"]).word is Word.PASSES
    assert decide([core(5, 5)], [CUT], coverage=FULL, allow=["stream.c"]).word is Word.PARTIAL


def test_a_fault_in_every_unstreamed_call_fails() -> None:
    fault = CappingFinding(code="call.id_missing", title="Calls have no id.", k=5, n=5, core=True)
    assert decide([core(5, 5)], [fault], coverage=FULL).word is Word.FAILS
    rare = CappingFinding(code="call.id_missing", title="Calls have no id.", k=2, n=40, core=True)
    assert decide([core(40, 40)], [rare], coverage=FULL).word is Word.PARTIAL


def test_passes_says_how_many_runs_would_certify() -> None:
    verdict = decide([core(5, 5)], coverage=FULL)
    assert verdict.runs_to_certify == 35
    assert verdict.sentence == "passes: 5 of 5; 35 passing runs of each would certify"
    assert verdict.meets()
    assert not verdict.meets(Word.CERTIFIED)


@pytest.mark.parametrize("threshold", [0.9, 0.99])
def test_an_ability_at_the_threshold_is_rarely_certified(threshold: float) -> None:
    """Exact, over every number of runs up to 400: never in more than 5 % of runs."""
    for n in range(1, 400):
        certified = 0.0
        for k in range(n, -1, -1):
            interval = wilson(k, n)
            if interval is None or interval.lower < threshold:
                break
            certified += math.comb(n, k) * threshold**k * (1 - threshold) ** (n - k)
        assert certified <= 0.05, n


def test_a_run_without_a_core_ability_is_judged_by_what_it_asked() -> None:
    """A choice of probes that all fail never "works, except"."""
    assert decide([streamed(0, 5)], coverage=FULL).word is Word.FAILS
    assert decide([streamed(0, 0, refused=5)], coverage=FULL).word is Word.UNSUPPORTED


def test_the_sentence_says_what_goes_wrong_and_how_often() -> None:
    verdict = decide([core(2, 5, fault="calls with wrong values")], coverage=FULL)
    assert verdict.sentence == "fails: basic: calls with wrong values in 3 of 5"


def test_an_allowed_fault_takes_the_abilities_with_it_that_it_broke() -> None:
    """Streams that are cut fail the probe of streams; who allows the one allows the other."""
    broken = streamed(0, 5, codes=("stream.cut",))
    assert decide([core(5, 5), broken], [CUT], coverage=FULL).word is Word.PARTIAL
    assert decide([core(5, 5), broken], [CUT], coverage=FULL, allow=["stream.cut"]).word is Word.PASSES
    of_the_call = core(0, 5, codes=("stream.cut",))
    assert decide([of_the_call], [CUT], coverage=FULL, allow=["stream.cut"]).word is Word.FAILS


def test_an_ability_that_the_user_allows_to_fail_does_not_decide() -> None:
    """By its name, or by all errors that it shows; a core ability is never let off."""
    refused = streamed(0, 0, refused=5)
    assert decide([core(5, 5), refused], coverage=FULL).word is Word.PARTIAL
    assert decide([core(5, 5), refused], coverage=FULL, allow=["streaming"]).word is Word.PASSES
    twice_wrong = streamed(0, 5, codes=("stream.cut", "args.lost"))
    assert decide([core(5, 5), twice_wrong], coverage=FULL, allow=["stream.cut"]).word is Word.PARTIAL
    assert decide([core(0, 5)], coverage=FULL, allow=["basic"]).word is Word.FAILS


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("threshold", "most"),
    [(0.9, 35), (0.9, 100), (0.9, 400), (0.99, 400)],
)
def test_an_ability_at_the_threshold_is_rarely_certified_by_a_run_that_stops_early(threshold: float, most: int) -> None:
    """Exact, over every course of an adaptive run: what is looked at after each case is certified no more often."""
    alive, certified = {0: 1.0}, 0.0
    for n in range(1, most + 1):
        grown: dict[int, float] = {}
        for k, chance in alive.items():
            grown[k] = grown.get(k, 0.0) + chance * (1 - threshold)
            grown[k + 1] = grown.get(k + 1, 0.0) + chance * threshold
        alive = {}
        for k, chance in grown.items():
            test = SequentialTest(threshold=threshold)
            test.passed, test.failed = max(0, k - 1), n - k  # the last case completes the counts
            if k and test.update(passed=True) is None and n < most:
                alive[k] = chance
            elif decide([core(k, n)], coverage=FULL, threshold=threshold).word is Word.CERTIFIED:
                certified += chance
    assert 0 < certified <= 0.05


def test_a_perfect_model_is_certified_by_a_run_that_stops_early() -> None:
    test = SequentialTest(threshold=0.9)
    decision = next(found for _ in range(100) if (found := test.update(passed=True)))
    assert decide([core(decision.k, decision.n)], coverage=FULL).word is Word.CERTIFIED
