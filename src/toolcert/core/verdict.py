"""The one rule that turns evidence into a verdict.

Console, pages, JSON, JUnit, Markdown, badge, history, gates and exit codes all ask this module. Each ability is
judged by itself: the weakest one that was asked for decides, and a reproduced error is never outvoted by good rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from toolcert.core.statistics import PROBE_THRESHOLD, reaches, runs_needed, wilson
from toolcert.core.values import Value

VERIFY_THRESHOLD = 0.99
"""The share of sound answers in a verify run: ten calls in a row then fail in less than a tenth of an agent's runs."""
COVERAGE_FLOOR = 0.95
"""The share of what was planned that must be measured before anything good may be said."""


class Word(StrEnum):
    """What is said of a model, best first."""

    CERTIFIED = "certified"
    """Every ability is proven to reach the threshold."""
    PASSES = "passes"
    """Every ability reaches the threshold; fewer runs than a proof needs."""
    PARTIAL = "partial"
    """Works, except for named things."""
    UNDECIDED = "undecided"
    """Too few runs, or too few of them measured, to tell."""
    FAILS = "fails"
    """A core ability is below the threshold."""
    UNSUPPORTED = "unsupported"
    """The server says that it cannot call tools."""
    NOT_MEASURED = "not_measured"
    """Nothing, or too little to say anything."""

    @property
    def text(self) -> str:
        return self.value.replace("_", " ")


class Ability(Value):
    """One thing a model was asked to do, as counts."""

    name: str
    """The probe, or the part of a dataset."""
    fault: str = ""
    """What goes wrong most often where it goes wrong, as in "does not call the tool"."""
    k: int = 0
    n: int = 0
    refused: int = 0
    """Cases that the server refuses as not supported, reproduced, while the control works."""
    missing: int = 0
    """Cases that were planned and not measured."""
    core: bool = False
    """A call, its name and arguments, its id, the use of its result, all unstreamed."""
    asked_for: bool = True
    """Whether the suite gives it weight; without, it is listed and does not decide."""
    codes: tuple[str, ...] = ()
    """The errors seen while it was asked."""

    @property
    def measured(self) -> bool:
        return bool(self.n or self.refused)

    def below(self, threshold: float) -> bool:
        """Whether even the upper bound of the rate is below the threshold."""
        interval = wilson(self.k, self.n)
        return interval is not None and interval.upper < threshold

    def proven(self, threshold: float) -> bool:
        interval = wilson(self.k, self.n)
        return interval is not None and interval.lower >= threshold

    def reaches(self, threshold: float) -> bool:
        return reaches(self.k, self.n, threshold)


class Fault(Value):
    """An error-level finding that was reproduced, and how often it was seen where it could have been seen."""

    code: str
    title: str
    k: int
    n: int
    core: bool = False
    """Whether it breaks the unstreamed call itself: its name, arguments or id."""

    def breaks_core(self, threshold: float) -> bool:
        sound = wilson(max(0, self.n - self.k), self.n)
        return self.core and sound is not None and sound.upper < threshold


class Exemption(Value):
    """One named thing that does not work."""

    name: str
    """A probe, or a finding's code."""
    text: str
    """As in `stream.cut in 5 of 5`."""


class Coverage(Value):
    """How much of what was planned was measured. What was not asked because a decision was reached is not planned."""

    measured: int = 0
    planned: int = 0

    @property
    def share(self) -> float:
        return self.measured / self.planned if self.planned else 0.0

    @property
    def enough(self) -> bool:
        return self.planned > 0 and self.share >= COVERAGE_FLOOR


class Verdict(Value):
    """What is said, why, and what it does not cover."""

    word: Word
    reason: str
    """One sentence in plain words."""
    exemptions: tuple[Exemption, ...] = ()
    """What does not work, the most important first."""
    coverage: Coverage = Coverage()
    weakest: str = ""
    """The ability that decides."""
    threshold: float = PROBE_THRESHOLD
    runs_to_certify: int | None = None
    """How many clean runs of each ability would certify; None where runs are not what is missing."""
    caps: tuple[str, ...] = ()
    """Codes of the reproduced errors that keep the verdict from being better."""
    otherwise: Word | None = None
    """What the word would be without the errors in `caps`; None where there are none."""

    @property
    def good(self) -> bool:
        """Whether the default gate is met."""
        return self.word in (Word.CERTIFIED, Word.PASSES)

    def meets(self, required: Word = Word.PASSES) -> bool:
        """Whether a gate that requires `passes` or `certified` is met."""
        return self.word is Word.CERTIFIED or (self.word is Word.PASSES and required is not Word.CERTIFIED)

    def allowing(self, codes: Iterable[str]) -> Verdict:
        """The verdict where the user lets these findings stand: the better word, if they are all that caps it."""
        if self.otherwise is None or not all(is_allowed(code, codes) for code in self.caps):
            return self
        return msgspec.structs.replace(self, word=self.otherwise, caps=(), otherwise=None)

    @property
    def sentence(self) -> str:
        """The headline: word and reason."""
        return f"{self.word.text}: {self.reason}" if self.reason else self.word.text


def decide(
    abilities: Sequence[Ability],
    faults: Sequence[Fault] = (),
    *,
    coverage: Coverage,
    threshold: float = PROBE_THRESHOLD,
) -> Verdict:
    """Judge one model by what was measured."""
    case = _Case(abilities, faults, coverage, threshold)
    word, reason = case.conclude()
    return Verdict(
        word=word,
        reason=reason,
        exemptions=tuple(case.exemptions()),
        coverage=coverage,
        weakest=case.weakest.name if case.weakest else "",
        threshold=threshold,
        runs_to_certify=runs_needed(threshold) if word is Word.PASSES and threshold < 1 else None,
        caps=tuple(fault.code for fault in faults),
        otherwise=_Case(abilities, (), coverage, threshold).conclude()[0] if faults else None,
    )


def is_allowed(code: str, allowed: Iterable[str]) -> bool:
    """Whether a finding may stand: by its code, or by its family."""
    return any(code == one or code.startswith(f"{one}.") for one in allowed)


class _Case:
    """The evidence about one model, and the order in which it is weighed."""

    def __init__(
        self, abilities: Sequence[Ability], faults: Sequence[Fault], coverage: Coverage, threshold: float
    ) -> None:
        self._abilities = [ability for ability in abilities if ability.measured]
        self._asked = [ability for ability in self._abilities if ability.asked_for or ability.core]
        self._unseen = [one for one in abilities if one.missing and not one.measured and (one.asked_for or one.core)]
        # Where no core ability was planned, those that were asked for stand in: something must be seen to work.
        has_core = any(ability.core for ability in abilities)
        self._core = [ability for ability in self._asked if ability.core or not has_core]
        self._faults = faults
        self._coverage = coverage
        self._threshold = threshold
        rated = [ability for ability in self._asked if ability.n]
        self.weakest = min(rated, key=lambda ability: ability.k / ability.n, default=None)

    def conclude(self) -> tuple[Word, str]:
        if not self._asked:
            return Word.NOT_MEASURED, "nothing could be measured"
        # What is proven bad stays bad however little was measured; what looks good needs coverage first.
        return (
            self._unsupported()
            or self._fails()
            or self._uncovered()
            or self._unseen_ability()
            or self._core_undecided()
            or self._partial()
            or self._undecided()
            or self._good()
        )

    def _unsupported(self) -> tuple[Word, str] | None:
        if self._core and all(ability.refused and not ability.n for ability in self._core):
            return Word.UNSUPPORTED, "the server says that it cannot call tools"
        return None

    def _fails(self) -> tuple[Word, str] | None:
        failing = [ability for ability in self._core if ability.below(self._threshold)]
        if failing:
            return Word.FAILS, _ability_text(min(failing, key=lambda ability: ability.k / ability.n)) + self._because()
        broken = next((fault for fault in self._faults if fault.breaks_core(self._threshold)), None)
        return None if broken is None else (Word.FAILS, f"{_fault_text(broken)}: {broken.title}")

    def _uncovered(self) -> tuple[Word, str] | None:
        if self._coverage.enough:
            return None
        measured, planned = self._coverage.measured, self._coverage.planned
        return Word.UNDECIDED, f"only {measured} of {planned} were measured"

    def _unseen_ability(self) -> tuple[Word, str] | None:
        """Enough was measured on the whole, but nothing of one ability."""
        return (Word.UNDECIDED, f"{self._unseen[0].name} could not be measured") if self._unseen else None

    def _core_undecided(self) -> tuple[Word, str] | None:
        return self._short(self._core)

    def _undecided(self) -> tuple[Word, str] | None:
        return self._short(self._asked)

    def _short(self, abilities: Sequence[Ability]) -> tuple[Word, str] | None:
        short = [ability for ability in abilities if ability.n and not ability.reaches(self._threshold)]
        if not short:
            return None
        weakest = min(short, key=lambda ability: ability.k / ability.n)
        return Word.UNDECIDED, f"{_ability_text(weakest)}; more runs would tell{self._because()}"

    def _partial(self) -> tuple[Word, str] | None:
        found = [exemption.text for exemption in self._deciding()]
        return (Word.PARTIAL, f"works, except: {'; '.join(found[:3])}{_more(len(found) - 3)}") if found else None

    def _good(self) -> tuple[Word, str]:
        rated = [ability for ability in self._asked if ability.n]
        if not rated:
            return Word.NOT_MEASURED, "nothing could be measured"
        weakest = self.weakest
        assert weakest is not None
        counts = f"{weakest.k} of {weakest.n}"
        if all(ability.proven(self._threshold) for ability in rated):
            return Word.CERTIFIED, f"{counts} at the least, proven to reach {100 * self._threshold:g} %"
        if self._threshold >= 1:
            return Word.PASSES, f"{counts}; no number of runs proves a rate of 100 %"
        return Word.PASSES, f"{counts}; {runs_needed(self._threshold)} clean runs of each would certify"

    def exemptions(self) -> Iterable[Exemption]:
        """All that does not work, also what the suite gives no weight."""
        yield from self._deciding()
        for ability in self._abilities:
            if ability not in self._asked and self._lacking(ability):
                yield Exemption(name=ability.name, text=_ability_text(ability))

    def _deciding(self) -> Iterable[Exemption]:
        lacking = [ability for ability in self._asked if ability not in self._core and self._lacking(ability)]
        told: set[str] = set()
        for fault in self._faults:
            # An ability that fails because of the fault is one thing with it, not a second one.
            broken = [ability.name for ability in lacking if fault.code in ability.codes and ability.name not in told]
            told.update(broken)
            text = _fault_text(fault)
            yield Exemption(name=fault.code, text=f"{', '.join(broken)} ({text})" if broken else text)
        for ability in lacking:
            if ability.name not in told:
                yield Exemption(name=ability.name, text=_ability_text(ability))

    def _lacking(self, ability: Ability) -> bool:
        return bool(ability.refused and not ability.n) or ability.below(self._threshold)

    def _because(self) -> str:
        return f" ({', '.join(_fault_text(fault) for fault in self._faults[:2])})" if self._faults else ""


def _fault_text(fault: Fault) -> str:
    return f"{fault.code} in {fault.k} of {fault.n}"


def _ability_text(ability: Ability) -> str:
    if not ability.n:
        return f"{ability.name} refused by the server"
    return f"{ability.name}: {ability.fault or 'fails'} in {ability.n - ability.k} of {ability.n}"


def _more(count: int) -> str:
    return f"; and {count} more" if count > 0 else ""


def worst(words: Iterable[Word]) -> Word:
    """The word that decides for several models together."""
    return max(words, key=lambda word: list(Word).index(word), default=Word.NOT_MEASURED)
