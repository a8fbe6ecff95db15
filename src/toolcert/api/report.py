"""Finished runs: reads them, and writes reports about them in every format."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

from toolcert.core.errors import InputError, UsageError
from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.load_test.summary import LoadSummary, summarise_load
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.reports.formats import NOTHING, Extras
from toolcert.runs.location import locate_run
from toolcert.runs.marks import MARKS, MOST_NOTE, Mark, MarkKind, append_mark, known_marks
from toolcert.runs.reader import RunReader, read_manifest
from toolcert.stores.object_url import is_url
from toolcert.verification.older_results import is_older_results
from toolcert.verification.rejudgement import rejudge
from toolcert.verification.single_row import find_row
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import summarise


class LoadedRun(Value):
    """A finished or interrupted run, read from its log."""

    folder: str
    job: str
    summary: ProbeSummary | VerifySummary | LoadSummary


def load_run(
    run: str | Path,
    *,
    prices: Mapping[str, tuple[float, float]] | None = None,
    known: str | PathLike[str] | None = None,
) -> LoadedRun:
    """Read a run folder (or `latest`), or a results.jsonl of the older verifiers.

    What a mark in the file `known` excuses does not count in the verdict.
    """
    path, marks = locate_run(run), known_marks(known)
    if is_older_results(path):
        return LoadedRun(folder=str(path), job="verify", summary=rejudge(path).summary)
    job = read_manifest(path).job
    if job == "probe":
        return LoadedRun(folder=str(path), job=job, summary=summarise_run(path, prices, marks))
    if job == "verify":
        return LoadedRun(folder=str(path), job=job, summary=summarise(path, marks))
    if job == "load":
        return LoadedRun(folder=str(path), job=job, summary=summarise_load(path))
    raise InputError(f"{path} is a run of kind {job!r}, which this version does not know.", remedy="Update toolcert.")


def report(run: str | Path, *, extras: Extras = NOTHING, **destinations: str | PathLike[str]) -> LoadedRun:
    """Write reports about a finished run: `report("run", html="page.html", junit="results.xml")`."""
    import msgspec

    from toolcert.reports.destinations import check_destinations
    from toolcert.reports.formats import formats, write_reports

    files = {name: fspath(file) for name, file in destinations.items()}
    path = locate_run(run)
    check_destinations(files, [path])
    loaded = load_run(path)
    known = formats(loaded.job)
    if unknown := set(files) - set(known):
        raise UsageError(f"there is no report {', '.join(sorted(unknown))}.", remedy=f"Formats: {', '.join(known)}.")
    write_reports(loaded.job, loaded.summary, files, msgspec.structs.replace(extras, run=loaded.folder))
    return loaded


def mark(
    run: str | Path, case: str, kind: MarkKind | str, *, finding: str | None = None, note: str = ""
) -> tuple[Path, Mark]:
    """Mark a case of a run (see `Mark`); where the mark was written, and the mark."""
    if is_url(run):
        raise UsageError(
            "a run at a URL cannot be marked: marks are kept in a folder.",
            remedy="Copy the run into a folder, mark it there, and give the file with --known.",
        )
    if len(note) > MOST_NOTE:
        raise UsageError(f"the note has {len(note)} characters.", remedy=f"Use at most {MOST_NOTE}.")
    path = locate_run(run)
    if is_older_results(path):
        raise InputError(f"{path} is a file of results.", remedy="Marks are kept in run folders; name one.")
    made = _mark_of(path, case.strip("/"), MarkKind(kind), finding, note)
    return path / MARKS, append_mark(path / MARKS, made)


def _mark_of(folder: Path, case: str, kind: MarkKind, finding: str | None, note: str) -> Mark:
    reader = RunReader(folder)
    below = Mark(case=case, kind=kind, finding=finding, note=note)
    cases: list[Record] = []
    if reader.manifest.job == "probe":
        cases = [head for head in reader.heads() if below.covers(head)]
    if not cases:
        cases = [find_row(folder, case).record]
        row = cases[0].row
        below = Mark(
            case=cases[0].case, kind=kind, finding=finding, note=note, content="" if row is None else row.content
        )
    if finding is not None and not any(below.excuses(code) for head in cases for code in head.codes):
        seen = dict.fromkeys(code for head in cases for code in head.codes)
        raise UsageError(f"{case} has no finding {finding}.", remedy=f"It has: {', '.join(seen) or 'none'}.")
    return below
