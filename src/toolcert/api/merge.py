"""Merge: the runs of all shards as one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from toolcert.api.endpoint import wait_for
from toolcert.api.probe import ProbeRun
from toolcert.api.run_place import run_place
from toolcert.core.errors import UsageError
from toolcert.probes.summary.summariser import summarise_run
from toolcert.runs.location import locate_run
from toolcert.runs.marks import Mark, MarkTally, known_marks
from toolcert.runs.union import Union
from toolcert.stores.object_url import is_url
from toolcert.verification.run.job import VerifyRun
from toolcert.verification.summary.tally import Tally, summary_of


def merge(
    *runs: str | Path,
    output: str | Path,
    allow_gaps: bool = False,
    fresh: bool = False,
    prices: Mapping[str, tuple[float, float]] | None = None,
    known: str | Path | None = None,
) -> VerifyRun | ProbeRun:
    """Join the runs of shards, or merges of some of them, into the run that one machine would have written.

    Shards that are missing or unfinished are refused, unless `allow_gaps` is true. A run in `output` that is not a
    merge of some of these is refused, unless `fresh` is true. The marks of the file `known` are respected.
    """
    if not runs:
        raise UsageError("no run to merge.", remedy="Name the folders of all shards.")
    marks = known_marks(known)

    def merged(folder: str | Path) -> VerifyRun | ProbeRun:
        found = [locate_run(run) for run in runs]
        return _merge(found, Path(folder), allow_gaps=allow_gaps, fresh=fresh, prices=prices or {}, known=marks)

    async def uploaded() -> VerifyRun | ProbeRun:
        async with run_place(str(output)) as (folder, _):
            return merged(folder or output)

    # Without a loop if none is needed: it would hold back Ctrl-C until all is merged.
    return wait_for(uploaded()) if is_url(output) else merged(output)


def _merge(
    runs: Sequence[Path],
    folder: Path,
    *,
    allow_gaps: bool,
    fresh: bool,
    prices: Mapping[str, tuple[float, float]],
    known: Sequence[Mark],
) -> VerifyRun | ProbeRun:
    with closing(Union(runs, allow_gaps=allow_gaps)) as union:
        if union.manifest.job == "verify":
            tally = Tally(MarkTally(union.marks(folder), known))
            union.write(folder, fresh=fresh, observe=tally.add_line)
            return VerifyRun(folder=str(folder), summary=summary_of(tally, union.manifest))
        union.write(folder, fresh=fresh)
    return ProbeRun(folder=str(folder), summary=summarise_run(folder, prices, known), not_dealt=union.not_dealt)
