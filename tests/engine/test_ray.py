"""The Ray engine on real raylets: two on this machine, one of which is killed."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from support.patience import PATIENCE, free_port, hurry, until
from support.rows import row, write_rows
from support.verifying import records, run, timeless
from toolcert.simulate import Vendor
from toolcert.verification.summary.tally import summarise

pytestmark = pytest.mark.needs("ray")

KEY = "sk-ray-test-0123456789abcdefghij"


class Cluster(NamedTuple):
    """A head and a second node on this machine, with a token of their own."""

    address: str
    folder: Path
    environment: dict[str, str]
    second: subprocess.Popen[bytes]


def family(head: int) -> dict[int, str]:
    """The names of a process and of its descendants, by number."""
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition(" (")[2].rpartition(") ")
        except OSError:  # it has just ended
            continue
        parents[int(path.parent.name)] = int(rest.split()[1]), name
    found = {head}
    while more := {one for one, (parent, _) in parents.items() if parent in found} - found:
        found |= more
    return {one: parents[one][1] for one in found if one in parents}


def named(head: int, name: str) -> list[int]:
    return [one for one, known in family(head).items() if known.startswith(name)]


def ask(processes: list[int], url: str) -> bool:
    """Whether one of the processes has a connection to a vendor."""
    end = f":{urlsplit(url).port or 0:04X}"
    for process in processes:
        with suppress(OSError):  # it has just ended
            handles = {str(one.readlink()) for one in Path(f"/proc/{process}/fd").iterdir()}
            table = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()]
            if any(line[2].endswith(end) and f"socket:[{line[9]}]" in handles for line in table[1:]):
                return True
    return False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def started(environment: dict[str, str], log: Path, *words: str) -> subprocess.Popen[bytes]:
    ray = Path(sys.executable).with_name("ray")
    usual = ("start", "--block", "--num-cpus=1", "--object-store-memory=80000000", "--node-ip-address=127.0.0.1")
    return subprocess.Popen([ray, *usual, *words], env=environment, stdout=log.open("wb"), stderr=subprocess.STDOUT)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    port = free_port()
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
    environment = os.environ | own
    # Ray's sockets lie in the folder, and a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        nodes = [
            started(
                environment,
                folder / "head.out",
                "--head",
                f"--port={port}",
                "--include-dashboard=false",
                f"--temp-dir={folder}",
            )
        ]
        try:
            until(lambda: listens(port) and named(nodes[0].pid, "raylet"), "the head starts")
            nodes.append(started(environment, folder / "second.out", f"--address=127.0.0.1:{port}"))
            until(lambda: b"Ray runtime started" in (folder / "second.out").read_bytes(), "the second node starts")
            yield Cluster(f"127.0.0.1:{port}", folder, environment, nodes[1])
        finally:
            families = [one for node in nodes for one in family(node.pid)]
            for one in families:
                try:
                    os.kill(one, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            for node in nodes:
                node.wait()


def verify_command(dataset: str, url: str, output: Path, *words: str) -> list[str]:
    asked = ["--base-url", url, "-m", "faithful", "-c", "16", "-o", str(output), "--engine", "ray"]
    return [sys.executable, "-m", "toolcert", "verify", dataset, *asked, "--ray-workers", "2", *words]


def reached(process: subprocess.Popen[str], log: Path, count: int) -> Callable[[], bool]:
    """Whether a run has written so many records; it must not have ended before."""

    def check() -> bool:
        if lines(log) > count:
            return True
        assert process.poll() is None, process.communicate()[1]
        return False

    return check


def lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def test_no_key_reaches_what_ray_keeps(cluster: Cluster, tmp_path: Path) -> None:
    """Neither a key of the command line, which Ray would show, nor one of a variable that the workers do not have."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(50)])
    with Vendor(models=["faithful"], api_key=KEY) as vendor:
        for number, (words, variables) in enumerate(
            [(["--api-key", KEY], {}), (["--api-key-env", "RAY_TEST_KEY"], {"RAY_TEST_KEY": KEY})]
        ):
            output = tmp_path / f"run{number}"
            command = verify_command(dataset, vendor.url, output, "--ray-address", cluster.address, "-q", *words)
            done = subprocess.run(
                command,
                env=cluster.environment | variables,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert len(records(output)) == 50
    assert KEY not in jobs(cluster)
    assert "toolcert" in jobs(cluster)
    written = [path for path in cluster.folder.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert [path for path in object_stores(cluster) if KEY.encode() in path.read_bytes()] == []


def test_a_wrong_token_is_told_in_one_sentence(cluster: Cluster, tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row()])
    command = verify_command(dataset, "http://127.0.0.1:9", tmp_path / "run", "--ray-address", cluster.address)
    wrong = cluster.environment | {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
    done = subprocess.run(command, env=wrong, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 3, done.stderr
    assert f"there is no Ray cluster at {cluster.address} (" in done.stderr
    assert "wants a token" in done.stderr
    assert wrong["RAY_AUTH_TOKEN"] not in done.stderr
    assert "Traceback" not in done.stderr


def jobs(cluster: Cluster) -> str:
    """What Ray tells of the programs that were connected."""
    code = f"import ray; ray.init({cluster.address!r}, logging_level=50); print(ray._private.state.jobs())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=cluster.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout


def object_stores(cluster: Cluster) -> list[Path]:
    """The shared memory of the raylets, which has no name any more."""
    found = []
    for raylet in named(cluster.second.pid, "raylet"):
        for handle in Path(f"/proc/{raylet}/fd").iterdir():
            target = str(handle.readlink())
            if "plasma" in target and not target.startswith("socket"):
                found.append(handle)
    assert found
    return found


def test_a_killed_node_loses_no_row_and_doubles_none(cluster: Cluster, tmp_path: Path) -> None:
    """As a machine whose power is cut: everything of the node ends in the middle of the run."""
    rows = 2_000
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(rows)])
    log = tmp_path / "run/records.jsonl"
    with Vendor(models=["faithful"], latency=0.5) as vendor:
        command = verify_command(dataset, vendor.url, tmp_path / "run", "--ray-address", cluster.address, "--json", "-")
        with subprocess.Popen(
            command, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            until(reached(process, log, rows // 10), "the run is under way")
            until(
                lambda: ask(named(cluster.second.pid, "ray::RayActor"), vendor.url), "a worker on the second node asks"
            )
            for one in family(cluster.second.pid):
                os.kill(one, signal.SIGKILL)
            assert lines(log) < rows, "the run outlives the node"
            hurry(vendor)
            out, err = process.communicate(timeout=PATIENCE)
        asked = len(vendor.requests)
        whole = run(dataset, vendor.url, tmp_path / "undisturbed")
    assert process.returncode == 0, err
    assert json.loads(out)["summary"]["rows"]["passed"] == rows, "stdout is JSON and nothing else"
    assert "1 worker died" in err
    indices = [one.row.index for one in records(tmp_path / "run") if one.row]
    assert indices == list(range(1, rows + 1))
    assert asked - rows <= 8 + 64
    assert timeless(summarise(tmp_path / "run")) == timeless(whole.summary)


def test_a_killed_worker_is_replaced_on_a_ray_of_its_own(tmp_path: Path) -> None:
    """Without an address Ray runs for this command alone, and nothing of it is left."""
    rows = 800
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(rows)])
    log = tmp_path / "run/records.jsonl"
    with Vendor(models=["faithful"], latency=0.05) as vendor:
        command = verify_command(dataset, vendor.url, tmp_path / "run", "--ray-workers", "1", "-q")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            until(reached(process, log, 100), "the run begins")
            worker = named(process.pid, "ray::RayActor")[0]
            assert {os.sched_getscheduler(one) for one in (process.pid, worker)} == {os.SCHED_BATCH}
            os.kill(worker, signal.SIGKILL)
            until(reached(process, log, 300), "another worker goes on")
            all_of_it = set(family(process.pid)) - {process.pid}
            _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Ray: 2 workers on 1 machine." in err
    assert [one.row.index for one in records(tmp_path / "run") if one.row] == list(range(1, rows + 1))
    until(lambda: not any(Path(f"/proc/{one}/cmdline").exists() for one in all_of_it), "Ray ends with the run")


def test_ctrl_c_ends_a_run_on_ray_and_keeps_what_was_measured(cluster: Cluster, tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3_000)])
    log = tmp_path / "run/records.jsonl"
    with Vendor(models=["faithful"], latency=0.02) as vendor:
        words = ("--ray-address", cluster.address, "--ray-workers", "1")
        command = verify_command(dataset, vendor.url, tmp_path / "run", *words)
        with subprocess.Popen(
            command, env=cluster.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            until(reached(process, log, 50), "the run begins")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Run again with this --output to continue" in err
    assert "Traceback" not in err
    assert len(records(tmp_path / "run")) == lines(log) < 3_000


IMPATIENT = (
    "import sys; from toolcert.engine import ray_cluster; ray_cluster.ANSWER_SECONDS = 4.0; "
    "from toolcert.__main__ import main; sys.argv[0] = 'toolcert'; main()"
)


def refused(tmp_path: Path, address: str) -> tuple[int, str, float]:
    dataset = write_rows(tmp_path / "d.jsonl", [row()])
    command = verify_command(dataset, "http://127.0.0.1:9", tmp_path / "run", "--ray-address", address)
    command[1:3] = ["-c", IMPATIENT]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()
    return done.returncode, done.stderr, time.monotonic() - began


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-such-host.invalid:6379"])
def test_an_address_without_a_cluster_is_told_in_one_sentence(tmp_path: Path, address: str) -> None:
    code, words, seconds = refused(tmp_path, address)
    assert code == 3
    assert words.startswith(f"Error: there is no Ray cluster at {address} (")
    assert seconds < 60


@pytest.mark.parametrize("address", ["banana", "host:0", "host:99999", "ray://host:10001"])
def test_what_is_no_address_is_a_slip_of_the_command_line(tmp_path: Path, address: str) -> None:
    code, words, _ = refused(tmp_path, address)
    assert code == 2
    assert "--ray-address" in words


def test_something_else_at_the_address_is_no_cluster(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code, words, seconds = refused(tmp_path, f"127.0.0.1:{server.getsockname()[1]}")
    assert code == 3
    assert "there is no Ray cluster" in words
    assert seconds < 60
