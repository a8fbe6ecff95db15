"""Verify: a dataset of requests replayed against one model at one endpoint."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from toolcert.api.endpoint import Endpoint, as_endpoint, open_sessions, wait_for
from toolcert.core.events import Handler
from toolcert.core.manifest import Manifest
from toolcert.core.records import Record
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec
from toolcert.runs.provenance import new_run_id, run_folder, versions, without_secrets
from toolcert.verification.dataset.source import Source
from toolcert.verification.run.job import VerifyJob, VerifyRun
from toolcert.verification.verify_options import VerifyOptions
from toolcert.version import __version__

if TYPE_CHECKING:
    from toolcert.http.retry import RetryPolicy
    from toolcert.verification.single_row import Replay


@contextlib.contextmanager
def verify_job(dataset: str, endpoint: Endpoint | str, options: VerifyOptions) -> Iterator[VerifyJob]:
    """Open the dataset and plan the run; nothing is sent."""
    given = as_endpoint(endpoint)
    # The extra body becomes part of each row's own request: it is judged by, and resumed by, what is really sent.
    options = msgspec.structs.replace(options, extra_body=given.spec.extra_body | options.extra_body)
    spec = msgspec.structs.replace(given.spec, extra_body={})
    source = Source(dataset)
    try:
        yield VerifyJob(source, spec, options, _manifest(spec))
    finally:
        source.close()


async def run_job(
    job: VerifyJob, key: Secret | None, handlers: Sequence[Handler] = (), policy: RetryPolicy | None = None
) -> VerifyRun:
    """Do a planned run."""
    folder = run_folder(Path(job.options.output) if job.options.output else None, job.manifest.run)
    async with open_sessions([Endpoint.of(job.spec, key)], policy) as sessions:
        return await job.run(sessions[job.spec.name], folder, handlers)


async def verify_async(
    dataset: str, endpoint: Endpoint | str, options: VerifyOptions, handlers: Sequence[Handler] = ()
) -> VerifyRun:
    """Replay a dataset against a model and judge every answer."""
    with verify_job(dataset, endpoint, options) as job:
        return await run_job(job, as_endpoint(endpoint).key, handlers)


def verify(
    dataset: str, endpoint: Endpoint | str, options: VerifyOptions, handlers: Sequence[Handler] = ()
) -> VerifyRun:
    """Replay a dataset against a model and judge every answer."""
    return wait_for(verify_async(dataset, endpoint, options, handlers))


async def replay_async(
    record: Record, manifest: Manifest, endpoint: Endpoint | str, model: str | None = None
) -> Replay:
    """Send the request behind one record again, to `model` where one is named, and judge both answers."""
    from toolcert.verification.single_row import replay

    given = as_endpoint(endpoint).with_settings(extra_body={})  # the recorded request holds it already
    async with open_sessions([given]) as sessions:
        return await replay(record, manifest, sessions[given.spec.name], model)


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
