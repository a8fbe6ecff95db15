"""What the tool logs while it runs; the log folder is made only when it is used."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcert.core.events import AttemptMade, CaseFinished, Event, Handler
from toolcert.core.outcomes import Outcome
from toolcert.runs.files import output_errors
from watsonx_tool_tester.config import Config, in_own_names

LOGGER = logging.getLogger("watsonx_tool_tester")
FILE = "tool_test.log"


@contextmanager
def event_log(config: Config) -> Iterator[Handler]:
    """A handler of events that logs them to stderr and, where the log folder is used, to a file in it."""
    outputs = _outputs(config)
    LOGGER.setLevel(logging.DEBUG if config.debug else config.log_level)
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
    if config.keeps_logs:
        folder = Path(config.log_dir)
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            outputs.append(logging.FileHandler(folder / FILE, encoding="utf-8"))
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
