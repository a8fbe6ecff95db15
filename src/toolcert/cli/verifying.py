"""What `toolcert verify` does once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcert.api.endpoint import Endpoint
from toolcert.api.running import wait_for
from toolcert.api.verifying import run_job, verify_job
from toolcert.cli import reporting
from toolcert.cli.asking import confirm_requests
from toolcert.cli.connecting import connect
from toolcert.cli.stopping import announce_stop
from toolcert.core.errors import ExitCode, GateError, InputError, UsageError
from toolcert.probes.gates import check_gate_codes
from toolcert.reports.console_verify import print_differences, print_verify
from toolcert.reports.live_verify import VerifyFigures
from toolcert.reports.plain_progress import PlainProgress
from toolcert.reports.styled import Line, Paper, print_blocks
from toolcert.reports.text import plural
from toolcert.runs.encoding import Keep
from toolcert.settings import Settings, Source
from toolcert.settings.addresses import is_loopback
from toolcert.verify.figures import VerifySummary
from toolcert.verify.gates import found_gates, missed_gates, parse_gates, require_expectations
from toolcert.verify.job import VerifyJob, VerifyRun
from toolcert.verify.options import VerifyOptions
from toolcert.verify.rules import Rules

if TYPE_CHECKING:
    from toolcert.reports.progress import Progress


_FOR_ASKING = ("dry_run", "fresh", "limit", "max_requests", "only_failed", "output", "sample", "where")
"""Options that would seem to do something with --from."""


def run(dataset: str | None, settings: Settings, *, earlier: str | None, rules: str, resume: bool) -> int:
    """Plan, ask, report; the exit code of the command."""
    reporting.prepare(settings, "verify", dataset, earlier)
    check_gate_codes(settings.fail_on)
    if earlier is not None:
        return _judge_again(dataset, earlier, Rules(rules), settings)
    if dataset is None:
        raise UsageError("which dataset?", remedy="Name a JSONL file of requests, or - for stdin.")
    if rules != Rules.OURS:
        raise UsageError(f"--rules {rules} judges finished runs.", remedy="Name one with --from.")
    if resume and settings.fresh:
        raise UsageError("--resume and --fresh exclude each other.")
    if resume and settings.output is None:
        raise UsageError("--resume needs --output.", remedy="Name the folder of the run to go on with.")
    return _ask(dataset, settings)


def _ask(dataset: str, settings: Settings) -> int:
    endpoint = _endpoint(settings)
    with verify_job(dataset, endpoint, verify_options(settings, _only_model(endpoint))) as job:
        if settings.dry_run:
            _print_plan(job)
            return ExitCode.OK
        if not job.dataset.source.count(at_most=1):
            raise InputError(f"{dataset} is empty: there is no request in it.")
        _confirm(job, yes=settings.yes)
        result = _run_shown(job, endpoint, settings)
    return conclude(result, settings)


def _run_shown(job: VerifyJob, endpoint: Endpoint, settings: Settings) -> VerifyRun:
    if settings.quiet:
        return wait_for(run_job(job, endpoint.key))
    figures = VerifyFigures()
    title = f"verify {job.dataset.source.name}  {job.shaping.model} at {endpoint.spec.name}  run {job.manifest.run}"
    display, say = _display(title, figures)
    with display:
        return wait_for(run_job(job, endpoint.key, [figures, display, announce_stop(say)]))


def _display(title: str, figures: VerifyFigures) -> tuple[Progress, Callable[[str], None]]:
    """What shows the progress, and the way to say something beside it."""
    if not sys.stderr.isatty():
        return PlainProgress(title, sys.stderr, figures.line), partial(click.echo, err=True)
    # Only a terminal is drawn on, so only then the drawing library is loaded.
    from toolcert.cli.consoles import say_on, stderr_console
    from toolcert.reports.progress import progress

    console = stderr_console()
    return progress(title, console, extra=figures.line), say_on(console)


def conclude(result: VerifyRun, settings: Settings) -> int:
    """Print the result, write the reports, close the gates."""
    report(result.summary, settings, result.folder)
    for notice in result.notices:
        click.echo(notice, err=True)
    if result.interrupted:
        done = "nothing was measured" if result.kept_earlier else f"what was measured is in {result.folder}"
        click.echo(f"Interrupted; {done}. The same --output goes on.", err=True)
        return ExitCode.INTERRUPTED
    unasked = sum(result.summary.not_asked.values())
    if unasked and not result.kept_earlier:
        click.echo(f"The same command with --output {result.folder} asks the {plural(unasked, 'row')} left.", err=True)
    return _close(result.summary, [*result.missed, *found_gates(settings.fail_on, result.summary)])


def _close(summary: VerifySummary, missed: Sequence[str]) -> int:
    """The exit code of what was measured."""
    if not summary.rows.sent and not summary.not_asked:
        raise _no_row(summary)
    if summary.nothing_measured:
        refused = {"unsupported": summary.rows.unsupported} if summary.rows.unsupported else {}
        causes = ", ".join(f"{rows} {cause}" for cause, rows in (summary.not_measured_by | refused).items())
        click.echo(f"Nothing could be measured: {causes or 'no row was asked'}.", err=True)
        return ExitCode.NOTHING_MEASURED
    if missed:
        raise GateError("\n".join(missed))
    return ExitCode.OK


def _no_row(summary: VerifySummary) -> InputError:
    name = summary.dataset.path if summary.dataset else "the dataset"
    if summary.rows.lines:
        return InputError(f"{name}: no line can be asked.", remedy="`toolcert dataset check` says why.")
    return InputError(f"{name}: no row was chosen.", remedy="`toolcert dataset stats` lists its tools and tags.")


def report(summary: VerifySummary, settings: Settings, folder: str, rules: Rules | None = None) -> None:
    """The result on stdout, and every report that was asked for."""
    try:
        if reporting.speaks(settings, "verify"):
            print_verify(summary, Paper(sys.stdout), slices=settings.slice, run=folder)
    finally:  # whoever reads our output may go away; the files are wanted all the same
        reporting.write("verify", summary, settings, folder, rules=rules)
    if reporting.speaks(settings, "verify"):
        reporting.tell_page(settings.html)


def _judge_again(dataset: str | None, earlier: str, rules: Rules, settings: Settings) -> int:
    if dataset is not None:
        raise UsageError("--from judges what was answered; it takes no dataset.")
    for name in _FOR_ASKING:
        if settings.resolved(name).source is Source.FLAG:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"--from judges all of a finished run and sends nothing; {option} has no place there.")
    from toolcert.verify.rejudge import rejudge

    gates = parse_gates(_gates(settings))
    judged = rejudge(Path(earlier), rules)
    require_expectations(gates, earlier, lambda: judged.summary.expects)
    report(judged.summary, settings, earlier, rules)
    if reporting.speaks(settings, "verify"):
        click.echo()
        print_differences(judged.differences, Paper(sys.stdout))
    return _close(
        judged.summary, [*missed_gates(gates, judged.summary), *found_gates(settings.fail_on, judged.summary)]
    )


def verify_options(settings: Settings, model: str) -> VerifyOptions:
    """The options of the command as the library takes them."""
    return VerifyOptions(
        model=model,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        stream=None if settings.as_recorded else settings.stream,
        model_type=settings.model_type,
        adapter=settings.adapter,
        use_raw_completions=settings.use_raw_completions,
        tokenizer_model=settings.tokenizer_model,
        limit=settings.limit,
        sample=settings.sample,
        seed=settings.seed or 0,
        where=settings.where,
        output=settings.output,
        fresh=settings.fresh,
        only_failed=settings.only_failed,
        max_requests=settings.max_requests,
        keep=Keep(settings.keep),
        fail_under=_gates(settings),
    )


def _endpoint(settings: Settings) -> Endpoint:
    chosen = connect(settings)
    if len(chosen) > 1:
        raise UsageError("verify asks one endpoint at a time.", remedy="Run it once for each, then `toolcert compare`.")
    return Endpoint.of(chosen[0].spec, chosen[0].key, chosen[0].model)


def _only_model(endpoint: Endpoint) -> str:
    if len(endpoint.model) != 1:
        raise UsageError("verify asks one model.", remedy="Name it: --model ID; `toolcert models` lists them.")
    return endpoint.model[0]


def _gates(settings: Settings) -> str:
    given = settings.fail_under
    if isinstance(given, float):
        raise UsageError(f"--fail-under {given:g}: of which figure?", remedy="Write it as schema=0.98 or trigger=95%.")
    return given or ""


def _confirm(job: VerifyJob, *, yes: bool) -> None:
    if yes or is_loopback(job.spec.base_url):
        return
    planned = job.selection.total(job.dataset) or job.dataset.source.count()
    confirm_requests(min(planned, job.options.max_requests or planned), [job.spec], yes=yes)


def _print_plan(job: VerifyJob) -> None:
    from toolcert.reports.console_dataset import dry_run_lines
    from toolcert.verify.dry_run import dry_run

    folder = Path(job.options.output) if job.options.output else None
    lines = dry_run_lines(dry_run(job, folder))
    print_blocks([[Line(line) for line in block] for block in lines], Paper(sys.stdout))
