"""Finished runs: reads them, and writes reports about them in every format."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

from toolcert.core.errors import InputError, UsageError
from toolcert.core.values import Value
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.reports.formats import NOTHING, Extras
from toolcert.runs.reader import read_manifest
from toolcert.verification.older_results import is_older_results
from toolcert.verification.rejudgement import rejudge
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import summarise


class LoadedRun(Value):
    """A finished or interrupted run, read from its log."""

    folder: str
    job: str
    summary: ProbeSummary | VerifySummary


def load_run(run: str | Path, *, prices: Mapping[str, tuple[float, float]] | None = None) -> LoadedRun:
    """Read a run folder, or a results.jsonl of the older verifiers."""
    path = Path(run)
    if is_older_results(path):
        return LoadedRun(folder=str(path), job="verify", summary=rejudge(path).summary)
    job = read_manifest(path).job
    if job == "probe":
        return LoadedRun(folder=str(path), job=job, summary=summarise_run(path, prices))
    if job == "verify":
        return LoadedRun(folder=str(path), job=job, summary=summarise(path))
    raise InputError(f"{path} is a run of kind {job!r}, which this version does not know.", remedy="Update toolcert.")


def report(run: str | Path, *, extras: Extras = NOTHING, **destinations: str | PathLike[str]) -> LoadedRun:
    """Write reports about a finished run: `report("run", html="page.html", junit="results.xml")`."""
    import msgspec

    from toolcert.reports.destinations import check_destinations
    from toolcert.reports.formats import formats, write_reports

    files = {name: fspath(file) for name, file in destinations.items()}
    check_destinations(files, [run])
    loaded = load_run(run)
    known = formats(loaded.job)
    if unknown := set(files) - set(known):
        raise UsageError(f"there is no report {', '.join(sorted(unknown))}.", remedy=f"Formats: {', '.join(known)}.")
    write_reports(loaded.job, loaded.summary, files, msgspec.structs.replace(extras, run=loaded.folder))
    return loaded
