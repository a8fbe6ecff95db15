"""`toolcert probe`: short conversations with every model at one or more endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.endpoint_argument import chosen_endpoints, endpoint_arguments
from toolcert.cli.support.exit import warn
from toolcert.cli.support.interaction import announce_stop, confirm_requests
from toolcert.core.errors import ExitCode, GateError, UsageError
from toolcert.reports.display_text import plural
from toolcert.settings import Settings
from toolcert.settings.options import ASKING, CONNECTION, OUTPUT, PROBING, names

if TYPE_CHECKING:
    from rich.console import Console

    from toolcert.api.endpoint import Endpoint
    from toolcert.api.probe import ProbeJob, ProbeOptions, ProbeRun
    from toolcert.probes.summary.scorecard import ProbeSummary


@click.command(cls=SettingsCommand)
@endpoint_arguments
@use(
    *names(CONNECTION, ASKING, PROBING, OUTPUT),
    "history",
    "save-history",
    "days",
)
def probe(endpoints: tuple[str, ...], settings: Settings) -> int:
    """Probe models: do they call tools, rightly, and how surely?

    ENDPOINT is an address, a preset (see `toolcert endpoints`) or a name from toolcert.toml.

    \b
    toolcert probe http://localhost:8000                 every model of a local server
    toolcert probe my-vllm -m 'qwen*' -n 20              some models, twenty times each
    toolcert probe openrouter groq -m '*llama*' --html r.html   the same model at two vendors
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    if settings.list_probes:
        return list_probes()
    return probe_endpoints(endpoints, settings)


def probe_endpoints(names: Sequence[str], settings: Settings) -> int:
    """Plan, ask, report; the exit code of the command."""
    from toolcert.api.endpoint import wait_for

    chosen, options = prepare(names, settings)
    result = wait_for(run_probe(chosen, options, settings))
    return ExitCode.OK if result is None else conclude(result, settings)


def prepare(names: Sequence[str], settings: Settings) -> tuple[list[Endpoint], ProbeOptions]:
    """Endpoints and options; what could only fail at the end is refused here, before anything is measured."""
    from toolcert.api.endpoint import Endpoint
    from toolcert.cli.support import report_options
    from toolcert.probes.summary.gate import check_gate_codes

    report_options.check_reports(settings, "probe")
    check_gate_codes(settings.fail_on)
    if isinstance(settings.fail_under, str):
        raise UsageError(f"--fail-under {settings.fail_under}: probe gates on a score.", remedy="Write it as 90.")
    if "save_history" in settings and settings.save_history:
        from toolcert.history.store import HistoryStore

        HistoryStore(settings.history).close()
    chosen = chosen_endpoints(settings, names)
    endpoints = [Endpoint.of(one.spec, one.key, one.model, one.exclude) for one in chosen]
    return endpoints, probe_options(settings)


async def run_probe(endpoints: Sequence[Endpoint], options: ProbeOptions, settings: Settings) -> ProbeRun | None:
    from rich.console import Console

    from toolcert.api.probe import probe_job
    from toolcert.cli.support.rich_console import say_on, stderr_console, stdout_console
    from toolcert.reports.console.live_progress import progress

    async with probe_job(endpoints, options) as job:
        for name, reason in job.left_out.items():
            warn(f"{name} is left out: {reason}")
        if settings.dry_run:
            print_plan(job, stdout_console())
            return None
        confirm_probe(job, endpoints, yes=settings.yes)
        console = Console(quiet=True) if settings.quiet else stderr_console()
        title = f"probe {', '.join(endpoint.spec.name for endpoint in endpoints)}  run {job.manifest.run}"
        with progress(title, console, extra=lambda: models_done(job)) as display:
            return await job.run([display, announce_stop(say_on(console))])


def models_done(job: ProbeJob) -> str:
    """A line of progress: which case comes next says little, how many models are through says more."""
    done, asked = job.plan.models_done
    return f"{done} of {plural(asked, 'model')} done"


def conclude(result: ProbeRun, settings: Settings) -> int:
    """Print the result, write the reports, close the gates."""
    from toolcert.cli.support import report_options
    from toolcert.cli.support.rich_console import stdout_console
    from toolcert.probes.summary.gate import failed_gates
    from toolcert.reports.probe.console import print_probe
    from toolcert.reports.probe.phrases import in_order, write_examples

    summary = in_order(result.summary, settings.sort)
    try:
        if report_options.shows_result(settings, "probe"):
            examples = write_examples(Path(result.folder), summary)
            print_probe(summary, stdout_console(), run=result.folder, examples=examples)
    finally:  # whoever reads our output may go away; the files are wanted all the same
        _write_results(result, summary, settings)
    if report_options.shows_result(settings, "probe"):
        report_options.print_page_path(settings.html)
    if result.interrupted:
        click.echo(f"Interrupted; what was measured is in {result.folder}. The same --output goes on.", err=True)
        return ExitCode.INTERRUPTED
    if result.summary.nothing_measured:
        click.echo(f"Nothing could be measured: {first_fault(result)}", err=True)
        return ExitCode.NOTHING_MEASURED
    failures = failed_gates(result.summary, settings.fail_under, settings.fail_on)
    if failures:
        raise GateError("\n".join(failures))
    return ExitCode.OK


def _write_results(result: ProbeRun, summary: ProbeSummary, settings: Settings) -> None:
    """Put the run into the history and the reports that were asked for."""
    from toolcert.cli.support import report_options

    if "save_history" in settings and settings.save_history and not result.interrupted:
        from toolcert.api.history import add_summary

        add_summary(result.summary, settings.history)
    report_options.write_all("probe", summary, settings, result.folder)


def first_fault(result: ProbeRun) -> str:
    """Why the first model that was asked gave nothing, for the one line that explains exit code 3."""
    unmeasured = [model for model in result.summary.models if model.counts.not_measured] or result.summary.models
    reason = next((model.reason for model in unmeasured if model.reason), "no model could be asked.")
    return reason.removeprefix("Not measured: ")


def probe_options(settings: Settings) -> ProbeOptions:
    """The options of the command as the library takes them."""
    from toolcert.api.probe import ProbeOptions
    from toolcert.runs.encoding import Keep

    prices = {name: (price.input, price.output) for name, price in settings.config.prices.items()}
    defaults = ProbeOptions()
    return ProbeOptions(
        model=settings.model,
        exclude=settings.exclude,
        all_models=settings.all_models,
        suite=settings.suite or defaults.suite,
        probe=settings.probe,
        scenario=tuple(str(path) for path in settings.scenario),
        iterations=settings.iterations,
        threshold=settings.threshold,
        adaptive=settings.adaptive,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
        max_requests=settings.max_requests,
        output=settings.output,
        fresh=settings.fresh,
        keep=Keep(settings.keep),
        prices=prices,
    )


def confirm_probe(job: ProbeJob, endpoints: Sequence[Endpoint], *, yes: bool) -> None:
    """Ask before many requests go to somebody else's machine."""
    planned = job.plan.requests_planned()
    if job.options.max_requests is not None:
        planned = min(planned, job.options.max_requests)
    confirm_requests(planned, [endpoint.spec for endpoint in endpoints], yes=yes)


def print_plan(job: ProbeJob, console: Console) -> None:
    """What would be asked."""
    for endpoint, models in job.models.items():
        able = [model for model in models if model.can_chat]
        console.print(f"{endpoint}: {plural(len(able), 'model')}", highlight=False, markup=False)
        for model in models:
            note = "" if model.can_chat else f"  (not asked: {model.why_not})"
            console.print(f"  {model.id}{note}", highlight=False, markup=False)
    names = ", ".join(probe.name for probe in job.probes)
    console.print(f"{plural(len(job.probes), 'probe')}: {names}", highlight=False, soft_wrap=True)
    console.print(f"{plural(job.options.iterations, 'iteration')} each")
    console.print(
        f"up to {plural(job.plan.requests_planned(), 'request')}, retries apart; none was sent", highlight=False
    )


def list_probes() -> int:
    """Suites and probes with what they cost and mean."""
    from toolcert.cli.support.rich_console import stdout_console
    from toolcert.probes.registry import all_probes
    from toolcert.probes.suites import SUITES

    console = stdout_console()
    for suite in SUITES.values():
        console.print(f"suite {suite.name:<8} {suite.title}", highlight=False, soft_wrap=True)
    group = ""
    for entry in all_probes():
        if entry.group != group:
            group = entry.group
            console.print(f"\n{group}", style="bold")
        needs = f" (needs {', '.join(entry.needs)})" if entry.needs else ""
        console.print(
            f"  {entry.name:<20} {entry.title}; {plural(entry.requests, 'request')}{needs}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    return ExitCode.OK
