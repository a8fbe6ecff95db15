"""PyPI `llmock` as a server of its own: a vendor that misbehaves on command and grades its clients."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.patience import PATIENCE, free_port, until


class LlMock:
    """The running server."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.url = f"{root}/v1"

    def script(self, *behaviors: dict[str, Any]) -> None:
        """Forget everything, then misbehave like this, in order."""
        self._call("/_llmock/reset", {})
        if behaviors:
            self._call("/_llmock/scenario", {"behaviors": list(behaviors)})

    def verdict(self) -> dict[str, Any]:
        """What it thinks of the client since the last script."""
        answer: dict[str, Any] = self._call("/_llmock/verdict")
        return answer

    def _call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


@contextmanager
def llmock_server() -> Iterator[LlMock]:
    port = free_port()
    program = Path(sys.executable).with_name("llmock")
    command = [str(program), "serve", "--port", str(port), "--log-level", "error"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        mock = LlMock(f"http://127.0.0.1:{port}")
        until(lambda: _answers(mock), "llmock starts")
        yield mock
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


def _answers(mock: LlMock) -> bool:
    try:
        mock.verdict()
    except OSError:
        return False
    return True
