"""The result of a verify run, or of a merge of its shards: shown, written to reports, and as an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcert.cli.support.exit import echo
from toolcert.cli.support.run_console import conclude_with_bugs, is_shard
from toolcert.core.errors import ExitCode, GateError, InputError, UsageError
from toolcert.reports.display_text import plural
from toolcert.settings import Settings

if TYPE_CHECKING:
    from toolcert.core.gates import Gates
    from toolcert.diagnose.judgement import Rules
    from toolcert.verification.run.job import VerifyRun
    from toolcert.verification.summary.figures import VerifySummary

_LOST_ACCESS = {"auth": "the key", "unknown_model": "the model"}
"""Causes of missing rows that the user has to mend: with them, too little is exit 3, with or without a gate."""


def conclude(result: VerifyRun, settings: Settings, *, merged: bool = False) -> int:
    """Print the result, write the reports and check the gates; the exit code of the command."""
    from toolcert.runs.location import run_name

    print_and_write(result.summary, settings, result.folder)
    for notice in result.notices:
        echo(notice, err=True)
    place = run_name(result.folder)
    if result.interrupted:
        done = "nothing was measured" if result.kept_earlier else f"what was measured is in {place}"
        echo(f"Interrupted; {done}. Run again with this --output to continue.", err=True)
        return ExitCode.INTERRUPTED
    unasked = sum(result.summary.not_asked.values())
    if unasked and not result.kept_earlier:
        command = "each shard's command, with its" if merged else f"the same command with --output {place}"
        again = "--output, asks them; then merge again" if merged else "asks them"
        echo(f"{plural(unasked, 'row')} left; {command} {again}.", err=True)
    if result.kept_earlier and not result.summary.nothing_measured and not result.summary.bugs:
        echo("No row that was asked again got an answer.", err=True)
        return ExitCode.NOTHING_MEASURED
    if is_shard(settings) and result.summary.planned == 0:
        echo(f"No row falls to shard {settings.shard}.", err=True)
        return ExitCode.OK
    return exit_code(result.summary, required_gates(settings), place)


def exit_code(summary: VerifySummary, gates: Gates, folder: str) -> int:
    """The exit code for a summary and the gates it must meet."""
    from toolcert.core.verdict import Word
    from toolcert.verification.summary.failed_gates import failed_gates, too_little_measured

    if not summary.rows.sent and not summary.not_asked:
        raise _no_row(summary)
    if summary.bugs:
        return conclude_with_bugs(summary.bugs, folder, failed_gates(gates, summary))
    if summary.verdict.word is Word.NOT_MEASURED and (gates or not summary.rows.answered):
        causes = ", ".join(f"{rows} {cause}" for cause, rows in summary.not_measured_by.items())
        told = summary.verdict.reason if summary.rows.answered else causes or "no row was asked"
        echo(f"Nothing could be measured: {told}.", err=True)
        return ExitCode.NOTHING_MEASURED
    refused = summary.not_measured_by.keys() & _LOST_ACCESS
    if (gates or refused) and (gap := too_little_measured(summary)):
        lost = " and ".join(_LOST_ACCESS[cause] for cause in sorted(refused))
        echo(f"{f'The server refused {lost}' if lost else 'The gates cannot be judged'}: {gap}.", err=True)
        return ExitCode.NOTHING_MEASURED
    if missed := failed_gates(gates, summary):
        raise GateError("\n".join(missed))
    return ExitCode.OK


def required_gates(settings: Settings) -> Gates:
    """The gates of the command, none for a shard; one that could never be met is refused."""
    from toolcert.core.gates import Gates, parse_gates, parse_limits
    from toolcert.core.verdict import Word
    from toolcert.verification.summary.failed_gates import GATE_NAMES

    if is_shard(settings):
        return Gates()
    limits, rates = parse_limits(gate_text(settings))
    return Gates(
        figures=parse_gates(rates, GATE_NAMES),
        limits=limits,
        fail_on=tuple(settings.fail_on),
        require=None if settings.require is None else Word(settings.require),
        allow=tuple(settings.allow),
    )


def gate_text(settings: Settings) -> str:
    """The gates on figures as they were given."""
    given = settings.fail_under
    if isinstance(given, float):
        raise UsageError(
            f"--fail-under {given:g} does not name a figure.", remedy="Write it as schema=0.98, trigger=95% or p95<2s."
        )
    return given or ""


def _no_row(summary: VerifySummary) -> InputError:
    name = summary.dataset.path if summary.dataset else "the dataset"
    if summary.rows.lines:
        return InputError(f"{name}: no line can be asked.", remedy="`toolcert dataset check` says why.")
    return InputError(
        f"{name}: no row was chosen.", remedy="Check --where; `toolcert dataset stats` lists the tools and tags."
    )


def print_and_write(summary: VerifySummary, settings: Settings, folder: str, rules: Rules | None = None) -> None:
    """The result on stdout, and every report that was asked for."""
    from toolcert.cli.support import report_options
    from toolcert.reports.console.style import Screen
    from toolcert.reports.verify.console import print_verify
    from toolcert.runs.location import run_name

    try:
        if report_options.shows_result(settings, "verify"):
            print_verify(summary, Screen(), slices=settings.slice, run=run_name(folder))
    finally:  # if the reader of stdout goes away, the reports are still written
        report_options.write_all("verify", summary, settings, folder, rules=rules)
    if report_options.shows_result(settings, "verify"):
        report_options.print_page_path(settings.html)
