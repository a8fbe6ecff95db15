"""`toolcert replay`: one row of a run, sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, can_ask, chosen_endpoints, described, use
from toolcert.core.cases import Outcome
from toolcert.core.errors import ExitCode, UsageError
from toolcert.core.targets import EndpointSpec
from toolcert.settings import Settings, Source
from toolcert.settings.credentials import KeySources, find_key
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint


@click.command(cls=SettingsCommand, short_help="Send one row of a run again and show both answers.")
@click.argument("run", metavar="RUN")
@click.argument("row", metavar="ROW")
@use(
    *names(CONNECTION),
    "model",
    "adapter",
    "concurrency",
    "rpm",
    "timeout",
    "connect-timeout",
    "read-timeout",
    "chunk-timeout",
    "retries",
)
def replay(run: str, row: str, settings: Settings) -> int:
    """Send one row of a run again and show both answers.

    It goes to the endpoint that you name with --base-url or --endpoint. Without one, the run's own endpoint is shown
    with the variables it takes keys from, and used if you agree: a run may come from a stranger. --model asks another
    model. A run made with an adapter of your own needs it again (--adapter).
    """
    return replay_row(run, row, settings)


_ELSEWHERE = ("base_url", "endpoint", "preset", "dialect")


def replay_row(folder: str, row: str, settings: Settings) -> int:
    """Send the row, print both answers; the exit code of the command."""
    from toolcert.api.endpoint import wait_for
    from toolcert.api.verify import replay_async
    from toolcert.reports.console.record import print_replay
    from toolcert.reports.console.style import Screen
    from toolcert.runs.location import locate_run
    from toolcert.verification.rejudgement import manifest_of
    from toolcert.verification.single_row import find_row

    path = locate_run(folder)
    found, manifest = find_row(path, row), manifest_of(path)
    endpoint = _endpoint(settings, manifest.endpoints)
    both = wait_for(replay_async(found.record, manifest, endpoint, _model(settings), settings.adapter))
    print_replay(both, Screen(), kept=found.replies)
    return ExitCode.NOTHING_MEASURED if both.after.outcome is Outcome.NOT_MEASURED else ExitCode.OK


def _model(settings: Settings) -> str | None:
    """The model of --model. Variables and files are not read: they name models to measure, and the run has its own."""
    if settings.resolved("model").source is not Source.FLAG:
        return None
    if len(settings.model) > 1:
        raise UsageError("replay asks one model.", remedy="Name one with --model, or none for that of the run.")
    return str(settings.model[0])


def _endpoint(settings: Settings, of_run: tuple[EndpointSpec, ...]) -> Endpoint:
    """The endpoint that the user names; or, if the user agrees, that of the run with the key in its variable."""
    from toolcert.api.endpoint import Endpoint

    if any(settings.given(key) for key in _ELSEWHERE):
        return chosen_endpoints(settings)[0]
    if not of_run:
        raise UsageError("the run does not name its endpoint.", remedy="Give --base-url or --endpoint.")
    spec = of_run[0]
    _confirm(spec)
    usual = () if spec.key_env is None else (spec.key_env,)
    sources = KeySources(flag=settings.api_key, variable=settings.api_key_env, file=settings.api_key_file, usual=usual)
    return Endpoint.of(spec, find_key(sources, settings.environment))


def _confirm(spec: EndpointSpec) -> None:
    """Ask before the user's keys go where a run says: anybody may have written it."""
    question = f"The run names its endpoint itself: {described(spec)}"
    if not can_ask():
        raise UsageError(
            f"{question}. Without a terminal toolcert cannot ask whether that is right.",
            remedy="Name the endpoint: --base-url URL, or --endpoint NAME.",
        )
    if not click.confirm(f"{question}. Send the row there?", err=True):
        raise click.Abort
