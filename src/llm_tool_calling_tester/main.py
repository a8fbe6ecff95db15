"""The command line."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import click

from llm_tool_calling_tester import config
from llm_tool_calling_tester.models import ModelTestResults, TestStatus
from llm_tool_calling_tester.runner import NOT_TESTED, ModelTestRunner, compile_filter
from toolcert.api.endpoint import wait_for
from toolcert.cli.support.exit import echo, run_guarded
from toolcert.core.errors import ExitCode, NothingMeasuredError, UsageError
from toolcert.core.text.number_text import plural
from toolcert.reports.console.progress import progress

__all__ = ["ModelTestRunner", "cli", "main"]


def main() -> NoReturn:
    """`python -m llm_tool_calling_tester`."""
    sys.exit(run_guarded(lambda: cli(prog_name="python -m llm_tool_calling_tester", standalone_mode=False)))


@click.command()
@click.option("--api-url", envvar=config.API_URL_VARIABLE, default=config.DEFAULT_API_URL, show_default=True)
@click.option("--api-key", envvar=config.API_KEY_VARIABLE, help="Key of the API, if it wants one.")
@click.option(
    "--timeout",
    envvar=config.TIMEOUT_VARIABLE,
    type=click.FloatRange(min=0, min_open=True),
    default=config.DEFAULT_TIMEOUT,
    show_default=True,
    help="Seconds per request.",
)
@click.option(
    "--max-workers",
    envvar=config.MAX_WORKERS_VARIABLE,
    type=click.IntRange(min=1),
    default=config.DEFAULT_MAX_WORKERS,
    show_default=True,
    help="Tests at the same time.",
)
@click.option("--filter", "pattern", metavar="REGEX", help="Only models whose id matches.")
@click.option("--quick", is_flag=True, help="Basic test only.")
@click.option("--include-gpt", is_flag=True, help="Test models with gpt in their id too.")
@click.option("--output-dir", default=config.OUTPUT_DIR, show_default=True, help="Folder of the reports.")
def cli(pattern: str | None, **given: Any) -> None:
    """Test the models of an OpenAI-compatible API for tool calling."""
    _name_unused_variables()
    compile_filter(pattern)
    runner = ModelTestRunner(**given)
    results = wait_for(_test_all(runner, pattern))
    runner.print_console_summary(results)
    echo(f"Report: {runner.save_json_report(results)}")
    if runner.interrupted:
        left = sum(test.error == NOT_TESTED for result in results for test in result.tests.values())
        echo(f"Interrupted; {plural(left, 'test')} left. The same command goes on within a day.", err=True)
        click.get_current_context().exit(ExitCode.INTERRUPTED)
    _refuse_nothing(runner, results)


async def _test_all(runner: ModelTestRunner, pattern: str | None) -> list[ModelTestResults]:
    async with runner.tester:
        models = runner.filter_models(await runner.fetch_models(), pattern)
        with progress(f"llm_tool_calling_tester {runner.api_url}") as display:
            return await runner.run_tests(models, [display])


def _refuse_nothing(runner: ModelTestRunner, results: list[ModelTestResults]) -> None:
    """Fail if no model was tested or nothing could be measured."""
    if not results:
        remedy = "Check --filter; --include-gpt takes models with gpt in their id."
        raise UsageError(f"none of the {len(runner.left_out)} listed models was tested.", remedy=remedy)
    tests = [test for result in results for test in result.tests.values()]
    rate_limited = [test for test in tests if test.status is TestStatus.FAILED and not test.details["measured"]]
    if all(test.status is TestStatus.ERROR or test in rate_limited for test in tests):
        raise NothingMeasuredError(f"nothing could be measured: {(tests[0].error or '').rstrip('.')}.")


def _name_unused_variables() -> None:
    unused = sorted(name for name in os.environ if name.startswith(config.DB_VARIABLES))
    if unused:
        echo(f"Not used: {', '.join(unused)} (there is no database).", err=True)


if __name__ == "__main__":
    main()
