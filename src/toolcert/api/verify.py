"""Verify: a dataset of requests replayed against one model at one endpoint."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from toolcert.api.endpoint import Endpoint, as_endpoint, open_sessions, wait_for
from toolcert.api.run_place import run_place
from toolcert.core.errors import InputError
from toolcert.core.events import Handler
from toolcert.core.records import Manifest, Record
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.runs.location import locate_run
from toolcert.runs.marks import known_marks
from toolcert.runs.provenance import new_run_id, run_folder, versions, without_secrets
from toolcert.verification.dataset.source import Source
from toolcert.verification.run.job import VerifyJob, VerifyRun
from toolcert.verification.run.row_plan import VerifyWork
from toolcert.verification.verify_options import VerifyOptions
from toolcert.version import __version__

if TYPE_CHECKING:
    from toolcert.diagnose.judgement import Rules
    from toolcert.http.retry import RetryPolicy
    from toolcert.verification.rejudgement import Rejudgement
    from toolcert.verification.single_row import Replay


@contextlib.contextmanager
def verify_job(dataset: str | Path, endpoint: Endpoint | str, options: VerifyOptions) -> Iterator[VerifyJob]:
    """Open the dataset and plan the run; nothing is sent."""
    given = as_endpoint(endpoint)
    # The extra body becomes part of each row's own request, because rows are judged and resumed by what is sent.
    options = msgspec.structs.replace(options, extra_body=given.spec.extra_body | options.extra_body)
    spec = msgspec.structs.replace(given.spec, extra_body={})
    source = Source(str(dataset))
    try:
        yield VerifyJob(source, spec, options, _manifest(spec))
    finally:
        source.close()


async def run_job(
    job: VerifyJob, key: Secret | None, handlers: Sequence[Handler] = (), policy: RetryPolicy | None = None
) -> VerifyRun:
    """Run what was planned."""
    folder = run_folder(Path(job.options.output) if job.options.output else None, job.manifest.run)
    options = job.options
    if options.engine == "ray":
        from toolcert.engine.ray_cluster import open_pool
        from toolcert.engine.ray_engine import WorkerPool

        pool = WorkerPool(
            job.spec,
            key,
            VerifyWork(job.shaping),
            max_requests=options.max_requests,
            policy=policy,
            attempts=bool(handlers),
        )
        async with open_pool(pool, options.ray_address, options.ray_workers):
            return await job.run(pool, folder, handlers)
    async with open_sessions([Endpoint.of(job.spec, key)], policy) as sessions:
        return await job.run(sessions[job.spec.name], folder, handlers)


ConfirmVerify: TypeAlias = Callable[[VerifyJob], None]
"""Sees the planned run before the first row is sent; it stops the run by raising."""


async def verify_async(
    dataset: str | Path,
    endpoint: Endpoint | str,
    options: VerifyOptions,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmVerify | None = None,
) -> VerifyRun:
    """Replay a dataset against a model and judge every answer."""
    async with run_place(options.output) as (folder, guards):
        options = msgspec.structs.replace(options, output=folder)
        with verify_job(dataset, endpoint, options) as job:
            if not job.dataset.source.count(at_most=1):
                raise InputError(f"{dataset} is empty: there is no request in it.")
            if confirm is not None:
                confirm(job)
            return await run_job(job, as_endpoint(endpoint).key, [*guards, *handlers])


def verify(
    dataset: str | Path,
    endpoint: Endpoint | str,
    options: VerifyOptions,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmVerify | None = None,
) -> VerifyRun:
    """Replay a dataset against a model and judge every answer."""
    return wait_for(verify_async(dataset, endpoint, options, handlers, confirm))


def judge_again(
    run: str | Path,
    rules: Rules,
    threshold: float | None = None,
    adapter: str | None = None,
    known: str | Path | None = None,
) -> Rejudgement:
    """Judge a finished run, or a results file of the older verifiers, by these rules; nothing is sent.

    A run made with an adapter of your own needs it again: `adapter="file.py:Class"`. A run's own code is not loaded.
    """
    from toolcert.verification.rejudgement import rejudge

    return rejudge(locate_run(run), rules, threshold, adapter, known_marks(known))


async def replay_async(
    record: Record,
    manifest: Manifest,
    endpoint: Endpoint | str,
    model: str | None = None,
    adapter: str | None = None,
) -> Replay:
    """Send the request behind one record again, to `model` where one is named, and judge both answers."""
    from toolcert.verification.single_row import replay

    given = as_endpoint(endpoint).with_settings(extra_body={})  # the recorded request holds it already
    async with open_sessions([given]) as sessions:
        return await replay(record, manifest, sessions[given.spec.name], model, adapter)


def _manifest(spec: EndpointSpec) -> Manifest:
    return Manifest(
        run=new_run_id(),
        job="verify",
        started_at=time.time(),
        toolcert=__version__,
        endpoints=(spec,),
        argv=without_secrets(sys.argv),
        versions=versions(),
    )
