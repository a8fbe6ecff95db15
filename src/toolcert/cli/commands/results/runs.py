"""`toolcert runs`: the runs below a folder, newest first. `toolcert merge`: the runs of all shards as one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo, warn
from toolcert.core.errors import ExitCode, InputError, ToolcertError, UsageError
from toolcert.core.verdict import Word
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.output import REPORTS
from toolcert.stores.object_url import is_url

if TYPE_CHECKING:
    from toolcert.runs.location import RunEntry


_MOST_MODELS = 2


@click.command(cls=SettingsCommand, short_help="List runs, newest first: verdict, target, counts, cost, state.")
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("--endpoint", "endpoint", metavar="NAME", help="Only runs at this endpoint, a name or a pattern.")
@click.option("--model", "-m", "model", metavar="ID", help="Only runs that asked this model, an id or a pattern.")
@click.option(
    "--verdict", type=click.Choice([word.value for word in Word]), help="Only runs whose verdict is this word."
)
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD", help="Only runs from this day on (UTC)."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, metavar="N", show_default=True, help="At most this many."
)
@click.option("--json", "as_json", is_flag=True, help="The list as JSON, one object for each run.")
@use()
def runs(
    *,
    folder: str | None,
    settings: Settings,
    as_json: bool,
    since: datetime | None,
    limit: int,
    **wanted: str | None,
) -> int:
    """List runs, newest first: verdict, target, counts, cost, state.

    FOLDER holds run folders, or is an s3:// URL with runs below; without it that is toolcert-runs. The name of a run
    that the list shows can be given to every command that takes a run, and `latest` stands for the newest one below
    toolcert-runs.

    \b
    toolcert runs
    toolcert runs nightly --model 'qwen*' --verdict partial --since 2026-06-01
    toolcert runs --json | jq '.[0].verdict'
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.reports.console.style import Screen, table
    from toolcert.reports.destinations import STDOUT, deliver_json
    from toolcert.runs.location import list_runs
    from toolcert.runs.provenance import RUNS

    place = folder if folder is not None else RUNS
    if folder is not None and not is_url(folder) and not Path(folder).is_dir():
        raise InputError(f"there is no folder {place}.", remedy="Name a folder that holds run folders.")
    first = since.replace(tzinfo=UTC).timestamp() if since is not None else 0.0
    chosen = (entry for entry in list_runs(place) if entry.manifest.started_at >= first)
    told = (_line(entry, settings) for entry in chosen if _asked(entry, wanted))
    lines = list(islice((line for line in told if _fits(line, wanted)), limit))
    if as_json:
        deliver_json(lines, STDOUT)
    elif lines:
        heads = ("RUN", "STARTED (UTC)", "JOB", "VERDICT", "PASSED", "COST", "STATE", "ABOUT")
        screen = Screen()
        screen.print(table(heads, [_cells(line, by_id=folder is None) for line in lines], screen))
    else:
        echo(f"No run in {place} fits." if any((since, *wanted.values())) else f"There is no run in {place}.", err=True)
    return ExitCode.OK


def _asked(entry: RunEntry, wanted: dict[str, str | None]) -> bool:
    """Whether the manifest has the endpoint and the model; the log is not read for it."""
    endpoints = [spec.name for spec in entry.manifest.endpoints]
    return _any_fits(endpoints, wanted["endpoint"]) and _any_fits(entry.manifest.asked_models, wanted["model"])


def _any_fits(names: Iterable[str], pattern: str | None) -> bool:
    return pattern is None or any(name == pattern or fnmatchcase(name, pattern) for name in names)


def _fits(line: dict[str, Any], wanted: dict[str, str | None]) -> bool:
    return wanted["verdict"] is None or line["verdict"] == wanted["verdict"]


def _line(entry: RunEntry, settings: Settings) -> dict[str, Any]:
    """One line of the list; a run whose log is damaged is listed without its figures."""
    from toolcert.runs.location import run_name

    manifest = entry.manifest
    line: dict[str, Any] = {
        "run": manifest.run,
        "folder": run_name(entry.folder),
        "started_at": manifest.started_at,
        "job": manifest.job,
        "endpoints": [spec.name for spec in manifest.endpoints],
        "models": list(manifest.asked_models),
        "about": manifest.about,
        "state": entry.state.value,
        "bytes": entry.size,
    }
    figures: dict[str, Any] = {"verdict": None, "headline": "", "passed": None, "measured": None, "cost": None}
    try:
        figures |= dict(_figures(entry, settings))
    except ToolcertError as error:
        warn(f"{entry.folder}: {error}")
    return line | figures


def _figures(entry: RunEntry, settings: Settings) -> Iterator[tuple[str, Any]]:
    from toolcert.api.report import load_run
    from toolcert.core.statistics.rates import Rate
    from toolcert.probes.summary.scorecard import ProbeSummary
    from toolcert.verification.summary.figures import VerifySummary

    summary = load_run(entry.folder, prices=settings.config.prices).summary
    yield "headline", summary.headline
    if isinstance(summary, ProbeSummary):
        counts = summary.totals.counts
        yield from (("verdict", summary.verdict.value), ("passed", counts.passed), ("measured", counts.measured))
        yield "cost", summary.totals.usage.cost
        return
    yield "verdict", summary.verdict.word.value
    if isinstance(summary, VerifySummary):
        yield from (("passed", summary.rows.passed), ("measured", summary.rows.answered))
    else:
        right = sum((level.right for level in summary.levels), Rate())
        yield from (("passed", right.k), ("measured", right.n))


def _cells(line: dict[str, Any], *, by_id: bool) -> tuple[str, ...]:
    """A line of the table; a run is named as other commands take it."""
    models = line["models"]
    more = f" and {len(models) - _MOST_MODELS} more" if len(models) > _MOST_MODELS else ""
    target = f"{', '.join(models[:_MOST_MODELS])}{more} at {', '.join(line['endpoints'])}"
    return (
        line["run"] if by_id else line["folder"],
        f"{datetime.fromtimestamp(line['started_at'], UTC):%Y-%m-%d %H:%M}",
        line["job"],
        "" if line["verdict"] is None else Word(line["verdict"]).text,
        "" if line["measured"] is None else f"{line['passed']}/{line['measured']}",
        "" if line["cost"] is None else f"{line['cost']:.2f}",
        line["state"],
        f"{target}{', ' if line['about'] else ''}{line['about']}",
    )


_GATES = ("fail-under", "fail-on", "require", "allow", "known")


@click.command(cls=SettingsCommand, short_help="Join the runs of all shards into one.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@use("output", "fresh", "allow-gaps", *_GATES, "sort", "slice", *names(REPORTS), "history", "save-history", "days")
def merge(runs: tuple[str, ...], settings: Settings) -> int:
    """Join the runs of all shards into one; nothing is sent.

    RUN is the folder of a run with --shard, or of a merge of some of them. The result is the run that one machine would
    have written, and the command reports it and ends as verify or probe would have. Shards that are missing, unfinished
    or of another run are refused. Merging again replaces the earlier merge.

    \b
    toolcert merge shards/* -o all --require passes --html page.html
    toolcert merge shard-1 shard-2 -o all --allow-gaps
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return merge_runs(runs, settings)


def merge_runs(runs: tuple[str, ...], settings: Settings) -> int:
    """Join, report and judge the gates; the exit code of the command."""
    from toolcert.api.merge import merge as merge_shards
    from toolcert.api.probe import ProbeRun
    from toolcert.cli.support import report_options, run_console, verify_result
    from toolcert.runs.location import locate_run
    from toolcert.runs.reader import read_manifest
    from toolcert.verification.summary.failed_gates import require_expectations

    if settings.output is None:
        raise UsageError("merge needs --output.", remedy="Name the folder for the merged run.")
    first = read_manifest(locate_run(runs[0]))
    of_rows = first.job == "verify"
    report_options.check_reports(settings, "verify" if of_rows else "probe")
    run_console.check_gates(settings, lambda: first.probes)
    gates = verify_result.required_gates(settings) if of_rows else run_console.required_gates(settings)
    choice = {
        "allow_gaps": settings.allow_gaps,
        "fresh": settings.fresh,
        "prices": settings.config.prices,
        "known": settings.known,
    }
    result = merge_shards(*runs, output=settings.output, **choice)
    if isinstance(result, ProbeRun):
        return run_console.conclude_probe(result, settings)
    if of_rows:
        require_expectations(gates.figures, result.folder, lambda: result.summary.expects)
    return verify_result.conclude(result, settings, merged=True)
