"""`toolcert view`, and `--view` of a run, as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from reports.verify_samples import write_verify_run
from support.patience import PATIENCE, hurry, until
from toolcert.simulate import Vendor

TOOLCERT = [sys.executable, "-m", "toolcert"]


def start(*words: str, cwd: Path, stderr: int | None = None) -> subprocess.Popen[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cwd / "cache")}
    return subprocess.Popen(
        [*TOOLCERT, *words], cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True
    )


def opened(address: str) -> Any:
    """A client that was let in by the first address."""
    client = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    client.open(address, timeout=PATIENCE).read()
    return client


def refused(*words: str, cwd: Path) -> str:
    done = subprocess.run([*TOOLCERT, *words], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2, done
    return done.stderr


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_viewer_prints_its_address_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    write_verify_run(tmp_path / "toolcert-runs" / "one")
    process = start("view", "--no-browser", "--port", "0", cwd=tmp_path)
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    told = json.loads(opened(address).open(address.partition("?")[0] + "api/runs", timeout=PATIENCE).read())
    assert [run["run"] for run in told["runs"]] == ["c41e88d0"]
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, None])
def test_view_shows_a_run_while_it_is_made_and_ends_with_it(tmp_path: Path, how: signal.Signals | None) -> None:
    """Also where the run is killed: nothing is left behind."""
    with Vendor(["faithful"], latency=0.5) as vendor:
        words = ("probe", vendor.url, "-n", "40", "-c", "1", "--quiet", "--view", "--no-browser", "--output", "run")
        process = start(*words, cwd=tmp_path, stderr=subprocess.PIPE)
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1]
        base = address.partition("runs/")[0]
        client = opened(address)
        [run] = json.loads(client.open(f"{base}api/runs", timeout=PATIENCE).read())["runs"]
        assert run["state"] == "running"
        assert f"runs/{run['run']}" in address
        if how is not None:
            process.send_signal(how)
        hurry(vendor)
        process.communicate(timeout=PATIENCE)

    def gone() -> bool:
        try:
            client.open(f"{base}api/runs", timeout=PATIENCE).read()
        except OSError:
            return True
        return False

    until(gone, "the viewer ends")


@pytest.mark.heavy
def test_what_cannot_be_shown_is_refused_in_a_sentence(tmp_path: Path) -> None:
    assert "there is no folder nowhere" in refused("view", "nowhere", cwd=tmp_path)
    assert "password" in refused("view", "--host", "0.0.0.0", cwd=tmp_path)
    assert "--port" in refused("view", "--port", "70000", cwd=tmp_path)
