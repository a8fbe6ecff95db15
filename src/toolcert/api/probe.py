"""Probe: suites of short conversations with every model at one or more endpoints."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from toolcert.api.endpoint import Endpoint, as_endpoint, choose_models, open_sessions, wait_for
from toolcert.api.run_place import run_place
from toolcert.core.cases import Shard
from toolcert.core.errors import UsageError
from toolcert.core.events import AttemptMade, Event, Handler, RunFinished, RunStarted
from toolcert.core.records import Manifest
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject, Value
from toolcert.core.verdict import Word
from toolcert.engine.interfaces import Session
from toolcert.engine.local import LocalEngine
from toolcert.engine.outage import OutageWatch
from toolcert.load_test.plan import LoadPlan, ready
from toolcert.load_test.question import LoadWork
from toolcert.probes.base import Probe, with_needs
from toolcert.probes.run.live_conversation import ProbeSettings, ProbeWork
from toolcert.probes.run.schedule import ProbePlan
from toolcert.probes.scenarios import ScenarioProbe
from toolcert.probes.suites import choose_probes, find_suite
from toolcert.probes.summary.load_tally import LoadTally
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.runs.encoding import Keep
from toolcert.runs.marks import known_marks
from toolcert.runs.provenance import new_run_id, run_folder, versions, without_secrets
from toolcert.runs.reader import RunReader, is_run, read_manifest, settled
from toolcert.runs.resume import resume, start_afresh
from toolcert.runs.writer import RunWriter, hold
from toolcert.settings.keyword_options import KeywordOptions
from toolcert.settings.options.probe import LOAD_PAIRS
from toolcert.version import __version__


class ProbeOptions(KeywordOptions, kw_only=True):
    """How to probe; the names are those of the command's options."""

    model: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    all_models: bool = False
    suite: str = "agent"
    probe: tuple[str, ...] = ()
    scenario: tuple[str, ...] = ()
    iterations: int = 5
    threshold: float = PROBE_THRESHOLD
    adaptive: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    """Sent with every request; it also repeats the nonces, which otherwise differ from run to run."""
    max_requests: int | None = None
    at_load: int | None = None
    """Ask each model that works the same questions alone and this many at a time."""
    pairs: int = LOAD_PAIRS
    shard: str | None = None
    """As in `2/8`: only this share of the models."""
    known: str | None = None
    """A file of marks: what it calls known or wrong does not count in the verdict."""
    output: str | None = None
    fresh: bool = False
    keep: Keep = Keep.RAW
    prices: dict[str, tuple[float, float]] = {}
    """Model to price of a million tokens in and out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # A wrong name is refused here, before any request; the scenarios' own names are known once they are read.
        find_suite(self.suite)
        with_needs(self.probe)
        if any(not price >= 0 for pair in self.prices.values() for price in pair):
            raise UsageError("ProbeOptions(prices=...): expected prices of at least 0.")
        if self.adaptive and not 0 < self.threshold < 1:
            raise UsageError(
                f"no number of runs can decide whether a rate reaches a threshold of {self.threshold:g}.",
                remedy="Leave out --adaptive, or choose a --threshold between 0 and 1.",
            )


class ProbeRun(Value):
    """A finished probe run."""

    folder: str
    summary: ProbeSummary
    interrupted: bool = False
    not_dealt: int = 0
    """Of a merge: cases of shards that are missing."""


_WORTH_LOADING = (Word.CERTIFIED, Word.PASSES, Word.PARTIAL, Word.UNDECIDED)
"""A model that does not call alone has nothing to lose under load."""


class Spent:
    """Passes on the events of several engines as those of one run, and counts its requests."""

    def __init__(self, handlers: Sequence[Handler]) -> None:
        self._handlers = handlers
        self._begun = time.monotonic()
        self._started = False
        self.requests = 0

    def __call__(self, event: Event) -> None:
        self.requests += isinstance(event, AttemptMade)
        if isinstance(event, RunFinished) or (isinstance(event, RunStarted) and self._started):
            return
        self._started |= isinstance(event, RunStarted)
        for handler in self._handlers:
            handler(event)

    def end(self, finished: RunFinished) -> None:
        """Report the end of the whole."""
        for handler in self._handlers:
            handler(RunFinished(interrupted=finished.interrupted, seconds=time.monotonic() - self._begun))


class ProbeJob:
    """A probe run that is planned and not yet started, so that one can see what it would send."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        sessions: Mapping[str, Session],
        models: Mapping[str, Sequence[ModelInfo]],
        options: ProbeOptions,
        left_out: Mapping[str, str] | None = None,
        *,
        second_looks: bool = True,
    ) -> None:
        self.options = options
        self._known = known_marks(options.known) if options.known else []
        self.left_out = dict(left_out or {})
        """Endpoints that gave no list of models, with the reason."""
        self.models = models if options.shard is None else dealt(models, Shard.parse(options.shard))
        self._endpoints = endpoints
        self._sessions = sessions
        self._concurrency = {endpoint.spec.name: endpoint.spec.concurrency for endpoint in endpoints}
        self.probes: tuple[Probe, ...] = choose_probes(options.suite, options.probe, options.scenario)
        self.plan, whole = (
            ProbePlan(
                chosen,
                self.probes,
                iterations=options.iterations,
                adaptive=options.adaptive,
                threshold=options.threshold,
                second_looks=second_looks,
            )
            for chosen in (self.models, models)
        )
        self.manifest = self._manifest(endpoints)
        if options.shard is not None:
            self.manifest = msgspec.structs.replace(
                self.manifest, shard=options.shard, planned=self.plan.total, planned_by_all=whole.total
            )
        self.folder = run_folder(Path(options.output) if options.output else None, self.manifest.run)
        if is_run(self.folder) and not options.fresh:
            # A resumed run keeps its id, so that a history that has it replaces it instead of counting it twice.
            self.manifest = msgspec.structs.replace(self.manifest, run=read_manifest(self.folder).run)

    async def run(self, handlers: Sequence[Handler] = ()) -> ProbeRun:
        """Run it; what an earlier run in the same folder measured is not asked again."""
        with hold(self.folder) as lock:
            return await self._run(lock, handlers)

    async def _run(self, lock: IO[bytes], handlers: Sequence[Handler]) -> ProbeRun:
        if self.options.fresh:
            start_afresh(self.folder, self.manifest.job)
        earlier = resume(self.folder, self.manifest)
        self.manifest = earlier.manifest or self.manifest
        if len(earlier):
            self.plan.resume(earlier, filter(settled, RunReader(self.folder).heads()))
        writer = RunWriter(self.folder, self.manifest, keep=self.options.keep, lock=lock)
        spent = Spent([writer, *handlers])
        engine = LocalEngine(
            self._sessions,
            concurrency=self._concurrency,
            handlers=[writer, *handlers] if self.options.at_load is None else [spent],
            max_requests=self.options.max_requests,
            watch=OutageWatch(),
        )
        total = self.plan.total + self.load_requests
        started = RunStarted(manifest=self.manifest, total=total, resumed=self.plan.resumed)
        try:
            finished = await engine.run(self.plan, self._work(), started)
            if self.options.at_load is not None:
                finished = finished if finished.interrupted else await self._load(self.options.at_load, spent)
                spent.end(finished)
        finally:
            writer.close()
        return ProbeRun(
            folder=str(self.folder),
            summary=summarise_run(self.folder, self.options.prices, self._known),
            interrupted=finished.interrupted,
        )

    @property
    def load_requests(self) -> int:
        """The most requests that are sent to see whether calls break under load."""
        able = sum(info.can_chat for infos in self.models.values() for info in infos)
        return 0 if self.options.at_load is None else 2 * self.options.pairs * able

    async def _load(self, level: int, spent: Spent) -> RunFinished:
        """Ask the models that work the same questions alone and under load, one model after the other."""
        able = [one for one in summarise_run(self.folder).models if one.verdict.word in _WORTH_LOADING]
        answered = {one.case: one for one in RunReader(self.folder).heads() if one.load is not None and settled(one)}
        work = LoadWork(self._settings())
        finished = RunFinished()
        async with open_sessions([one.with_settings(concurrency=level) for one in self._endpoints]) as sessions:
            for model in able:
                left = None if self.options.max_requests is None else self.options.max_requests - spent.requests
                if finished.interrupted or (left is not None and left <= 0):
                    break
                engine = LocalEngine(
                    {model.endpoint: sessions[model.endpoint]},
                    concurrency={model.endpoint: ready(level)},
                    handlers=[spent],
                    max_requests=left,
                    watch=OutageWatch(),
                )
                plan = LoadPlan(
                    model.endpoint,
                    model.model,
                    LoadTally(level),
                    pairs=self.options.pairs,
                    bisect=False,
                    ramp=False,
                    earlier=answered,
                )
                started = RunStarted(manifest=self.manifest, total=plan.total)
                finished = await engine.run(plan, work, started)
        return finished

    def _settings(self) -> ProbeSettings:
        settings = ProbeSettings(
            parameters={"temperature": self.options.temperature, "seed": self.options.seed},
            seed=self.manifest.run if self.options.seed is None else str(self.options.seed),
        )
        if self.options.max_tokens is not None:
            settings = msgspec.structs.replace(settings, max_tokens=self.options.max_tokens)
        return settings

    def _work(self) -> ProbeWork:
        return ProbeWork(self._settings(), own=[probe for probe in self.probes if probe.group == "scenario"])

    def _parameters(self) -> JsonObject:
        """What shapes the requests, scenarios included: their files may change between two runs."""
        scenarios = {probe.name: probe.digest for probe in self.probes if isinstance(probe, ScenarioProbe)}
        asked = {name: getattr(self.options, name) for name in ("temperature", "max_tokens", "seed")}
        if self.options.at_load is not None:
            asked |= {"at_load": self.options.at_load, "pairs": self.options.pairs}
        return asked | ({"scenarios": scenarios} if scenarios else {})

    def _manifest(self, endpoints: Sequence[Endpoint]) -> Manifest:
        return Manifest(
            run=new_run_id(),
            job="probe",
            started_at=time.time(),
            toolcert=__version__,
            endpoints=tuple(endpoint.spec for endpoint in endpoints),
            models={name: tuple(models) for name, models in self.models.items()},
            partial=bool(self.options.model or self.options.exclude)
            or any(one.model or one.exclude for one in endpoints),
            unreachable=self.left_out,
            suite=None if self.options.probe or self.options.scenario else self.options.suite,
            probes=tuple(probe.name for probe in self.probes),
            iterations=self.options.iterations,
            threshold=self.options.threshold,
            parameters=self._parameters(),
            argv=without_secrets(sys.argv),
            versions=versions(),
        )


def dealt(models: Mapping[str, Sequence[ModelInfo]], shard: Shard) -> dict[str, list[ModelInfo]]:
    """The models that fall to a shard. A model is never divided: what it is asked depends on its earlier answers."""
    return {
        endpoint: [info for info in infos if shard.takes(f"{endpoint}/{info.id}")] for endpoint, infos in models.items()
    }


@contextlib.asynccontextmanager
async def probe_job(
    endpoints: Sequence[Endpoint | str], options: ProbeOptions | None = None
) -> AsyncIterator[ProbeJob]:
    """Open the endpoints, list their models and plan the run."""
    options = options or ProbeOptions()
    given = [as_endpoint(endpoint) for endpoint in endpoints]
    async with open_sessions(given) as sessions:
        models, left_out = await choose_models(
            given, sessions, options.model, options.exclude, every=options.all_models
        )
        answering = [endpoint for endpoint in given if endpoint.spec.name in models]
        reached = {name: sessions[name] for name in models}
        yield ProbeJob(answering, reached, models, options, left_out)


ConfirmProbe: TypeAlias = Callable[[ProbeJob], None]
"""Sees the planned run before the first question is sent; it stops the run by raising."""


async def probe_async(
    *endpoints: Endpoint | str,
    options: ProbeOptions | None = None,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmProbe | None = None,
) -> ProbeRun:
    """Probe the models at one or more endpoints."""
    options = options or ProbeOptions()
    async with (
        run_place(options.output) as (folder, guards),
        probe_job(endpoints, msgspec.structs.replace(options, output=folder)) as job,
    ):
        if confirm is not None:
            confirm(job)
        return await job.run([*guards, *handlers])


def probe(
    *endpoints: Endpoint | str,
    options: ProbeOptions | None = None,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmProbe | None = None,
) -> ProbeRun:
    """Probe the models at one or more endpoints."""
    return wait_for(probe_async(*endpoints, options=options, handlers=handlers, confirm=confirm))
