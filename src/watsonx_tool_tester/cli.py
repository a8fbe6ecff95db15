"""The command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from toolcert.api.probe import ProbeRun
from toolcert.cli.support.exit import echo, run_guarded
from toolcert.core.errors import ConfigurationError, ExitCode, ToolcertError
from toolcert.reports.console.progress import progress
from toolcert.reports.destinations import STDOUT, check_destinations, check_place
from toolcert.reports.formats import Extras, Section
from toolcert.version import __version__
from watsonx_tool_tester.clients import make_client
from watsonx_tool_tester.config import LOG_LEVELS, SORTS, ClientType, Config, in_own_names
from watsonx_tool_tester.results import ResultHandler
from watsonx_tool_tester.tester import FILE, ModelTester, compile_pattern


def main() -> NoReturn:
    """The console script."""
    sys.exit(run_guarded(lambda: cli(prog_name="watsonx-tool-tester", standalone_mode=False)))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Print an error and its remedy on one line and exit with 1."""
    try:
        yield
    except ToolcertError as error:
        raise click.ClickException(in_own_names(" ".join(str(error).split()))) from error


def _options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


def _patterns(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    for value in values:
        try:
            compile_pattern(value)
        except ConfigurationError as error:
            raise click.BadParameter(error.message) from None
    return values or None


CLIENTS = click.Choice([client.value for client in ClientType])
connection = _options(
    click.option("--client", "client_type", type=CLIENTS, help="Client type (default: watsonx)."),
    click.option("--watsonx-url", help="URL for the watsonx.ai API; derived from the region unless given."),
    click.option("--watsonx-apikey", help="API key for watsonx.ai; better set WATSONX_APIKEY."),
    click.option("--watsonx-project-id", help="Project ID for watsonx.ai."),
    click.option("--watsonx-region", help="Region of watsonx.ai (default: us-south)."),
    click.option("--watsonx-api-version", help="API version of watsonx.ai (default: 2023-05-29)."),
    click.option("--litellm-url", help="URL of the LiteLLM proxy (default: http://localhost:8000)."),
    click.option("--litellm-token", help="Token for the LiteLLM proxy; better set LITELLM_TOKEN."),
)
choice = _options(
    click.option("--model", "-m", help="Only models whose id holds this text, in any letter case."),
    click.option("--exclude", "exclude_models", multiple=True, callback=_patterns, help="Id or regular expression."),
    click.option("--exclude-file", help="File with one id or regular expression a line."),
)
measuring = _options(
    click.option("--sort", type=click.Choice(SORTS), help="How to sort the results (default: name)."),
    click.option("--iterations", type=click.IntRange(min=1), help="Test iterations per model (default: 5)."),
    click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a request may take."),
    click.option("--concurrency", type=click.IntRange(min=1), help="Requests at the same time."),
    click.option("--debug/--no-debug", "-d", default=None, help="Debug logging, and logs in --log-dir."),
    click.option("--log-level", type=click.Choice(LOG_LEVELS, case_sensitive=False), help="What is logged."),
    click.option("--log-dir", help="Folder for logs and evidence (default: tool_test_logs)."),
)
reporting = _options(
    click.option("--output", "-o", help="File for the results."),
    click.option(
        "--html-output", is_flag=False, flag_value="true", metavar="[PATH]", help="An HTML report instead of JSON."
    ),
    click.option("--save-history/--no-save-history", default=None, help="Add the results to the history files."),
)
history_place = _options(
    click.option("--history-dir", help="Folder of the history files (default: reports/history)."),
    click.option("--history-days", type=click.IntRange(min=1), help="Days that are kept (default: 90)."),
)


@click.group(context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(__version__, prog_name="watsonx-tool-tester")
def cli() -> None:
    """Test whether models on watsonx.ai, or behind a LiteLLM proxy, call a tool and use its result."""


@cli.command("list-models")
@connection
def list_models(**given: Any) -> None:
    """List the available models."""
    with one_line_errors():
        for model in ModelTester(Config(**given)).get_available_models():
            echo(model)


@cli.command("test")
@connection
@choice
@measuring
@reporting
@history_place
@click.pass_context
def run_tests(context: click.Context, /, **given: Any) -> None:
    """Test models for tool calling."""
    if given["html_output"] == "true":
        given["html_output"] = True
    with one_line_errors():
        config = Config(**given)
        if config.html_output is True and config.output is None:
            raise ConfigurationError("--html-output needs a file.", remedy="Give --html-output FILE or --output FILE.")
        tester = _test(config)
        if tester.last is not None and tester.last.interrupted:
            going_on = (
                "The same command goes on" if config.keeps_logs else "With --log-dir the same command would go on"
            )
            history = " and not entered into the history" if config.save_history else ""
            echo(f"Interrupted{history}. {going_on} within a day.", err=True)
            context.exit(ExitCode.INTERRUPTED)


def _test(config: Config) -> ModelTester:
    make_client(config).endpoint()  # fails early if a setting is missing
    _check_places(config)
    with progress(f"watsonx-tool-tester {config.client_type}") as display:
        tester = ModelTester(config, [display])
        results = tester.test_all_models()
    handler = ResultHandler(config.iterations)
    handler.show(results)
    _save(tester, handler, results)
    assert tester.last is not None
    silent = [result for result in results if result["tool_call_support"] is None]
    if silent and (len(silent) == len(results) or tester.last.summary.nothing_measured):
        raise click.ClickException(f"nothing could be measured: {silent[0]['details']}")
    return tester


def _check_places(config: Config) -> None:
    """Refuse, before anything is asked, a place that cannot be written or a history that cannot be read."""
    named = {"--output": config.json_path, "--html-output": config.html_path}
    given = {name: path for name, path in named.items() if path}
    check_destinations(given)
    for path in given.values():
        check_place(path)
    if config.save_history:
        from watsonx_tool_tester.history import check_history

        check_history(config)


def _save(tester: ModelTester, handler: ResultHandler, results: list[dict[str, Any]]) -> None:
    """Write what was asked for and say which files; a history that cannot be written costs no report."""
    config, run = tester.config, tester.last
    assert run is not None
    extras = Extras(run=run.folder, temporary=not config.keeps_logs)
    failure: ToolcertError | None = None
    if config.json_path:
        handler.save_json(results, config.json_path)
        _say_written(config.json_path)
    if config.save_history and not run.interrupted:
        try:
            extras = msgspec.structs.replace(extras, history=_extended_history(run, results, config))
        except ToolcertError as error:
            failure = error
    if config.html_path:
        handler.save_html(run, results, config.html_path, sort=config.sort, extras=extras)
        _say_written(config.html_path)
    if config.keeps_logs:
        _say_written(f"{run.folder} (evidence) and {Path(config.log_dir) / FILE}")
    if failure is not None:
        raise failure


def _extended_history(run: ProbeRun, results: list[dict[str, Any]], config: Config) -> Section | None:
    """Save the history, and return its section of the page if there is one."""
    from watsonx_tool_tester import history

    for sentence in history.save_history(run, results, config):
        echo(sentence, err=True)
    _say_written(", ".join(str(Path(config.history_dir, name)) for name in history.FILES))
    if not config.html_path:
        return None
    from toolcert.reports.history.html import history_section

    endpoint, days = config.client_type.value, config.history_days
    return history_section(history.history_overview(Path(config.history_dir), endpoint=endpoint, days=days))


def _say_written(what: str) -> None:
    if what != STDOUT:
        echo(f"Wrote {what}.", err=True)


@cli.command("init-ci")
@click.option("--force", is_flag=True, help="Replace files that differ.")
def init_ci(*, force: bool) -> None:
    """Put the workflow of the daily run, and its guide, into this repository."""
    from watsonx_tool_tester.ci import put_workflow

    with one_line_errors():
        for path in put_workflow(Path(), force=force):
            _say_written(str(path))
    echo(
        "Next: set the secrets WATSONX_APIKEY and WATSONX_PROJECT_ID and the variable TOOLCERT_SOURCE; "
        ".github/ACTIONS_SETUP.md says where."
    )


@cli.command("publish")
@click.argument("report", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--readme", type=click.Path(path_type=Path), help="README whose marked block is updated.")
@click.option("--pages-url", default="", help="Address under which the repository's pages are served.")
@history_place
def publish_report(report: Path, readme: Path | None, pages_url: str, **given: Any) -> None:
    """Make REPORT the latest one, list all reports beside it, and update the block of the README."""
    from watsonx_tool_tester.ci import publish

    with one_line_errors():
        config = Config(**given)
        place, days = Path(config.history_dir), config.history_days
        for path in publish(report, history=place, readme=readme, pages_url=pages_url, days=days):
            _say_written(str(path))


@cli.command("cleanup")
@click.option("--report-dir", type=click.Path(path_type=Path), default="reports", show_default=True)
@history_place
def clean_up_files(report_dir: Path, **given: Any) -> None:
    """Delete the pages and the history rows that are older than --history-days."""
    from watsonx_tool_tester.ci import delete_old

    with one_line_errors():
        config = Config(**given)
        for sentence in delete_old(report_dir, Path(config.history_dir), config.history_days):
            echo(sentence, err=True)
