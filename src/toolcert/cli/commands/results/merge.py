"""`toolcert merge`: the runs of all shards as one run."""

from __future__ import annotations

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.core.errors import UsageError
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.output import REPORTS

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
