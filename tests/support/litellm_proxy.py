"""A real LiteLLM proxy from its own environment, for as long as a context lasts."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.patience import PATIENCE, free_port

MASTER_KEY = "sk-proxy-master-0123456789"
_QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_TELEMETRY": "False",
    "NO_PROXY": "*",
}


@contextmanager
def litellm_proxy(
    python: Path, folder: Path, models: list[dict[str, Any]], environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run the proxy with these entries of its model list; gives its address."""
    settings = {"num_retries": 0, "request_timeout": 3, "drop_params": False}
    config = {
        "model_list": models,
        "litellm_settings": settings,
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "general_settings": {"master_key": MASTER_KEY},
    }
    file = folder / "litellm.yaml"
    file.write_text(json.dumps(config))  # JSON is YAML
    port = free_port()
    command = [python.with_name("litellm"), "--config", file, "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "litellm.log").open("w") as log:
        server = subprocess.Popen(
            [*map(str, command), "--telemetry", "False"],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **_QUIET, **(environment or {})},
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(url, server, folder / "litellm.log")
            yield url
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE)


def _wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the proxy ended with {server.returncode}:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{url}/health/liveliness", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"the proxy was not ready within {PATIENCE:.0f} s:\n{log.read_text()[-2000:]}")
