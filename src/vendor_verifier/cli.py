"""The command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from toolcert.cli.support.exit import echo, echo_json, run_guarded, warn
from toolcert.core.cases import Outcome
from toolcert.core.errors import ExitCode
from toolcert.core.events import CaseFinished, Event, Handler
from toolcert.core.values import JsonObject
from toolcert.reports.console.progress import progress
from vendor_verifier import config
from vendor_verifier.models import GenericModel
from vendor_verifier.validator import Evaluation, Validator

SECONDS = click.FloatRange(min=0, min_open=True)


def main() -> NoReturn:
    """`python -m vendor_verifier`."""
    sys.exit(run_guarded(lambda: cli(prog_name="python -m vendor_verifier", standalone_mode=False)))


def _object(_: click.Context, __: click.Parameter, text: str) -> JsonObject:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise click.BadParameter("not a JSON object")
    return found


@click.command()
@click.argument("file_path")
@click.option("--model", required=True, help="Model name.")
@click.option("--base-url", required=True, help="API endpoint URL.")
@click.option("--api-key", help=f"API key (default: ${config.API_KEY_VARIABLE}).")
@click.option("--model-type", help="Force a model adapter (default: found by the model's name).")
@click.option("--temperature", type=click.FloatRange(min=0), help="Temperature of all requests.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="max_tokens of all requests.")
@click.option("--extra-body", callback=_object, default="{}", help="JSON merged into each request.")
@click.option("--concurrency", type=click.IntRange(min=1), default=config.DEFAULT_CONCURRENCY, show_default=True)
@click.option("--output", default=config.DEFAULT_OUTPUT, show_default=True, help="File of the results.")
@click.option("--summary", default=config.DEFAULT_SUMMARY, show_default=True, help="File of the summary.")
@click.option("--timeout", type=SECONDS, default=config.DEFAULT_TIMEOUT, show_default=True)
@click.option("--retries", type=click.IntRange(min=0), default=config.DEFAULT_RETRIES, show_default=True)
@click.option("--incremental", is_flag=True, help="Only rerun failed requests.")
@click.option("--use-raw-completions", is_flag=True, help="Ask /v1/completions with the rendered chat template.")
@click.option("--tokenizer-model", help="Tokenizer that renders the template: a name or a folder.")
def cli(api_key: str | None, **given: Any) -> None:
    """Evaluate tool calls of a model with a JSONL file of requests."""
    evaluation = Evaluation(**given)
    validator = Validator(evaluation, api_key or os.environ.get(config.API_KEY_VARIABLE) or None)
    if evaluation.use_raw_completions and type(validator.adapter) is GenericModel:
        warn(f"there is no adapter for {evaluation.model}: only <tool_call> is read as a call; see --model-type.")
    with progress(f"vendor_verifier {evaluation.file_path}  {evaluation.model}") as display:
        summary = validator.run([display, _report_bad_lines(display.say)])
    for notice in validator.notices:
        warn(notice)
    echo_json(json.dumps(summary, indent=4, ensure_ascii=False))
    code = _exit_code(summary, validator)
    click.get_current_context().exit(code)


def _exit_code(summary: JsonObject, validator: Validator) -> ExitCode:
    if validator.interrupted:
        echo("Interrupted; --incremental goes on.", err=True)
        return ExitCode.INTERRUPTED
    if not summary["success_count"] + summary["failure_count"]:
        echo("There was no row to ask.", err=True)
        return ExitCode.NOTHING_MEASURED
    if not summary["success_count"] and validator.broken:
        # The server did answer, so this is a result.
        echo(f"No answer was complete: {validator.broken} of {summary['failure_count']} broke off.", err=True)
    elif not summary["success_count"]:
        echo(f"Every request failed ({summary['failure_count']}); see the results for the reasons.", err=True)
        return ExitCode.NOTHING_MEASURED
    return ExitCode.OK


def _report_bad_lines(say: Callable[[str], None]) -> Handler:
    """Report each line that cannot be asked at once; the run continues."""

    def tell(event: Event) -> None:
        if isinstance(event, CaseFinished) and event.record.outcome is Outcome.SKIPPED:
            record = event.record
            if record.row is not None and record.codes:
                say(f"line {record.row.index} is not asked: {record.reason}")

    return tell
