"""The schedule of a probe run: which iterations are asked when, and when the rest are skipped."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from toolcert.core.cases import Case, Outcome, Skip, SkipKind
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.statistics.rates import PROBE_THRESHOLD, Certainty
from toolcert.core.statistics.sequential import SequentialTest
from toolcert.core.targets import ModelInfo
from toolcert.core.verdict import REPRODUCED, can_cap
from toolcert.diagnose import kind_of
from toolcert.probes.base import Probe

FIRST = 5
"""A model that makes no call in this many iterations is not asked for more."""
_NO_CALL = Skip(kind=SkipKind.NO_CALL, reason=f"no valid call in the first {FIRST} iterations")
_REFUSED = Skip(kind=SkipKind.REFUSED, reason=f"refused in the first {FIRST} iterations")

MakeCase = Callable[[int, Skip | None], Case]
"""From an iteration and why to skip it (or None) to its case."""


class ProbeIterations:
    """Hands out the iterations of one probe; the same records lead to the same cases in any order."""

    def __init__(self, make: MakeCase, iterations: int, test: SequentialTest | None = None) -> None:
        self._make = make
        self._iterations = iterations
        self._test = test
        staged = test is not None or iterations > FIRST
        self._first = min(FIRST, iterations) if staged else iterations
        self._given = self._first
        self._waiting = set(range(1, self._first + 1))
        self._done: set[int] = set()
        self._silent: dict[int, Skip] = {}
        """Iterations without a call, with the skip that the others get when none calls at all."""
        self._opened = not staged
        self._skip: Skip | None = None
        self.passed = False
        self.measured = False
        self.unsupported = False
        self.not_applicable = False

    def opening(self) -> list[Case]:
        """The cases that can be asked from the start."""
        return [self._make(iteration, None) for iteration in range(1, self._first + 1)]

    def skipped(self, skip: Skip) -> list[Case]:
        """All cases, none of which is asked."""
        self._skip = skip
        self._waiting.clear()
        self._given = self._iterations
        return [self._make(iteration, skip) for iteration in range(1, self._iterations + 1)]

    @property
    def settled(self) -> bool:
        """Whether nothing more will come."""
        return not self._waiting and self._given == self._iterations

    def once_more(self) -> list[Case]:
        """One iteration beyond those that were planned."""
        further = self._iterations + 1
        if further not in self._done:
            self._waiting.add(further)
        return [self._make(further, None)]

    def unmet(self, name: str) -> Skip:
        """Why the probes that need this one are skipped."""
        kind = SkipKind.NEED_FAILED
        if self._skip is not None:
            kind, state = self._skip.kind, self._skip.reason
        elif self.measured:
            state = "never passed"
        elif self.unsupported:
            state = "is unsupported"
        elif self.not_applicable:
            kind, state = SkipKind.NOT_APPLICABLE, "does not apply"
        else:
            kind, state = SkipKind.NEED_NOT_MEASURED, "is not measured"
        return Skip(kind=kind, reason=f"needs {name}, which {state}")

    def after(self, record: Record) -> list[Case]:
        """The cases that a finished one releases."""
        if record.probe is None:
            return []
        self._note(record, record.probe)
        self._done.add(record.probe.iteration)
        self._waiting.discard(record.probe.iteration)
        if self._given == self._iterations:
            return []
        if skip := self._stop():
            return self._give(range(self._given + 1, self._iterations + 1), skip)
        return self._give(range(self._given + 1, self._given + 1 + self._wanted()), None)

    def _note(self, record: Record, facts: ProbeFacts) -> None:
        self.passed |= record.outcome is Outcome.PASSED
        self.measured |= record.outcome.measured
        self.unsupported |= record.outcome is Outcome.UNSUPPORTED
        self.not_applicable |= record.skip is SkipKind.NOT_APPLICABLE
        if record.outcome is Outcome.UNSUPPORTED:
            self._silent[facts.iteration] = _REFUSED
        elif facts.called is False:
            self._silent[facts.iteration] = _NO_CALL
        elif record.outcome.measured or facts.called:
            self._opened = True
        if self._test is not None and record.outcome.measured:
            self._test.update(record.outcome is Outcome.PASSED)

    def _stop(self) -> Skip | None:
        """Why the rest is not asked; None if it is."""
        # Waiting for all that were asked keeps the decision independent of the order in which answers come.
        if not self._opened and len(self._silent) >= FIRST and not self._waiting:
            return _NO_CALL if _NO_CALL in self._silent.values() else _REFUSED
        if self._test is not None and self._test.decision is not None:
            return _decided(self._test)
        return None

    def _wanted(self) -> int:
        """How many more iterations to ask now."""
        left = self._iterations - self._given
        if self._opened and self._test is None:
            return left
        # Cases that could not be measured decide nothing: others take their place until FIRST of them were silent.
        enough = FIRST if self._opened else FIRST - len(self._silent)
        return max(0, min(left, enough - len(self._waiting)))

    def _give(self, iterations: Iterable[int], skip: Skip | None) -> list[Case]:
        cases = [self._make(iteration, skip) for iteration in iterations]
        if cases:
            self._given = cases[-1].iteration or self._given
        if skip is None:
            # A resumed run may have measured some of these already.
            self._waiting.update({case.iteration or 0 for case in cases} - self._done)
        return cases


def _decided(test: SequentialTest) -> Skip:
    decision = test.decision
    assert decision is not None
    word = "reaches" if decision.certainty is Certainty.PROVEN else "stays below"
    reason = f"decided early: {decision.k} of {decision.n} shows that the rate {word} the threshold"
    return Skip(kind=SkipKind.DECIDED, reason=reason)


class ProbePlan:
    """Cases are released as records come in: after early stops, decisions and preconditions."""

    def __init__(
        self,
        models: Mapping[str, Sequence[ModelInfo]],
        probes: Sequence[Probe],
        *,
        iterations: int = 1,
        adaptive: bool = False,
        threshold: float = PROBE_THRESHOLD,
        second_looks: bool = True,
    ) -> None:
        """Without `second_looks` no iteration is added: users of the older tools expect the number they gave."""
        self._models = models
        self._looks_again = second_looks
        self._probes = {probe.name: probe for probe in probes}
        self._iterations = iterations
        self._measured: Container[str] = ()
        self._resumed = 0
        self._released: list[Case] = []
        self._progress: dict[tuple[str, str], dict[str, ProbeIterations]] = {}
        """Endpoint and model to the iterations of each probe."""
        for endpoint, infos in models.items():
            for info in infos:
                if info.can_chat:
                    self._progress[endpoint, info.id] = {
                        name: ProbeIterations(
                            _maker(endpoint, info.id, name), iterations, _test(threshold) if adaptive else None
                        )
                        for name in self._probes
                    }
        self._begun: set[tuple[str, str, str]] = set()
        """Probes of a model whose cases were released or skipped."""
        self._errors: dict[tuple[str, str], dict[str, set[str]]] = {target: {} for target in self._progress}
        """Of each model: the errors that were seen, with the cases that show them."""
        self._asked_again: set[tuple[str, str]] = set()

    @property
    def total(self) -> int:
        """Cases, including those that turn out to be skipped."""
        return self._chatting * self._iterations * len(self._probes) + self._silent * len(self._probes)

    @property
    def models_done(self) -> tuple[int, int]:
        """How many models have nothing more to come, of how many that are asked."""
        done = sum(all(one.settled for one in progress.values()) for progress in self._progress.values())
        return done, len(self._progress)

    def requests_planned(self) -> int:
        """The most requests the run sends, without retries, control requests after a refusal, and second looks."""
        return self._iterations * self.requests_to_look_again()

    def requests_to_look_again(self) -> int:
        """The most requests that are added if an error was seen in one case only."""
        return self._chatting * sum(probe.requests for probe in self._probes.values())

    @property
    def resumed(self) -> int:
        """Cases of this plan that an earlier run has measured; its log may hold others, too."""
        return self._resumed

    def resume(self, measured: Container[str], records: Iterable[Record]) -> None:
        """Resume an earlier run: its records are kept, and what it has measured is not asked again."""
        self._measured = measured
        for record in records:
            self._resumed += self._covers(record)
            self._released.extend(self.after(record))

    def sources(self) -> Mapping[str, Iterator[Case]]:
        """For each endpoint the cases that depend on no other."""
        return {endpoint: self._source(endpoint) for endpoint in self._models}

    def after(self, record: Record) -> list[Case]:
        """The cases this record releases: the next stage, or skips with their reason."""
        target = (record.endpoint, record.model)
        name = "" if record.probe is None else record.probe.probe
        iterations = self._progress.get(target, {}).get(name)
        if iterations is None:
            return []
        self._note_errors(target, record)
        released = [*iterations.after(record), *self._dependents(target, name)]
        return self._unmeasured([*released, *self._second_looks(target)])

    def _note_errors(self, target: tuple[str, str], record: Record) -> None:
        severities = {found.code: found.severity for found in record.detail.findings}
        for code in record.codes:
            if can_cap(code, severities.get(code) or kind_of(code).severity):
                self._errors[target].setdefault(code, set()).add(record.case)

    def _second_looks(self, target: tuple[str, str]) -> Iterator[Case]:
        """One more iteration of each probe that alone showed an error, in one case: it is reproduced or an accident."""
        # Only when all else is done: another probe may show the error too, and then there is nothing to ask.
        progress = self._progress[target]
        if not self._looks_again or target in self._asked_again or not all(one.settled for one in progress.values()):
            return
        self._asked_again.add(target)
        once = {case for cases in self._errors[target].values() if len(cases) < REPRODUCED for case in cases}
        for name, iterations in progress.items():
            if any(case.startswith(f"{target[0]}/{target[1]}/{name}/") for case in once):
                yield from iterations.once_more()

    def _covers(self, record: Record) -> bool:
        progress = self._progress.get((record.endpoint, record.model), {})
        return (
            record.probe is not None and record.probe.probe in progress and record.probe.iteration <= self._iterations
        )

    def _source(self, endpoint: str) -> Iterator[Case]:
        yield from self._skipped_models(endpoint)
        # Probes that others wait for come first, so that the longest chain starts at once.
        needed = {need for probe in self._probes.values() for need in probe.needs}
        roots = [name for name, probe in self._probes.items() if not self._needs(probe)]
        for name in sorted(roots, key=lambda name: name not in needed):
            for place, model in self._progress:
                if place == endpoint:
                    yield from self._unmeasured(self._progress[place, model][name].opening())
        yield from (case for case in self._released if case.endpoint == endpoint)

    def _skipped_models(self, endpoint: str) -> Iterator[Case]:
        """One case for each probe of a model that cannot chat: it is in the report and is not asked."""
        for info in self._models[endpoint]:
            if not info.can_chat:
                skip = Skip(kind=SkipKind.NO_CHAT, reason=info.why_not or "not a chat model")
                yield from (_maker(endpoint, info.id, name)(1, skip) for name in self._probes)

    def _dependents(self, target: tuple[str, str], name: str) -> Iterator[Case]:
        """What the state of one probe means for those that need it."""
        progress = self._progress[target]
        for other, probe in self._probes.items():
            needs = self._needs(probe)
            if name not in needs or (*target, other) in self._begun:
                continue
            unmet = next((need for need in needs if progress[need].settled and not progress[need].passed), None)
            if unmet is not None:
                self._begun.add((*target, other))
                yield from progress[other].skipped(progress[unmet].unmet(unmet))
                yield from self._dependents(target, other)
            elif all(progress[need].passed for need in needs):
                self._begun.add((*target, other))
                yield from progress[other].opening()

    def _needs(self, probe: Probe) -> tuple[str, ...]:
        return tuple(need for need in probe.needs if need in self._probes)

    def _unmeasured(self, cases: Iterable[Case]) -> list[Case]:
        return [case for case in cases if case.key not in self._measured]

    @property
    def _chatting(self) -> int:
        return len(self._progress)

    @property
    def _silent(self) -> int:
        return sum(not info.can_chat for infos in self._models.values() for info in infos)


def _maker(endpoint: str, model: str, probe: str) -> MakeCase:
    def make(iteration: int, skip: Skip | None) -> Case:
        key = f"{endpoint}/{model}/{probe}/{iteration}"
        return Case(key=key, endpoint=endpoint, model=model, probe=probe, iteration=iteration, skip=skip)

    return make


def _test(threshold: float) -> SequentialTest:
    return SequentialTest(threshold=threshold)
