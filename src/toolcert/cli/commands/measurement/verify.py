"""`toolcert verify`: a dataset of requests replayed against one model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, chosen_endpoints, use
from toolcert.cli.support.exit import echo
from toolcert.cli.support.run_console import (
    RunConsole,
    check_gates,
    confirm_requests,
    is_shard,
    print_upload_note,
    refuse_for_shard,
    viewer,
)
from toolcert.cli.support.verify_result import conclude, exit_code, gate_text, print_and_write, required_gates
from toolcert.core.errors import ExitCode, NothingMeasuredError, UsageError
from toolcert.core.events import Handler
from toolcert.core.records import Manifest
from toolcert.settings import Settings, Source
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS
from toolcert.settings.options.output import OUTPUT
from toolcert.settings.options.verify import VERIFY
from toolcert.settings.web_address import is_loopback

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint
    from toolcert.diagnose.judgement import Rules
    from toolcert.verification.run.job import VerifyJob
    from toolcert.verification.verify_options import VerifyOptions


_LEFT_OUT = frozenset({"exclude", "all-models"})
_JUDGEMENT = ("threshold", "fail-under", "fail-on", "require", "allow", "known")


@click.command(cls=SettingsCommand, short_help="Replay a dataset of requests against one model.")
@click.argument("dataset", required=False, metavar="[DATASET]")
@click.option("--from", "earlier", metavar="RUN", help="Judge a finished run or results.jsonl again; nothing is sent.")
@click.option(
    "--rules",
    type=click.Choice(["ours", "older"]),
    default="ours",
    help="With --from: the rules of toolcert (ours), or those of the older verifiers.",
)
@click.option(
    "--resume", is_flag=True, help="Continue the run in --output; this is the default, unless --fresh is given."
)
@use(
    *(name for name in names(CONNECTION, REQUESTS, VERIFY, OUTPUT) if name not in _LEFT_OUT),
    *_JUDGEMENT,
    "shard",
    "view",
    "browser",
)
def verify(dataset: str | None, earlier: str | None, rules: str, resume: bool, settings: Settings) -> int:
    """Replay a dataset of requests against one model, and judge every answer.

    DATASET is a JSONL file of chat completions bodies, one a line; gzip and zstd are read as they are, - is
    stdin, an s3:// URL is fetched.

    \b
    toolcert verify requests.jsonl --base-url https://api.vendor.example/v1 -m model -o run
    toolcert verify requests.jsonl -e my-vllm -m model --sample 200 --seed 1 --fail-under schema=0.98
    toolcert verify --from run                           judge again after a rule changed
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return verify_or_rejudge(dataset, settings, earlier=earlier, rules=rules, resume=resume)


_NOT_WITH_FROM = ("dry_run", "fresh", "limit", "max_requests", "only_failed", "output", "sample", "shard", "where")
"""Options that have no effect with --from; they are refused, because users would expect one."""


def verify_or_rejudge(dataset: str | None, settings: Settings, *, earlier: str | None, rules: str, resume: bool) -> int:
    """Plan, ask and report, or judge again; the exit code of the command."""
    from toolcert.cli.support import report_options
    from toolcert.diagnose.judgement import Rules
    from toolcert.runs.location import locate_run

    report_options.check_reports(settings, "verify", dataset, earlier)
    refuse_for_shard(settings)
    check_gates(settings)
    if earlier is not None:
        return _judge_again(dataset, str(locate_run(earlier)), Rules(rules), settings)
    if dataset is None:
        raise UsageError("no dataset is given.", remedy="Name a JSONL file of requests, or - for stdin.")
    if rules != Rules.OURS:
        raise UsageError(f"--rules {rules} judges finished runs.", remedy="Name one with --from.")
    if resume and settings.fresh:
        raise UsageError("--resume and --fresh exclude each other.")
    if resume and settings.output is None:
        raise UsageError("--resume needs --output.", remedy="Name the folder of the run to continue.")
    return _verify_dataset(dataset, settings)


def _verify_dataset(dataset: str, settings: Settings) -> int:
    endpoint = _endpoint(settings)
    options = verify_options(settings, _only_model(endpoint))
    if settings.dry_run:
        _print_plan(dataset, endpoint, options)
        return ExitCode.OK
    from toolcert.api.verify import verify as verify_dataset
    from toolcert.reports.console.progress import VerifyFigures

    figures = VerifyFigures()
    print_upload_note(settings)
    with viewer(settings) as views:
        with RunConsole(_title, figures.line) as console:
            handlers: list[Handler] = views if settings.quiet else [*views, figures, console]
            confirm = partial(_confirm, yes=settings.yes)
            try:
                result = verify_dataset(dataset, endpoint, options, handlers, confirm)
            except NothingMeasuredError as error:
                _report_nothing(error, settings)
                raise
        return conclude(result, settings)


def _report_nothing(error: NothingMeasuredError, settings: Settings) -> None:
    """Write the reports of a run that was stopped: otherwise a badge would still show the result of an earlier run."""
    if error.folder:
        from toolcert.cli.support import report_options
        from toolcert.verification.summary.tally import summarise

        report_options.write_all("verify", summarise(Path(error.folder)), settings, error.folder)


def _title(manifest: Manifest) -> str:
    dataset = manifest.dataset.path if manifest.dataset else ""
    return f"verify {dataset}  {manifest.parameters['model']} at {manifest.endpoints[0].name}"


def _judge_again(dataset: str | None, earlier: str, rules: Rules, settings: Settings) -> int:
    from toolcert.api.verify import judge_again
    from toolcert.cli.support import report_options
    from toolcert.reports.console.style import Screen
    from toolcert.reports.verify.console import print_differences
    from toolcert.verification.summary.failed_gates import require_expectations

    if dataset is not None:
        raise UsageError("--from judges the answers of a finished run; it takes no dataset.")
    for name in _NOT_WITH_FROM:
        if settings.resolved(name).source is Source.FLAG:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"--from judges all of a finished run and sends nothing; leave out {option}.")
    gates = required_gates(settings)
    judged = judge_again(earlier, rules, _threshold(settings), settings.adapter, settings.known)
    require_expectations(gates.figures, earlier, lambda: judged.summary.expects)
    print_and_write(judged.summary, settings, earlier, rules)
    if report_options.shows_result(settings, "verify"):
        echo()
        print_differences(judged.differences, Screen())
    return exit_code(judged.summary, gates, earlier)


def _threshold(settings: Settings) -> float | None:
    """The threshold that was asked for; the default of the table is that of probe."""
    chosen = settings.resolved("threshold")
    return None if chosen.source is Source.DEFAULT else settings.threshold


def verify_options(settings: Settings, model: str) -> VerifyOptions:
    """The options of the command as the library takes them."""
    from toolcert.core.verdict import VERIFY_THRESHOLD
    from toolcert.verification.verify_options import VerifyOptions

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
        shard=settings.shard,
        engine=settings.engine,
        ray_address=settings.ray_address,
        ray_workers=settings.ray_workers,
        keep=settings.keep,
        threshold=VERIFY_THRESHOLD if (asked := _threshold(settings)) is None else asked,
        fail_under="" if is_shard(settings) else gate_text(settings),
        fail_on=() if is_shard(settings) else tuple(settings.fail_on),
        require=None if is_shard(settings) else settings.require,
        allow=tuple(settings.allow),
        known=settings.known,
    )


def _endpoint(settings: Settings) -> Endpoint:
    chosen = chosen_endpoints(settings)
    if len(chosen) > 1:
        raise UsageError("verify asks one endpoint at a time.", remedy="Run it once for each, then `toolcert compare`.")
    return chosen[0]


def _only_model(endpoint: Endpoint) -> str:
    if len(endpoint.model) != 1:
        raise UsageError("verify asks one model.", remedy="Name it: --model ID; `toolcert models` lists them.")
    return endpoint.model[0]


def _confirm(job: VerifyJob, *, yes: bool) -> None:
    if yes or is_loopback(job.spec.base_url):
        return
    deal = job.deal
    planned = (job.selection.total(job.dataset) or job.dataset.source.count()) if deal is None else deal.rows
    confirm_requests(min(planned, job.options.max_requests or planned), [job.spec], yes=yes)


def _print_plan(dataset: str, endpoint: Endpoint, options: VerifyOptions) -> None:
    import msgspec

    from toolcert.api.run_place import place_of_plan
    from toolcert.api.verify import verify_job
    from toolcert.reports.console.style import Screen
    from toolcert.reports.verify.console import print_dry_run
    from toolcert.verification.run.job import dry_run

    options = msgspec.structs.replace(options, output=place_of_plan(options.output))
    folder = Path(options.output) if options.output else None
    with verify_job(dataset, endpoint, options) as job:
        print_dry_run(dry_run(job, folder), Screen())
