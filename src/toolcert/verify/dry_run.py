"""What a verify run would send, said before it is sent."""

from __future__ import annotations

from pathlib import Path

from toolcert.core.values import Value
from toolcert.verify.inspection import DatasetReport, inspect, rough_tokens
from toolcert.verify.job import VerifyJob
from toolcert.verify.takeup import Earlier, look_at, require_run


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
    plan = job.plan(_earlier(job, folder))
    requests = tokens = 0
    for case in plan.cases():
        if case.body is not None and (job.options.max_requests is None or requests < job.options.max_requests):
            requests += 1
            tokens += rough_tokens(case.body)
    return DryRun(
        endpoint=job.spec.name,
        url=job.spec.base_url,
        model=job.shaping.model,
        adapter=plan.adapter_name,
        requests=requests,
        tokens=tokens,
        settled=plan.earlier.taken_over,
        dataset=inspect(job.dataset, job.selection.lines(job.dataset)),
    )


def _earlier(job: VerifyJob, folder: Path | None) -> Earlier:
    """What the run would find in its folder."""
    if folder is None or job.options.fresh:
        return Earlier()
    if job.options.only_failed:
        require_run(folder)
    return look_at(folder, job.wanted(folder))
