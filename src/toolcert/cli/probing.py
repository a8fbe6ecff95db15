"""What `toolcert probe` does once its options are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from toolcert.api.endpoint import Endpoint
from toolcert.api.probing import ProbeJob, ProbeOptions, ProbeRun, probe_job
from toolcert.api.running import wait_for
from toolcert.cli import reporting
from toolcert.cli.asking import confirm_requests
from toolcert.cli.connecting import connect
from toolcert.cli.consoles import say_on, stderr_console, stdout_console
from toolcert.cli.errors import warn
from toolcert.cli.stopping import announce_stop
from toolcert.core.errors import ExitCode, GateError, UsageError
from toolcert.probes.gates import check_gate_codes, failed_gates
from toolcert.probes.registry import all_probes
from toolcert.probes.scorecard import ProbeSummary
from toolcert.probes.suites import SUITES
from toolcert.reports.console_probe import print_probe
from toolcert.reports.examples import write_examples
from toolcert.reports.ordering import in_order
from toolcert.reports.progress import progress
from toolcert.reports.text import plural
from toolcert.runs.encoding import Keep
from toolcert.settings import Settings


def run(names: Sequence[str], settings: Settings) -> int:
    """Plan, ask, report; the exit code of the command."""
    chosen, options = prepare(names, settings)
    result = wait_for(ask(chosen, options, settings))
    return ExitCode.OK if result is None else conclude(result, settings)


def prepare(names: Sequence[str], settings: Settings) -> tuple[list[Endpoint], ProbeOptions]:
    """Endpoints and options; what could only fail at the end is refused here, before anything is measured."""
    reporting.prepare(settings, "probe")
    check_gate_codes(settings.fail_on)
    if isinstance(settings.fail_under, str):
        raise UsageError(f"--fail-under {settings.fail_under}: probe gates on a score.", remedy="Write it as 90.")
    if "save_history" in settings and settings.save_history:
        from toolcert.history.store import HistoryStore

        HistoryStore(settings.history).close()
    chosen = connect(settings, names)
    endpoints = [Endpoint.of(one.spec, one.key, one.model, one.exclude) for one in chosen]
    return endpoints, probe_options(settings)


async def ask(endpoints: Sequence[Endpoint], options: ProbeOptions, settings: Settings) -> ProbeRun | None:
    async with probe_job(endpoints, options) as job:
        for name, reason in job.left_out.items():
            warn(f"{name} is left out: {reason}")
        if settings.dry_run:
            print_plan(job, stdout_console())
            return None
        confirm(job, endpoints, yes=settings.yes)
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
    summary = in_order(result.summary, settings.sort)
    try:
        if reporting.speaks(settings, "probe"):
            examples = write_examples(Path(result.folder), summary)
            print_probe(summary, stdout_console(), run=result.folder, examples=examples)
    finally:  # whoever reads our output may go away; the files are wanted all the same
        _keep(result, summary, settings)
    if reporting.speaks(settings, "probe"):
        reporting.tell_page(settings.html)
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


def _keep(result: ProbeRun, summary: ProbeSummary, settings: Settings) -> None:
    """Put the run into the history and the reports that were asked for."""
    if "save_history" in settings and settings.save_history and not result.interrupted:
        from toolcert.api.remembering import remember

        remember(result.summary, settings.history)
    reporting.write("probe", summary, settings, result.folder)


def first_fault(result: ProbeRun) -> str:
    """Why the first model that was asked gave nothing, for the one line that explains exit code 3."""
    unmeasured = [model for model in result.summary.models if model.counts.not_measured] or result.summary.models
    reason = next((model.reason for model in unmeasured if model.reason), "no model could be asked.")
    return reason.removeprefix("Not measured: ")


def probe_options(settings: Settings) -> ProbeOptions:
    """The options of the command as the library takes them."""
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


def confirm(job: ProbeJob, endpoints: Sequence[Endpoint], *, yes: bool) -> None:
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
