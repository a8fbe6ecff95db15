"""Select the listed models, test them with toolcert's `hello` suite, and log in this tool's format."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolcert.api.endpoint import Endpoint, open_sessions, unfinished_run, wait_for
from toolcert.api.probe import ProbeJob, ProbeOptions, ProbeRun
from toolcert.core.cases import Outcome
from toolcert.core.errors import ConfigurationError, InputError
from toolcert.core.events import AttemptMade, CaseFinished, Event, Handler
from toolcert.core.targets import ModelInfo
from toolcert.runs.files import output_errors
from toolcert.runs.reader import RunReader
from watsonx_tool_tester.clients import done_here, make_client
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD, Config, in_own_names
from watsonx_tool_tester.results import results_of, sorted_results

LOGGER = logging.getLogger("watsonx_tool_tester")


def select(listed: Sequence[ModelInfo], config: Config, filter_model: str | None = None) -> list[ModelInfo]:
    """The models whose id contains the wanted text and that are not excluded."""
    wanted = (filter_model or config.model or "").lower()
    ids = {info.id for info in listed}
    unwanted = excluded([*config.exclude_models, *patterns_in(config.exclude_file)], ids)
    chosen = [info for info in listed if wanted in info.id.lower() and info.id not in unwanted]
    if not chosen:
        raise ConfigurationError(
            f"none of the {len(ids)} listed models is left to test.", remedy="Check --model and --exclude."
        )
    return chosen


def excluded(patterns: Sequence[str], ids: Collection[str]) -> set[str]:
    """The ids that a pattern excludes: an exact id, otherwise a regular expression."""
    found: set[str] = set()
    for pattern in patterns:
        compiled = compile_pattern(pattern)
        matching = {pattern} if pattern in ids else {one for one in ids if compiled.search(one)}
        if not matching:
            LOGGER.warning("the exclusion %r matches none of the %d listed models", pattern, len(ids))
        found |= matching
    return found


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile the pattern, or raise an error that names it."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(
            f"the exclusion {pattern!r} is not a regular expression: {error}.", remedy="Correct or escape it."
        ) from None


def patterns_in(file: str | None) -> list[str]:
    """Read one pattern per line; a # at the start of a line or after a space begins a comment."""
    if file is None:
        return []
    try:
        lines = Path(file).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the exclude file {file} cannot be read: {error}.") from None
    stripped = (re.split(r"(?:^|\s)#", line)[0].strip() for line in lines)
    return [line for line in stripped if line]


FILE = "tool_test.log"


@contextmanager
def event_log(config: Config) -> Iterator[Handler]:
    """Logs events to stderr and, if the log folder is used, to a file in it."""
    outputs = _outputs(config)
    LOGGER.setLevel(min(output.level for output in outputs))
    for output in outputs:
        output.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        LOGGER.addHandler(output)
    try:
        yield _log
    finally:
        for output in outputs:
            LOGGER.removeHandler(output)
            output.close()


def _outputs(config: Config) -> list[logging.Handler]:
    outputs: list[logging.Handler] = [logging.StreamHandler()]
    outputs[0].setLevel(logging.DEBUG if config.debug else config.log_level)
    if config.keeps_logs:
        folder = Path(config.log_dir)
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            outputs.append(logging.FileHandler(folder / FILE, encoding="utf-8"))
        outputs[1].setLevel(logging.DEBUG if config.debug else config.file_log_level)
    return outputs


def _log(event: Event) -> None:
    if isinstance(event, AttemptMade):
        attempt = event.attempt
        said = attempt.fault.message if attempt.fault else f"status {attempt.status}"
        LOGGER.debug("%s attempt %d: %s", event.case.key, attempt.number, said)
    elif isinstance(event, CaseFinished):
        record = event.record
        level = logging.WARNING if record.outcome is Outcome.NOT_MEASURED else logging.INFO
        LOGGER.log(level, "%s %s %s", record.case, record.outcome.value, in_own_names(record.reason))


class ModelTester:
    """Tests one model or all; every method is synchronous."""

    def __init__(self, config: Config, handlers: Sequence[Handler] = ()) -> None:
        self.config = config
        self.client = make_client(config)
        self.last: ProbeRun | None = None
        """The last run as toolcert's summary, for reports."""
        self._handlers = handlers
        self._scratch: TemporaryDirectory[str] | None = None

    def get_available_models(self) -> list[str]:
        """The ids that the server lists."""
        return self.client.get_available_models()

    def validate_credentials(self) -> bool:
        """Return True if the server accepts the credentials; otherwise raise an error with a remedy."""
        return self.client.validate_credentials()

    def test_model(self, model: str) -> dict[str, Any]:
        """The result of one model, named by its id."""
        return self._test([ModelInfo(id=model)])[0]

    def test_all_models(self, filter_model: str | None = None) -> list[dict[str, Any]]:
        """The results of all models that are listed and not excluded, in the order asked for."""
        return self._test(None, filter_model)

    def _test(self, models: list[ModelInfo] | None, filter_model: str | None = None) -> list[dict[str, Any]]:
        self.client = make_client(self.config)
        endpoint = self.client.endpoint()
        with event_log(self.config) as log:
            handlers = [log, *self._handlers]
            self.last = done_here(lambda: wait_for(self._run(endpoint, models, filter_model, handlers)))
        records = list(RunReader(Path(self.last.folder)).heads())
        return sorted_results(results_of(self.last.summary, records), self.config.sort)

    async def _run(
        self, endpoint: Endpoint, models: list[ModelInfo] | None, filter_model: str | None, handlers: Sequence[Handler]
    ) -> ProbeRun:
        name = endpoint.spec.name
        async with open_sessions([endpoint]) as sessions:
            chosen = models or select(await sessions[name].models(), self.config, filter_model)
            some = self.config.tests_some_models or models is not None or filter_model is not None
            options = ProbeOptions(
                model=tuple(info.id for info in chosen) if some else (),
                suite="hello",
                iterations=self.config.iterations,
                threshold=RELIABILITY_THRESHOLD,
                temperature=self.config.temperature,
                max_tokens=self.config.max_tokens,
                output=self._folder(endpoint, chosen),
            )
            job = ProbeJob([endpoint], sessions, {name: chosen}, options, second_looks=False)
            return await job.run(handlers)

    def _folder(self, endpoint: Endpoint, chosen: Sequence[ModelInfo]) -> str:
        """The run folder. It is kept if logs are kept, and then an interrupted run is resumed there."""
        if self.config.keeps_logs:
            models = [info.id for info in chosen]
            place, iterations = Path(self.config.log_dir), self.config.iterations
            return str(unfinished_run(place, endpoint, iterations=iterations, models=models))
        self._scratch = TemporaryDirectory(prefix="watsonx-tool-tester-")
        return str(Path(self._scratch.name) / "run")
