"""What `toolcert replay` does once its options are read."""

from __future__ import annotations

from pathlib import Path

from toolcert.api.endpoint import Endpoint
from toolcert.api.running import wait_for
from toolcert.api.verifying import replay_async
from toolcert.cli.connecting import connect
from toolcert.cli.consoles import stdout_console
from toolcert.core.errors import ExitCode, UsageError
from toolcert.core.outcomes import Outcome
from toolcert.core.targets import EndpointSpec
from toolcert.reports.console_record import print_replay
from toolcert.settings import Settings, Source
from toolcert.settings.keys import KeySources, find_key
from toolcert.verify.lookup import find_row
from toolcert.verify.rejudge import manifest_of

_ELSEWHERE = ("base_url", "endpoint", "preset", "dialect")


def run(folder: str, row: str, settings: Settings) -> int:
    """Send the row, print both answers; the exit code of the command."""
    path = Path(folder)
    found, manifest = find_row(path, row), manifest_of(path)
    endpoint = _endpoint(settings, manifest.endpoints)
    both = wait_for(replay_async(found.record, manifest, endpoint, _model(settings)))
    print_replay(both, stdout_console(), kept=found.replies)
    return ExitCode.NOTHING_MEASURED if both.after.outcome is Outcome.NOT_MEASURED else ExitCode.OK


def _model(settings: Settings) -> str | None:
    """The model named on the command line; variables and files name models to measure, and the run names its own."""
    if settings.resolved("model").source is not Source.FLAG:
        return None
    if len(settings.model) > 1:
        raise UsageError("replay asks one model.", remedy="Name one with --model, or none for that of the run.")
    return str(settings.model[0])


def _endpoint(settings: Settings, of_run: tuple[EndpointSpec, ...]) -> Endpoint:
    """The endpoint named now, or the one of the run with the key its variable holds."""
    if any(settings.given(key) for key in _ELSEWHERE):
        chosen = connect(settings)
        return Endpoint.of(chosen[0].spec, chosen[0].key)
    if not of_run:
        raise UsageError("the run does not say where it was asked.", remedy="Give --base-url or --endpoint.")
    spec = of_run[0]
    usual = () if spec.key_env is None else (spec.key_env,)
    sources = KeySources(flag=settings.api_key, variable=settings.api_key_env, file=settings.api_key_file, usual=usual)
    return Endpoint.of(spec, find_key(sources, settings.environment))
