"""Compare: finished runs of vendors compared with runs of a baseline. Nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

import msgspec

from toolcert.comparison.baseline import Blessing, readable_blessing
from toolcert.comparison.baseline import bless as bless_run
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.pipeline import compare as compare_runs
from toolcert.comparison.pipeline import measured_noise
from toolcert.comparison.result import Comparison
from toolcert.comparison.stats.significance import FAMILY, USUAL_NOISE, Plan
from toolcert.comparison.stats.significance import plan as plan_rows
from toolcert.core.errors import UsageError

Runs: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
"""One run or several: run folders, results files of the older verifiers, or names of blessed baselines."""


def compare(baselines: Runs, vendors: Runs, options: CompareOptions | None = None) -> Comparison:
    """Compare vendors with a baseline; a second run of the baseline shows how much it differs from itself."""
    return compare_runs(_names(baselines), _names(vendors), options or CompareOptions())


async def compare_async(baselines: Runs, vendors: Runs, options: CompareOptions | None = None) -> Comparison:
    """Compare vendors with a baseline, in a thread of its own so that the event loop stays free."""
    import asyncio  # the command compares without it, and it takes long to load

    return await asyncio.to_thread(compare, baselines, vendors, options)


def plan_comparison(
    baselines: Runs, *, vendors: int, effect: float, power: float, options: CompareOptions | None = None
) -> Plan:
    """The rows that a comparison needs; two runs of the baseline give the noise, otherwise a usual one is assumed."""
    options = options or CompareOptions()
    noise = measured_noise(_names(baselines), options)
    planned = plan_rows(
        effect,
        noise=USUAL_NOISE if noise is None else noise,
        alpha=options.alpha,
        power=power,
        tests=FAMILY * max(1, vendors),  # every vendor adds tests that share the chance of a false alarm
    )
    return msgspec.structs.replace(planned, measured=noise is not None)


def bless(run: str | Path, name: str, baselines: str) -> tuple[Blessing, Blessing | None]:
    """Keep a run as a named baseline; the second value is the baseline that it replaces if that is another run."""
    earlier = readable_blessing(Path(baselines), name)
    blessing = bless_run(Path(run), name, Path(baselines))
    same = earlier is not None and (earlier.path, earlier.digest) == (blessing.path, blessing.digest)
    return blessing, None if same else earlier


def _names(runs: Runs) -> list[str]:
    """A list of names; one name alone would otherwise be read letter by letter."""
    given = [runs] if isinstance(runs, str | PathLike) else list(runs)
    if not all(isinstance(run, str | PathLike) for run in given):
        raise UsageError("runs are named by text or paths.", remedy="Give a run folder, a file, or a list of them.")
    return [fspath(run) for run in given]
