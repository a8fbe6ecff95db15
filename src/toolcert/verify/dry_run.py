"""What a verify run would send, said before it is sent."""

from __future__ import annotations

from pathlib import Path

from toolcert.core.values import Value
from toolcert.verify.inspection import DatasetReport, inspect, rough_tokens
from toolcert.verify.job import VerifyJob
from toolcert.verify.plan import target_of
from toolcert.verify.takeup import look_at


class DryRun(Value):
    """A run that was planned and not made."""

    endpoint: str
    url: str
    model: str
    adapter: str
    requests: int
    """Rows that would be asked, retries apart."""
    tokens: int
    """Rough number of prompt tokens these rows hold."""
    settled: int
    """Rows an earlier run in the same folder has measured already."""
    dataset: DatasetReport
    """The chosen rows described, with what is wrong with them."""


def dry_run(job: VerifyJob, folder: Path | None) -> DryRun:
    """Go through the dataset as a run would, without asking anything or changing a file."""
    target = target_of(job.spec, job.shaping)
    plan = job.plan(None if folder is None else look_at(folder, target))
    requests = tokens = 0
    for case in plan.cases():
        if case.body is not None:
            requests += 1
            tokens += rough_tokens(case.body)
    if job.options.max_requests is not None:
        requests = min(requests, job.options.max_requests)
    return DryRun(
        endpoint=job.spec.name,
        url=job.spec.base_url,
        model=job.shaping.model,
        adapter=plan.adapter_name,
        requests=requests,
        tokens=tokens,
        settled=len(plan.earlier),
        dataset=inspect(job.dataset, job.selection.lines(job.dataset)),
    )
