"""Load: the same questions to one model alone and many at a time."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from toolcert.api.endpoint import Endpoint, as_endpoint, choose_models, open_sessions, wait_for
from toolcert.api.run_place import run_place
from toolcert.core.errors import UsageError
from toolcert.core.events import Handler, RunStarted
from toolcert.core.records import Manifest
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.core.targets import ModelInfo
from toolcert.core.values import Value
from toolcert.engine.interfaces import Session
from toolcert.engine.local import LocalEngine
from toolcert.engine.outage import OutageWatch
from toolcert.http.connection import allow_connections
from toolcert.load_test.plan import LoadPlan, ready
from toolcert.load_test.question import NAME, LoadWork
from toolcert.load_test.summary import LoadSummary, summarise_load
from toolcert.probes.run.live_conversation import ProbeSettings
from toolcert.probes.summary.load_tally import LoadTally
from toolcert.runs.encoding import Keep
from toolcert.runs.provenance import new_run_id, run_folder, versions, without_secrets
from toolcert.runs.reader import RunReader, is_run, read_manifest, settled
from toolcert.runs.resume import resume, start_afresh
from toolcert.runs.writer import RunWriter, hold
from toolcert.settings.keyword_options import KeywordOptions
from toolcert.settings.options.probe import LOAD_LEVEL, LOAD_PAIRS
from toolcert.version import __version__


class LoadOptions(KeywordOptions, kw_only=True):
    """How to load; the names are those of the command's options."""

    model: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    at_load: int = LOAD_LEVEL
    pairs: int = LOAD_PAIRS
    for_: float | None = None
    bisect: bool = True
    threshold: float = PROBE_THRESHOLD
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    max_requests: int | None = None
    output: str | None = None
    fresh: bool = False
    keep: Keep = Keep.RAW


class LoadRun(Value):
    """A finished load run."""

    folder: str
    summary: LoadSummary
    interrupted: bool = False


class LoadJob:
    """A load run that is planned and not yet started, so that one can see what it would send."""

    def __init__(self, endpoint: Endpoint, session: Session, model: ModelInfo, options: LoadOptions) -> None:
        self.options = options
        self.model = model.id
        self.spec = endpoint.spec
        self._session = session
        self.manifest = self._manifest(model)
        self.folder = run_folder(Path(options.output) if options.output else None, self.manifest.run)
        if is_run(self.folder) and not options.fresh:
            # A resumed run keeps its id, and with it the nonces of its questions.
            self.manifest = msgspec.structs.replace(self.manifest, run=read_manifest(self.folder).run)
        self.plan = LoadPlan(self.spec.name, self.model, LoadTally(options.at_load), pairs=options.pairs)

    async def run(self, handlers: Sequence[Handler] = ()) -> LoadRun:
        """Run it; what an earlier run in the same folder measured is not asked again."""
        with hold(self.folder) as lock:
            return await self._run(lock, handlers)

    async def _run(self, lock: IO[bytes], handlers: Sequence[Handler]) -> LoadRun:
        if self.options.fresh:
            start_afresh(self.folder, self.manifest.job)
        earlier = resume(self.folder, self.manifest)
        self.manifest = earlier.manifest or self.manifest
        answered = {one.case: one for one in RunReader(self.folder).heads() if settled(one)} if len(earlier) else {}
        plan = self.plan = LoadPlan(
            self.spec.name,
            self.model,
            LoadTally(self.options.at_load),
            pairs=self.options.pairs,
            bisect=self.options.bisect,
            hold=self.options.for_,
            earlier=answered,
        )
        writer = RunWriter(self.folder, self.manifest, keep=self.options.keep, lock=lock)
        engine = LocalEngine(
            {self.spec.name: self._session},
            concurrency={self.spec.name: ready(self.options.at_load)},
            handlers=[writer, *handlers],
            max_requests=self.options.max_requests,
            watch=OutageWatch(),
        )
        settings = ProbeSettings(
            parameters={"temperature": self.options.temperature, "seed": self.options.seed},
            seed=self.manifest.run if self.options.seed is None else str(self.options.seed),
        )
        if self.options.max_tokens is not None:
            settings = msgspec.structs.replace(settings, max_tokens=self.options.max_tokens)
        started = RunStarted(manifest=self.manifest, total=plan.total, resumed=plan.resumed)
        try:
            finished = await engine.run(plan, LoadWork(settings), started)
        finally:
            writer.close()
        return LoadRun(folder=str(self.folder), summary=summarise_load(self.folder), interrupted=finished.interrupted)

    def _manifest(self, model: ModelInfo) -> Manifest:
        options = self.options
        return Manifest(
            run=new_run_id(),
            job="load",
            started_at=time.time(),
            toolcert=__version__,
            endpoints=(self.spec,),
            models={self.spec.name: (model,)},
            probes=(NAME,),
            threshold=options.threshold,
            parameters={
                "model": model.id,
                "at_load": options.at_load,
                "pairs": options.pairs,
                "bisect": options.bisect,
                "hold": options.for_,
                "temperature": options.temperature,
                "max_tokens": options.max_tokens,
                "seed": options.seed,
            },
            argv=without_secrets(sys.argv),
            versions=versions(),
        )


@contextlib.asynccontextmanager
async def load_job(endpoint: Endpoint | str, options: LoadOptions | None = None) -> AsyncIterator[LoadJob]:
    """Open the endpoint, find the model and plan the run."""
    options = options or LoadOptions()
    given = as_endpoint(endpoint).with_settings(concurrency=options.at_load)
    if (allowed := allow_connections(options.at_load)) < options.at_load:
        raise UsageError(
            f"this system allows {allowed} connections, too few for {options.at_load} requests at a time.",
            remedy="`ulimit -n` raises the limit; or lower --at-load.",
        )
    async with open_sessions([given]) as sessions:
        models, _ = await choose_models([given], sessions, options.model, options.exclude)
        able = [info for info in models[given.spec.name] if info.can_chat]
        if len(able) != 1:
            raise UsageError(
                f"load asks one model, and {len(able)} are chosen.",
                remedy="Name it: --model ID; `toolcert models` lists them.",
            )
        yield LoadJob(given, sessions[given.spec.name], able[0], options)


ConfirmLoad: TypeAlias = Callable[[LoadJob], None]
"""Sees the planned run before the first question is sent; it stops the run by raising."""


async def load_async(
    endpoint: Endpoint | str,
    options: LoadOptions | None = None,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmLoad | None = None,
) -> LoadRun:
    """Ask one model the same questions alone and under load."""
    options = options or LoadOptions()
    async with (
        run_place(options.output) as (folder, guards),
        load_job(endpoint, msgspec.structs.replace(options, output=folder)) as job,
    ):
        if confirm is not None:
            confirm(job)
        return await job.run([*guards, *handlers])


def load(
    endpoint: Endpoint | str,
    options: LoadOptions | None = None,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmLoad | None = None,
) -> LoadRun:
    """Ask one model the same questions alone and under load."""
    return wait_for(load_async(endpoint, options, handlers, confirm))
