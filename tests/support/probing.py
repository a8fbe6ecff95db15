"""Running probes in tests: the real plan, engine and endpoint against any base URL."""

from __future__ import annotations

from collections.abc import Sequence

from toolcert.core.events import CaseFinished, Event, RunStarted
from toolcert.core.records import Manifest, Record
from toolcert.core.targets import EndpointSpec, ModelInfo, Timeouts
from toolcert.core.values import Value
from toolcert.endpoints.registry import open_endpoint
from toolcert.engine.local import LocalEngine
from toolcert.engine.outage import OutageWatch
from toolcert.http.retry import RetryPolicy
from toolcert.probes.base import Probe
from toolcert.probes.run.live_conversation import ProbeSettings, ProbeWork
from toolcert.probes.run.schedule import ProbePlan
from toolcert.probes.suites import choose_probes
from toolcert.probes.summary.scorecard import ModelSummary, ProbeSummary
from toolcert.probes.summary.summariser import summarise

HERE = "here"


class Probed(Value):
    """A finished run in memory."""

    records: tuple[Record, ...]
    summary: ProbeSummary
    manifest: Manifest

    def model(self, name: str) -> ModelSummary:
        return next(model for model in self.summary.models if model.model == name)

    def record(self, model: str, probe: str, iteration: int = 1) -> Record:
        return next(record for record in self.records if record.case == f"{HERE}/{model}/{probe}/{iteration}")


async def probe_models(
    url: str,
    models: Sequence[str | ModelInfo],
    *,
    suite: str | None = None,
    probes: Sequence[str] = (),
    own: Sequence[Probe] = (),
    iterations: int = 1,
    adaptive: bool = False,
    retries: int = 0,
    patience: float = 10.0,
    concurrency: int = 8,
    settings: ProbeSettings | None = None,
    earlier: Sequence[Record] = (),
    max_requests: int | None = None,
    watch: OutageWatch | None = None,
) -> Probed:
    """Probe the models and summarise."""
    chosen = [*(choose_probes(suite or "full", probes) if suite or probes else ()), *own]
    infos = tuple(model if isinstance(model, ModelInfo) else ModelInfo(id=model) for model in models)
    timeouts = Timeouts(connect=patience, read=patience, between_chunks=patience, total=patience)
    spec = EndpointSpec(name=HERE, base_url=url, retries=retries, timeouts=timeouts, concurrency=concurrency)
    manifest = Manifest(
        run="test",
        job="probe",
        started_at=0.0,
        toolcert="test",
        endpoints=(spec,),
        models={HERE: infos},
        suite=suite,
        probes=tuple(probe.name for probe in chosen),
        iterations=iterations,
        versions={"toolcert": "test"},
    )
    plan = ProbePlan({HERE: infos}, chosen, iterations=iterations, adaptive=adaptive)
    plan.resume({record.case for record in earlier}, earlier)
    records = list(earlier)

    def keep(event: Event) -> None:
        if isinstance(event, CaseFinished):
            records.append(event.record)

    async with open_endpoint(spec, policy=RetryPolicy(retries=retries, base=0.01, cap=0.05)) as session:
        engine = LocalEngine(
            {HERE: session}, concurrency={HERE: concurrency}, handlers=[keep], max_requests=max_requests, watch=watch
        )
        work = ProbeWork(settings, own=own)
        await engine.run(plan, work, RunStarted(manifest=manifest, total=plan.total))
    return Probed(records=tuple(records), summary=summarise(manifest, records), manifest=manifest)
