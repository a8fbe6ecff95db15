"""`--view`: the viewer beside a run, in a process of its own so that it costs the measurement nothing."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from typing import Self

from toolcert.cli.support.exit import echo, warn
from toolcert.core.events import Event, RunStarted
from toolcert.runs.provenance import RUNS
from toolcert.settings import Settings

_STARTS_WITHIN = 15.0


class RunView:
    """A handler of events that opens the viewer when the run begins; the viewer ends with the command.

    At a terminal the command waits for Ctrl-C, so that the finished run can be looked at; elsewhere it ends.
    """

    def __init__(self, settings: Settings) -> None:
        self._browser = settings.browser
        self._place = settings.output or str(RUNS)
        self._viewer: subprocess.Popen[str] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._open(event.manifest.run)

    def _open(self, run: str) -> None:
        words = [sys.executable, "-m", "toolcert.view", self._place, run, *([] if self._browser else ["quiet"])]
        # A session of its own: Ctrl-C stops the run first. Its standard input tells it when this process is gone.
        self._viewer = subprocess.Popen(  # noqa: S603 - our own module
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._viewer.stdout is not None
        if address := self._viewer.stdout.readline().strip():
            echo(f"The run is shown at {address}", err=True)
        else:
            warn("the viewer did not start; the run goes on without it.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._viewer is None:
            return
        if self._viewer.poll() is None and sys.stdin.isatty() and sys.stderr.isatty():
            echo("The viewer is still open. Ctrl-C closes it.", err=True)
            with contextlib.suppress(KeyboardInterrupt):
                while self._viewer.poll() is None:
                    time.sleep(0.5)
        for stream in (self._viewer.stdin, self._viewer.stdout):
            if stream is not None:
                stream.close()
        try:
            self._viewer.wait(_STARTS_WITHIN)
        except subprocess.TimeoutExpired:
            self._viewer.kill()
