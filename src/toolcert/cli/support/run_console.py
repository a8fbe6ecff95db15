"""A run as the person at the terminal sees it: the question before many requests, progress, Ctrl-C, the result."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from toolcert.cli.support.exit import echo, warn
from toolcert.core.cases import BELONGS_TO_MERGE, ONLY_A_SHARE, SkipKind
from toolcert.core.errors import ISSUES, ExitCode, GateError, NothingMeasuredError, ToolcertWarning, UsageError
from toolcert.core.events import CaseFinished, Event, Handler, RunStarted
from toolcert.core.findings import INTERNAL
from toolcert.core.records import Manifest
from toolcert.core.targets import EndpointSpec
from toolcert.reports.display_text import plural, visible
from toolcert.settings import Settings, Source
from toolcert.settings.web_address import is_loopback
from toolcert.stores.object_url import is_url, parse_url
from toolcert.version import __version__

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint
    from toolcert.api.probe import ProbeJob, ProbeOptions, ProbeRun
    from toolcert.core.gates import Gates
    from toolcert.probes.summary.scorecard import ProbeSummary
    from toolcert.reports.console.progress import Progress

MANY_REQUESTS = 500
"""A run of more requests against somebody else's machine is worth a question: it costs money."""


def confirm_requests(planned: int, endpoints: Sequence[EndpointSpec], *, yes: bool) -> None:
    """Ask before many requests go to somebody else's machine."""
    elsewhere = [spec for spec in endpoints if not is_loopback(spec.base_url)]
    if yes or not elsewhere or planned <= MANY_REQUESTS:
        return
    question = f"This sends up to {plural(planned, 'request')} to {elsewhere[0].base_url or elsewhere[0].name}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{question}.", remedy="Add --yes if that is meant, or set --max-requests.")
    with _interruptible():
        if not click.confirm(visible(f"{question}. Go on?"), err=True):
            raise click.Abort


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a question at once: the event loop's own handler would wait for the answer first."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def print_upload_note(settings: Settings) -> None:
    """Say how much is lost if a run whose folder is a URL is killed."""
    if settings.output is not None and is_url(settings.output) and not settings.quiet:
        from toolcert.stores.upload import UPLOAD_SECONDS

        place = parse_url(settings.output)
        echo(f"{place} is uploaded every {UPLOAD_SECONDS:g} seconds; a kill loses no more than that.", err=True)


@contextlib.contextmanager
def viewer(settings: Settings) -> Iterator[list[Handler]]:
    """The handler that shows the run in the browser where --view asks for it, or none."""
    if not settings.view:
        yield []
        return
    from toolcert.cli.support.run_view import RunView

    with RunView(settings) as view:
        yield [view]


class RunConsole:
    """A handler of events that shows the progress of a run on stderr, from its start to the end of the context.

    `title` names the run; `extra` adds a line of the job's own.
    """

    def __init__(self, title: Callable[[Manifest], str], extra: Callable[[], str]) -> None:
        self._title = title
        self._extra = extra
        self._stack = contextlib.ExitStack()
        self._display: Progress | None = None
        self._said: set[str] = set()

    def __call__(self, event: Event) -> None:
        try:
            self._show(event)
        except OSError:  # the terminal was closed; the run goes on without it
            self._display = None

    def _show(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            from toolcert.reports.console.progress import progress

            # Not earlier: a display that is drawn would hide the question before many requests.
            title = f"{self._title(event.manifest)}  run {event.manifest.run}"
            self._display = self._stack.enter_context(progress(title, extra=self._extra))
            self._stack.callback(setattr, warnings, "showwarning", warnings.showwarning)
            warnings.showwarning = self._show_warning
        if self._display is not None:
            self._display(event)
            if isinstance(event, CaseFinished) and event.record.skip is SkipKind.OUTAGE:
                self._say_once(event.record.reason)

    def _show_warning(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        """Write warnings of the library above the display, not into it; some come from other threads."""
        if self._display is not None and issubclass(category, ToolcertWarning):
            with contextlib.suppress(OSError):
                self._display.say(f"Warning: {message}")

    def _say_once(self, reason: str) -> None:
        """Say at once, not only in the result, that an endpoint or a model is not asked any more."""
        if self._display is not None and reason not in self._said:
            self._said.add(reason)
            self._display.say(f"{reason}; what is left of it is not asked.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._stack.close()


class ProbeConsole(RunConsole):
    """Shows a probe run, and asks before one that sends many requests."""

    def __init__(self, command: str, *, yes: bool = True) -> None:
        super().__init__(lambda manifest: f"{command} {_names(manifest)}".rstrip(), self._models_done)
        self._yes = yes
        self._job: ProbeJob | None = None

    def confirm(self, job: ProbeJob) -> None:
        """Say which endpoints are left out, and ask before many requests go to somebody else's machine."""
        self._job = job
        warn_of_silent_endpoints(job)
        planned = job.plan.requests_planned() + job.load_requests
        confirm_requests(min(planned, job.options.max_requests or planned), job.manifest.endpoints, yes=self._yes)

    def _models_done(self) -> str:
        """How many models are through, which says more than the case that comes next."""
        if self._job is None:
            return ""
        done, asked = self._job.plan.models_done
        return f"{done} of {plural(asked, 'model')} done"


def _names(manifest: Manifest) -> str:
    return ", ".join(spec.name for spec in manifest.endpoints)


def warn_of_silent_endpoints(job: ProbeJob) -> None:
    """Warn of endpoints that gave no list of models."""
    for name, reason in job.left_out.items():
        warn(f"{name} is left out: {reason}")


def is_shard(settings: Settings) -> bool:
    """Whether the command asks a share of the cases only."""
    return "shard" in settings and settings.shard is not None


_OF_THE_WHOLE = ("fail_under", "fail_on", "require", "save_history")


def refuse_for_shard(settings: Settings) -> None:
    """Refuse, for a shard, flags that need all cases; the same options in a variable or file are left to merge."""
    for name in _OF_THE_WHOLE if is_shard(settings) else ():
        if name in settings and settings.resolved(name).source is Source.FLAG:
            raise UsageError(f"--{name.replace('_', '-')}: {ONLY_A_SHARE}.", remedy=BELONGS_TO_MERGE)


def check_gates(settings: Settings, probes: Callable[[], Sequence[str]] = tuple) -> None:
    """Refuse a gate or an allowance that names no finding, no severity and, for --allow, none of the run's probes."""
    if settings.fail_on or settings.allow:
        from toolcert.core.gates import check_gate_codes
        from toolcert.diagnose import catalogue

        check_gate_codes(settings.fail_on, catalogue())
        check_gate_codes(settings.allow, catalogue(), "--allow", probes())


def probe_options(settings: Settings) -> ProbeOptions:
    """The options of the command as the library takes them; gates and reports that cannot work are refused."""
    from toolcert.api.probe import ProbeOptions
    from toolcert.cli.support import report_options
    from toolcert.probes.suites import choose_probes

    report_options.check_reports(settings, "probe")
    refuse_for_shard(settings)
    required_gates(settings)
    named = {name: getattr(settings, name) for name in ProbeOptions.__struct_fields__ if name in settings}
    options = ProbeOptions(**named, prices=settings.config.prices)
    asked = partial(choose_probes, options.suite, options.probe, options.scenario)
    check_gates(settings, lambda: [probe.name for probe in asked()])
    return options


def print_probe_plan(endpoints: Sequence[Endpoint], options: ProbeOptions) -> None:
    """Print what would be asked; only the models are listed."""
    import msgspec

    from toolcert.api.endpoint import wait_for
    from toolcert.api.probe import probe_job
    from toolcert.api.run_place import place_of_plan

    planned = msgspec.structs.replace(options, output=place_of_plan(options.output))

    async def plan() -> None:
        async with probe_job(endpoints, planned) as job:
            warn_of_silent_endpoints(job)
            _print_plan(job)

    wait_for(plan())


def _print_plan(job: ProbeJob) -> None:
    from toolcert.reports.console.style import Line, Screen

    screen = Screen()
    lines: list[Line] = []
    for endpoint, models in job.models.items():
        able = [model for model in models if model.can_chat]
        lines += screen.prose(f"{endpoint}: {plural(len(able), 'model')}")
        for model in models:
            note = "" if model.can_chat else f" (not asked: {model.why_not})"
            lines += screen.prose(f"{model.id}{note}", indent=2, hanging=4)
    names = ", ".join(probe.name for probe in job.probes)
    lines += screen.prose(f"{plural(len(job.probes), 'probe')}: {names}", hanging=2)
    lines += screen.prose(f"{plural(job.options.iterations, 'iteration')} each")
    most, again = job.plan.requests_planned(), job.plan.requests_to_look_again()
    lines += screen.prose(f"up to {plural(most, 'request')} without retries; none was sent")
    if job.options.at_load is not None:
        loaded = f"{job.options.pairs} questions alone and {job.options.at_load} at a time"
        lines += screen.prose(f"up to {plural(job.load_requests, 'request')} more for {loaded}")
    lines += screen.prose(f"up to {again} more where an error is seen in one case only: it is asked for once more")
    screen.print(lines)


@contextlib.contextmanager
def reporting_nothing(endpoints: Sequence[Endpoint], settings: Settings) -> Iterator[None]:
    """If no model can be asked, write the reports anyway: otherwise a badge would show an earlier result."""
    try:
        yield
    except NothingMeasuredError as error:
        from toolcert.cli.support import report_options
        from toolcert.probes.summary.scorecard import ProbeSummary

        summary = ProbeSummary(
            run="",
            toolcert=__version__,
            started_at=time.time(),
            headline=f"Nothing could be measured: {error.message}",
            endpoints=tuple(endpoint.spec for endpoint in endpoints),
            unreachable={endpoint.spec.name: str(error) for endpoint in endpoints},
            nothing_measured=True,
        )
        report_options.write_all("probe", summary, settings, "")
        raise


def conclude_probe(result: ProbeRun, settings: Settings) -> int:
    """Print the result, write the reports and check the gates; the exit code of the command."""
    from toolcert.cli.support import report_options
    from toolcert.probes.summary.sentences import failed_gates
    from toolcert.reports.probe.phrases import in_order
    from toolcert.runs.location import run_name

    summary, place = in_order(result.summary, settings.sort), run_name(result.folder)
    shows = report_options.shows_result(settings, "probe")
    try:
        if shows:
            print_probe_result(result.folder, summary)
    finally:  # if the reader of stdout goes away, the reports are still written
        _write_results(result, summary, settings)
    if shows:
        report_options.print_page_path(settings.html)
    if result.interrupted:
        echo(f"Interrupted; what was measured is in {place}. Run again with this --output to continue.", err=True)
        return ExitCode.INTERRUPTED
    if is_shard(settings) and not result.summary.models:
        echo(f"No model falls to shard {settings.shard}.", err=True)
        return ExitCode.OK
    gates = required_gates(settings)
    bugs = sum(cause.count for cause in result.summary.causes if cause.code == INTERNAL)
    if bugs:
        return conclude_with_bugs(bugs, place, failed_gates(result.summary, gates))
    if gap := _too_little(result, gates):
        echo(gap, err=True)
        return ExitCode.NOTHING_MEASURED
    failures = failed_gates(result.summary, gates)
    if failures:
        raise GateError("\n".join(failures))
    return ExitCode.OK


def _too_little(result: ProbeRun, gates: Gates) -> str:
    """Why too little was measured for an exit code of 0 or 1; empty where it was enough."""
    from toolcert.probes.summary.sentences import refused_key, too_little_measured

    if result.summary.nothing_measured:
        return f"Nothing could be measured: {_first_fault(result)}"
    if refused := refused_key(result.summary):
        return f"The server refused the key: {refused}"
    gap = (_missing_shards(result) or too_little_measured(result.summary)) if gates else ""
    return gap and f"The gates cannot be judged: {gap}"


def _missing_shards(result: ProbeRun) -> str:
    """Why no gate can be judged by a merge that lacks shards; empty where they would have asked little."""
    from toolcert.core.verdict import Coverage

    known = sum(model.verdict.coverage.planned for model in result.summary.models)
    coverage = Coverage(measured=known, planned=known + result.not_dealt)
    if not result.not_dealt or coverage.enough:
        return ""
    return f"{plural(result.not_dealt, 'case')} of {coverage.planned} are in shards that are missing."


def required_gates(settings: Settings) -> Gates:
    """The gates of the command, none for a shard; one that could never be met is refused."""
    from toolcert.core.gates import Gates, score_and_limits
    from toolcert.core.verdict import Word

    if is_shard(settings):
        return Gates()
    given = settings.fail_under
    score, limits = score_and_limits(given) if isinstance(given, str) else (given, ())
    return Gates(
        fail_under=score,
        limits=limits,
        fail_on=tuple(settings.fail_on),
        require=None if settings.require is None else Word(settings.require),
        allow=tuple(settings.allow),
    )


def print_probe_result(folder: str, summary: ProbeSummary) -> None:
    """The result on stdout, with curl lines whose bodies are in the run."""
    from toolcert.reports.console.style import Screen
    from toolcert.reports.probe.console import print_probe
    from toolcert.reports.probe.phrases import write_examples
    from toolcert.runs.location import run_name

    print_probe(summary, Screen(), run=run_name(folder), examples=write_examples(Path(folder), summary))


def _write_results(result: ProbeRun, summary: ProbeSummary, settings: Settings) -> None:
    """Put the run into the history and the reports that were asked for."""
    from toolcert.cli.support import report_options

    saved = "save_history" in settings and settings.save_history and not is_shard(settings)
    if saved and not result.interrupted:
        from toolcert.api.history import add_summary

        add_summary(result.summary, settings.history)
    report_options.write_all("probe", summary, settings, result.folder)


def conclude_with_bugs(cases: int, folder: str, missed: Sequence[str]) -> int:
    """Ask to report the cases that toolcert failed to judge; the exit code says so, whatever the gates say."""
    for line in missed:
        echo(line, err=True)
    met = f"{plural(cases, 'case')}, which {'is' if cases == 1 else 'are'} not measured"
    echo(f"A bug in toolcert met {met}; the records in {folder} hold the tracebacks.", err=True)
    echo(f"Please report it with one of them: {ISSUES}", err=True)
    return ExitCode.BUG


def _first_fault(result: ProbeRun) -> str:
    """Why the first model that was asked gave nothing, for the one line that explains exit code 3."""
    unmeasured = [model for model in result.summary.models if model.counts.not_measured] or result.summary.models
    reasons = (cell.reason for model in unmeasured for cell in model.cells if cell.counts.not_measured)
    return next(reasons, "") or next((model.reason for model in unmeasured), "no model could be asked.")
