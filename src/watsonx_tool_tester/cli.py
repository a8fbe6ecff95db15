"""The command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from toolcert.cli.support.exit import run_guarded
from toolcert.core.errors import ConfigurationError, ExitCode, ToolcertError
from toolcert.reports.console.progress import progress
from toolcert.reports.formats import Extras
from toolcert.version import __version__
from watsonx_tool_tester.clients import make_client
from watsonx_tool_tester.config import LOG_LEVELS, SORTS, ClientType, Config, in_own_names
from watsonx_tool_tester.results import ResultHandler
from watsonx_tool_tester.selection import compile_pattern
from watsonx_tool_tester.tester import ModelTester


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
            click.echo(model)


@cli.command("test")
@connection
@choice
@measuring
@reporting
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
            context.exit(ExitCode.INTERRUPTED)


def _test(config: Config) -> ModelTester:
    make_client(config).endpoint()  # fails early if a setting is missing
    with progress(f"watsonx-tool-tester {config.client_type}") as display:
        tester = ModelTester(config, [display])
        results = tester.test_all_models()
    handler = ResultHandler(config.iterations)
    handler.show(results)
    _save(tester, handler, results)
    assert tester.last is not None
    silent = [result for result in results if result["tool_call_support"] is None]
    if silent and tester.last.summary.nothing_measured:
        raise click.ClickException(f"nothing could be measured: {silent[0]['details']}")
    return tester


def _save(tester: ModelTester, handler: ResultHandler, results: list[dict[str, Any]]) -> None:
    config, run = tester.config, tester.last
    assert run is not None
    if config.json_path:
        handler.save_json(results, config.json_path)
    extras = Extras(run=run.folder)
    if config.save_history and not run.interrupted:
        from watsonx_tool_tester import history

        history.save_history(run, config)
        if config.html_path:
            extras = Extras(run=run.folder, history=history.section(config))
    if config.html_path:
        handler.save_html(run, config.html_path, sort=config.sort, extras=extras)
