"""`toolcert load`: the same questions to one model alone and many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcert.cli.support import run_console
from toolcert.cli.support.click_options import SettingsCommand, chosen_endpoints, endpoint_arguments, use
from toolcert.cli.support.exit import echo
from toolcert.core.errors import ExitCode, GateError, UsageError
from toolcert.reports.display_text import duration, plural
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS
from toolcert.settings.options.output import OUTPUT
from toolcert.settings.options.probe import LOAD, LOAD_LEVEL

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint
    from toolcert.api.load import LoadJob, LoadOptions, LoadRun
    from toolcert.core.records import Manifest

_LEFT_OUT = frozenset({"concurrency", "all-models"})
_JUDGEMENT = ("threshold", "fail-on", "require", "allow")


@click.command(cls=SettingsCommand)
@endpoint_arguments
@use(*(name for name in names(CONNECTION, REQUESTS, LOAD, OUTPUT) if name not in _LEFT_OUT), *_JUDGEMENT)
def load(endpoints: tuple[str, ...], settings: Settings) -> int:
    """Do calls that work alone break under load, and from how many requests at a time on?

    ENDPOINT is an address, a preset (see `toolcert endpoints`) or a name from toolcert.toml.

    \b
    toolcert load http://localhost:8000 -m qwen3              alone and 16 at a time
    toolcert load my-vllm -m qwen3 --at-load 64 --html r.html 64 at a time, with a page
    toolcert load my-vllm -m qwen3 --for 10m                  and does it last?
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    options = load_options(settings)
    chosen = chosen_endpoints(settings, endpoints)
    if len(chosen) > 1:
        raise UsageError("load asks one endpoint at a time.", remedy="Run it once for each.")
    if settings.dry_run:
        _print_plan(chosen[0], options)
        return ExitCode.OK
    from toolcert.api.load import load as load_model

    run_console.print_upload_note(settings)
    with LoadConsole(yes=settings.yes) as console:
        result = load_model(chosen[0], options, [] if settings.quiet else [console], console.confirm)
    return conclude_load(result, settings)


class LoadConsole(run_console.RunConsole):
    """Shows a load run, and asks before one that sends many requests."""

    def __init__(self, *, yes: bool) -> None:
        super().__init__(_title, self._found)
        self._yes = yes
        self._job: LoadJob | None = None

    def confirm(self, job: LoadJob) -> None:
        """Ask before many requests go to somebody else's machine."""
        self._job = job
        planned = job.plan.requests_planned()
        run_console.confirm_requests(min(planned, job.options.max_requests or planned), [job.spec], yes=self._yes)

    def _found(self) -> str:
        """The pairs so far, and what they show."""
        if self._job is None:
            return ""
        tally = self._job.plan.tally
        worse = f", {tally.test.worse} worse under load" if tally.test.worse else ""
        foreign = f", {tally.crosstalk} with another's values" if tally.crosstalk else ""
        return f"{plural(tally.measured_pairs, 'pair')}{worse}{foreign}"


def _title(manifest: Manifest) -> str:
    asked = manifest.parameters
    return f"load {asked['model']} at {manifest.endpoints[0].name}, {asked['at_load']} at a time"


def load_options(settings: Settings) -> LoadOptions:
    """The options of the command as the library takes them; gates and reports that cannot work are refused."""
    from toolcert.api.load import LoadOptions
    from toolcert.cli.support import report_options

    report_options.check_reports(settings, "load")
    run_console.check_gates(settings)
    named = {name: getattr(settings, name) for name in LoadOptions.__struct_fields__ if name in settings}
    return LoadOptions(**named | {"at_load": settings.at_load or LOAD_LEVEL})


def _print_plan(endpoint: Endpoint, options: LoadOptions) -> None:
    """Print what would be asked; only the models are listed."""
    from toolcert.api.endpoint import wait_for
    from toolcert.api.load import load_job
    from toolcert.load_test.plan import block_size
    from toolcert.reports.console.style import Screen

    async def plan() -> list[str]:
        async with load_job(endpoint, options) as job:
            held = "" if options.for_ is None else f"; then the load is kept up for {duration(options.for_)}"
            search = " A search after a fault takes some hundred more." if options.bisect else ""
            blocks = f"in blocks of {block_size(options.at_load)}"
            return [
                f"{job.model} at {job.spec.name}",
                f"{plural(options.pairs, 'question')}, each alone and {options.at_load} at a time, {blocks}{held}",
                f"up to {plural(job.plan.requests_planned(), 'request')} without retries; none was sent.{search}",
            ]

    screen = Screen()
    screen.print([line for text in wait_for(plan()) for line in screen.prose(text)])


def conclude_load(result: LoadRun, settings: Settings) -> int:
    """Print the result, write the reports and check the gates; the exit code of the command."""
    from toolcert.cli.support import report_options
    from toolcert.reports.console.style import Screen
    from toolcert.reports.load.console import print_load
    from toolcert.runs.location import run_name

    place = run_name(result.folder)
    shows = report_options.shows_result(settings, "load")
    try:
        if shows:
            print_load(result.summary, Screen(), run=place)
    finally:  # if the reader of stdout goes away, the reports are still written
        report_options.write_all("load", result.summary, settings, result.folder)
    if shows:
        report_options.print_page_path(settings.html)
    if result.interrupted:
        echo(f"Interrupted; what was measured is in {place}. Run again with this --output to continue.", err=True)
        return ExitCode.INTERRUPTED
    return _exit_code(result, settings)


def _exit_code(result: LoadRun, settings: Settings) -> int:
    from toolcert.core.gates import rules_out
    from toolcert.core.verdict import Word, is_allowed
    from toolcert.load_test.summary import load_verdict

    summary = result.summary
    gated = bool(settings.fail_on or settings.require)
    missed = [
        f"{one.code} was found: {one.evidence}."
        for one in summary.findings
        if rules_out(settings.fail_on, one.code, one.severity) and not is_allowed(one.code, settings.allow)
    ]
    verdict = load_verdict(
        summary.level,
        summary.levels,
        summary.findings,
        coverage=summary.verdict.coverage,
        threshold=summary.verdict.threshold,
        allow=settings.allow,
    )
    if settings.require and not verdict.meets(Word(settings.require)):
        missed.append(f"{summary.model} is not {settings.require}: {verdict.sentence}.")
    if summary.bugs:
        return run_console.conclude_with_bugs(summary.bugs, result.folder, missed)
    if summary.nothing_measured:
        causes = ", ".join(f"{number} {cause}" for cause, number in summary.not_measured_by.items())
        echo(f"Nothing could be measured: {causes or 'no request was answered'}.", err=True)
        return ExitCode.NOTHING_MEASURED
    coverage = summary.verdict.coverage
    if gated and not coverage.enough:
        for line in missed:
            echo(line, err=True)
        echo(f"The gates cannot be judged: only {coverage.measured} of {coverage.planned} were measured.", err=True)
        return ExitCode.NOTHING_MEASURED
    if missed:
        raise GateError("\n".join(missed))
    return ExitCode.OK
