"""The one rule that turns evidence into a verdict.

Console, pages, JSON, JUnit, Markdown, badge, history, gates and exit codes all ask this module. Each ability is
judged by itself: the weakest one that was asked for decides, and a reproduced error is never outvoted by good rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import PROBE_THRESHOLD, reaches, runs_needed, wilson
from toolcert.core.values import Value

VERIFY_THRESHOLD = 0.99
"""The share of sound answers in a verify run: ten calls in a row then fail in less than a tenth of an agent's runs."""
NOT_THE_MODELS = ("transport.", "dataset.", "internal.")
"""Findings about the network, the dataset and ourselves never cap."""
REPRODUCED = 2
"""Cases that must show an error before it caps: one alone may be an accident."""
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


class CappingFinding(Value):
    """An error-level finding that was reproduced, and how often it was seen where it could have been seen."""

    code: str
    title: str
    k: int
    n: int
    core: bool = False
    """Whether it breaks the unstreamed call itself: its name, arguments or id."""
    when: str = ""
    """Where it shows only under some condition: as in `under load`."""

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
    """How many passing runs of each ability would certify; None where runs are not what is missing."""
    known: int = 0
    """Cases that did not count because the user marked what is wrong with them as known."""
    caps: tuple[str, ...] = ()
    """Codes of the reproduced errors that keep the verdict from being better."""

    @property
    def good(self) -> bool:
        """Whether the default gate is met."""
        return self.word in (Word.CERTIFIED, Word.PASSES)

    def meets(self, required: Word = Word.PASSES) -> bool:
        """Whether a gate that requires `passes` or `certified` is met."""
        return self.word is Word.CERTIFIED or (self.word is Word.PASSES and required is not Word.CERTIFIED)

    @property
    def sentence(self) -> str:
        """The headline: word and reason."""
        return f"{self.word.text}: {self.reason}" if self.reason else self.word.text


def decide(
    abilities: Sequence[Ability],
    faults: Sequence[CappingFinding] = (),
    *,
    coverage: Coverage,
    threshold: float = PROBE_THRESHOLD,
    rules: Sequence[Rule] | None = None,
    allow: Sequence[str] = (),
    known: int = 0,
) -> Verdict:
    """Judge one model by what was measured; findings and abilities that the user allows to fail do not decide."""
    rules = RULES if rules is None else rules
    if allow:
        faults = [fault for fault in faults if not is_allowed(fault.code, allow)]
        abilities = [ability for ability in abilities if ability.core or not _may_fail(ability, allow)]
    evidence = Evidence(abilities, faults, coverage, threshold)
    word, reason = _conclude(evidence, rules)
    return Verdict(
        word=word,
        reason=reason + known_words(known),
        known=known,
        exemptions=tuple(evidence.exemptions()),
        coverage=coverage,
        weakest=evidence.weakest.name if evidence.weakest else "",
        threshold=threshold,
        runs_to_certify=runs_needed(threshold) if word is Word.PASSES and threshold < 1 else None,
        caps=tuple(fault.code for fault in faults),
    )


def known_words(known: int) -> str:
    """What a reason ends with where marks keep cases from having a say."""
    return f"; {known} known {'case' if known == 1 else 'cases'} left out" if known else ""


def can_cap(code: str, severity: Severity) -> bool:
    """Whether a finding caps the verdict once it is reproduced."""
    return severity is Severity.ERROR and not code.startswith(NOT_THE_MODELS)


def _may_fail(ability: Ability, allow: Sequence[str]) -> bool:
    """Whether the user lets an ability fail: by its name, or by all errors that it shows."""
    shown = ability.codes
    return ability.name in allow or (bool(shown) and all(is_allowed(code, allow) for code in shown))


def is_allowed(code: str, allowed: Iterable[str]) -> bool:
    """Whether a finding is allowed: by its code, or by its family."""
    return any(code == one or code.startswith(f"{one}.") for one in allowed)


class Evidence:
    """What was measured of one model, sorted for the rules."""

    def __init__(
        self, abilities: Sequence[Ability], faults: Sequence[CappingFinding], coverage: Coverage, threshold: float
    ) -> None:
        self.abilities = [ability for ability in abilities if ability.measured]
        self.asked = [ability for ability in self.abilities if ability.asked_for or ability.core]
        self.unseen = [one for one in abilities if one.missing and not one.measured and (one.asked_for or one.core)]
        # Where no core ability was planned, those that were asked for stand in: something must be seen to work.
        has_core = any(ability.core for ability in abilities)
        self.core = [ability for ability in self.asked if ability.core or not has_core]
        self.faults = faults
        self.coverage = coverage
        self.threshold = threshold

    @property
    def weakest(self) -> Ability | None:
        return _lowest([ability for ability in self.asked if ability.n])

    def exemptions(self) -> Iterator[Exemption]:
        """All that does not work, also what the suite gives no weight."""
        yield from self.deciding_exemptions()
        for ability in self.abilities:
            if ability not in self.asked and self._lacks(ability):
                yield Exemption(name=ability.name, text=_ability_text(ability))

    def deciding_exemptions(self) -> Iterator[Exemption]:
        """What does not work although it was asked for, core abilities apart."""
        lacking = [ability for ability in self.asked if ability not in self.core and self._lacks(ability)]
        told: set[str] = set()
        for fault in self.faults:
            # An ability that fails because of the fault is one thing with it, not a second one.
            broken = [ability.name for ability in lacking if fault.code in ability.codes and ability.name not in told]
            told.update(broken)
            text = _fault_text(fault)
            yield Exemption(name=fault.code, text=f"{', '.join(broken)} ({text})" if broken else text)
        for ability in lacking:
            if ability.name not in told:
                yield Exemption(name=ability.name, text=_ability_text(ability))

    def _lacks(self, ability: Ability) -> bool:
        return bool(ability.refused and not ability.n) or ability.below(self.threshold)

    def because(self) -> str:
        """The faults that explain a low rate, in brackets."""
        return f" ({', '.join(_fault_text(fault) for fault in self.faults[:2])})" if self.faults else ""


Conclusion: TypeAlias = tuple[Word, str]
"""The word and its reason."""
Rule: TypeAlias = Callable[[Evidence], Conclusion | None]
"""Looks at the evidence and concludes, or leaves it to the next rule."""


def nothing_measured(evidence: Evidence) -> Conclusion | None:
    """Nothing that was asked for was answered, or next to nothing and no call among it, as with a dead key."""
    coverage = evidence.coverage
    if not any(ability.n or ability.refused for ability in evidence.asked):
        return Word.NOT_MEASURED, "nothing could be measured"
    if not evidence.core and not coverage.enough:
        return Word.NOT_MEASURED, f"only {coverage.measured} of {coverage.planned} were measured, and no call"
    return None


def tools_refused(evidence: Evidence) -> Conclusion | None:
    """The server says of every core ability that it cannot."""
    if evidence.core and all(ability.refused and not ability.n for ability in evidence.core):
        return Word.UNSUPPORTED, "the server says that it cannot call tools"
    return None


def core_below_threshold(evidence: Evidence) -> Conclusion | None:
    """A core ability is below the threshold, or a fault breaks the calls themselves."""
    failing = _lowest([ability for ability in evidence.core if ability.below(evidence.threshold)])
    if failing is not None:
        return Word.FAILS, _ability_text(failing) + evidence.because()
    broken = next((fault for fault in evidence.faults if fault.breaks_core(evidence.threshold)), None)
    return None if broken is None else (Word.FAILS, f"{_fault_text(broken)}: {broken.title}")


def too_little_covered(evidence: Evidence) -> Conclusion | None:
    """Less was measured than the floor, or nothing of one ability."""
    coverage = evidence.coverage
    if not coverage.enough:
        return Word.UNDECIDED, f"only {coverage.measured} of {coverage.planned} were measured"
    return (Word.UNDECIDED, f"{evidence.unseen[0].name} could not be measured") if evidence.unseen else None


def core_undecided(evidence: Evidence) -> Conclusion | None:
    """A core ability is short of the threshold by chance or in truth."""
    return _short(evidence, evidence.core)


def works_in_part(evidence: Evidence) -> Conclusion | None:
    """Something that was asked for does not work, or an error was reproduced."""
    found = [exemption.text for exemption in evidence.deciding_exemptions()]
    return (Word.PARTIAL, _all_but(found)) if found else None


def _all_but(found: Sequence[str]) -> str:
    """What a verdict of `partial` says: the most important exceptions, and how many more there are."""
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return f"works, except: {'; '.join(found[:3])}{more}"


def undecided(evidence: Evidence) -> Conclusion | None:
    """Any ability is short of the threshold by chance or in truth."""
    return _short(evidence, evidence.asked)


def certified(evidence: Evidence) -> Conclusion | None:
    """Every ability is proven."""
    rated = [ability for ability in evidence.asked if ability.n]
    if rated and all(ability.proven(evidence.threshold) for ability in rated):
        return Word.CERTIFIED, f"{_counts(evidence)} at the least, proven to reach {100 * evidence.threshold:g} %"
    return None


def passes(evidence: Evidence) -> Conclusion | None:
    """Every ability reaches the threshold, in too few runs for a proof."""
    if evidence.threshold >= 1:
        return Word.PASSES, f"{_counts(evidence)}; no number of runs proves a rate of 100 %"
    return Word.PASSES, f"{_counts(evidence)}; {runs_needed(evidence.threshold)} passing runs of each would certify"


RULES: tuple[Rule, ...] = (
    nothing_measured,
    # What is proven bad stays bad however little was measured; what looks good needs coverage first.
    tools_refused,
    core_below_threshold,
    too_little_covered,
    core_undecided,
    works_in_part,
    undecided,
    certified,
    passes,
)
"""In this order; the first that concludes decides."""


def _conclude(evidence: Evidence, rules: Sequence[Rule]) -> Conclusion:
    found = (rule(evidence) for rule in rules)
    return next(conclusion for conclusion in found if conclusion is not None)


def _short(evidence: Evidence, abilities: Sequence[Ability]) -> Conclusion | None:
    short = _lowest([ability for ability in abilities if ability.n and not ability.reaches(evidence.threshold)])
    if short is None:
        return None
    return Word.UNDECIDED, f"{_ability_text(short)}; more runs would tell{evidence.because()}"


def _lowest(abilities: Sequence[Ability]) -> Ability | None:
    return min(abilities, key=lambda ability: ability.k / ability.n, default=None)


def _counts(evidence: Evidence) -> str:
    weakest = evidence.weakest
    return "nothing rated" if weakest is None else f"{weakest.k} of {weakest.n}"


def _fault_text(fault: CappingFinding) -> str:
    text = f"{fault.code} in {fault.k} of {fault.n}"
    return f"not {fault.when} ({text})" if fault.when else text


def _ability_text(ability: Ability) -> str:
    if not ability.n:
        return f"{ability.name} refused by the server"
    return f"{ability.name}: {ability.fault or 'fails'} in {ability.n - ability.k} of {ability.n}"


def worst(words: Iterable[Word]) -> Word:
    """The word that decides for several models together."""
    return max(words, key=lambda word: list(Word).index(word), default=Word.NOT_MEASURED)
