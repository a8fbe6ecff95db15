"""A Ray cluster: connecting to one, or starting one on this machine, and keeping the workers of a pool alive on it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolcert.core.errors import ClusterError, ConfigurationError, MissingExtraError, install_line
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.engine.batch_policy import batch_policy
from toolcert.engine.ray_engine import WorkerPool
from toolcert.engine.ray_worker import Assignment, RayActor
from toolcert.runs.provenance import without_secrets
from toolcert.version import __version__

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 45.0
"""Ray itself waits for minutes where something else listens."""
START_SECONDS = 90.0
MOST_FAILURES = 3
"""Workers in a row that may die before they have joined."""
LOCAL = "local"
_LEAST_PLACES = 4
_OBJECT_STORE = 80_000_000
"""Bytes, about the least that Ray accepts: nothing of a run goes through it."""
_RAY_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "600",
}
"""No reports to Ray's makers, no warning about graphics cards, and time for us to report that the head is gone:
otherwise Ray ends the process a minute later."""
_OWN_RAY = {
    "RAY_worker_niceness": "0",
    "RAY_LOG_MONITOR_MANY_FILES_THRESHOLD": "0",
    "LOG_NAME_UPDATE_INTERVAL_S": "3600",
}
"""Where Ray runs for this command alone, its workers are the command: they need not give way to others. Nobody reads
their logs through Ray, which would look for new files ten times a second."""
_FEWER_TRIES = {"RAY_NUM_REDIS_GET_RETRIES": "5"}
"""How many times Ray tries to reach a cluster, once a second, before it says what is wrong."""
_EXCEPTION = lazy_pattern(r"(?:\w+\.)*(\w+(?:Error|Exception)): ")


@contextlib.asynccontextmanager
async def open_pool(pool: WorkerPool, address: str | None = None, workers: int | None = None) -> AsyncIterator[None]:
    """Start the workers of a pool on a Ray cluster, on one of this machine where no address is given."""
    address = address or os.environ.get("RAY_ADDRESS") or LOCAL
    ended = threading.Event()
    ray, ours = await _connected(address, workers, ended)
    try:
        host = "127.0.0.1" if ours and address == LOCAL else ray.util.get_node_ip_address()
        pool.planned = workers or _fitting(int(ray.cluster_resources().get("CPU", 1)), pool.spec.concurrency)
        await pool.open(host)
        actors = _Actors(ray, pool)
        try:
            for _ in range(pool.planned):
                actors.start()
            await pool.first_worker()
            with batch_policy():
                yield
        finally:
            await pool.close()
            actors.close()
    finally:
        if ours:
            ray.shutdown()
        ended.set()


def _fitting(cpus: int, concurrency: int) -> int:
    """One worker for each CPU, and no more than have some requests to keep in flight."""
    return max(1, min(cpus, concurrency // _LEAST_PLACES))


class _Actors:
    """The actors of a pool; each that dies is replaced, when and where the cluster has a free CPU."""

    def __init__(self, ray: Any, pool: WorkerPool) -> None:
        self._ray = ray
        self._pool = pool
        self._kind = ray.remote(num_cpus=1, max_restarts=0)(RayActor)
        self._handles: list[Any] = []
        self._failures = 0
        pool.lost = self._replace

    def start(self) -> None:
        given = self._pool.assignment()
        handle = self._kind.remote(str(Path.cwd()))
        self._handles.append(handle)
        self._pool.in_background(self._follow(handle, given))

    def close(self) -> None:
        for handle in self._handles:
            with contextlib.suppress(Exception):  # it is gone, or Ray is
                self._ray.kill(handle)

    def _replace(self) -> None:
        self._failures = 0
        self.start()

    async def _follow(self, handle: Any, given: Assignment) -> None:
        """Wait for the end of a worker; one that never joined is a failure."""
        try:
            await handle.run.remote(given, self._pool.work)
            why = "it ended"
        except Exception as error:  # noqa: BLE001 - Ray raises many kinds, with the worker's own inside
            why = _last_line(error)
        self._handles.remove(handle)
        if not self._pool.never_came(given.token):
            return
        self._failures += 1
        if self._failures < MOST_FAILURES:
            self.start()
        else:
            remedy = f"toolcert {__version__} and what the run needs must be installed on every machine of the cluster."
            self._pool.fail_alone(ClusterError(f"Ray's workers cannot start: {why}.", remedy=remedy))


def _last_line(error: Exception) -> str:
    """The exception at the end of Ray's many lines, without its module."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = next((one for one in reversed(lines) if _EXCEPTION.match(one)), lines[-1] if lines else type(error).__name__)
    return _EXCEPTION.sub(r"\1: ", line).rstrip(".")


async def _connected(address: str, workers: int | None, ended: threading.Event) -> tuple[Any, bool]:
    """Connect in a thread, which is left behind where it takes too long or the user stops waiting."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[tuple[Any, bool]] = loop.create_future()

    def settle(value: tuple[Any, bool] | None, error: BaseException | None) -> None:
        if result.done():
            return
        if value is None:
            result.set_exception(error or RuntimeError("no connection"))
        else:
            result.set_result(value)

    def connect() -> None:
        value, error = None, None
        try:
            value = _connect(address, workers)
        except BaseException as raised:  # noqa: BLE001 - raised where it is awaited
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, error)
        ended.wait()  # what Ray starts here ends with the thread that started it, not with the process

    threading.Thread(target=connect, daemon=True, name="connect to Ray").start()
    seconds = START_SECONDS if address == LOCAL else ANSWER_SECONDS
    try:
        async with asyncio.timeout(seconds):
            return await result
    except TimeoutError:
        raise _no_cluster(address, f"no answer within {seconds:.0f} s") from None


def _connect(address: str, workers: int | None) -> tuple[Any, bool]:
    """The ray module, connected, and whether it is ours to disconnect."""
    if address != LOCAL:
        _check_address(address)
    for name, value in (_RAY_SETTINGS | ({} if address == LOCAL else _FEWER_TRIES)).items():
        os.environ.setdefault(name, value)
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise MissingExtraError("--engine ray needs Ray.", remedy=install_line("ray")) from None
    if ray.is_initialized():
        return ray, False
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    _silence()
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address == LOCAL:
        options |= {"include_dashboard": False, "num_cpus": workers, "object_store_memory": _OBJECT_STORE}
    with _unseen_command_line(), _variables(_OWN_RAY if address == LOCAL else {}):
        try:
            ray.init(address=address, **options)
        except Exception as error:  # noqa: BLE001 - Ray raises many kinds; all mean that there is no cluster
            raise _no_cluster(address, _last_line(error).partition(". ")[0][:200]) from None
    return ray, True


@contextlib.contextmanager
def _variables(settings: Mapping[str, str]) -> Iterator[None]:
    """Meanwhile, variables have these values, unless the user has set them. What is started meanwhile keeps them."""
    new = {name: value for name, value in settings.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)


def _silence() -> None:
    """Keep Ray from writing on stdout what happened on other machines: the result may be JSON there."""
    worker: Any = importlib.import_module("ray._private.worker")
    worker.print_to_stdstream = lambda *_arguments, **_options: None


@contextlib.contextmanager
def _unseen_command_line() -> Iterator[None]:
    """Ray shows the command line of each program that connects; it may contain a key."""
    utilities: Any = importlib.import_module("ray._private.utils")
    shown = " ".join(without_secrets(sys.argv))
    before = getattr(utilities, "get_entrypoint_name", None)
    if before is None and shown != " ".join(sys.argv):
        raise ConfigurationError(
            "Ray would show this command line, and a secret is in it.", remedy="Give the key by a variable or a file."
        )
    utilities.get_entrypoint_name = lambda: shown
    try:
        yield
    finally:
        if before is not None:
            utilities.get_entrypoint_name = before


def _check_address(address: str) -> None:
    """Find out in seconds what Ray takes a minute for."""
    if address.startswith("ray://"):
        raise ConfigurationError(
            "--ray-address takes no ray:// address.",
            remedy="Run toolcert on a machine of the cluster, or with `ray job submit`, and give host:port or auto.",
        )
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigurationError(
            f"--ray-address {address} is not of the form host:port.", remedy="`auto` finds a cluster on this machine."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        raise _no_cluster(address, error.strerror or str(error) or type(error).__name__) from None


def _no_cluster(address: str, why: str) -> ClusterError:
    if address == LOCAL:
        return ClusterError(f"Ray does not start on this machine ({why}).")
    return ClusterError(
        f"there is no Ray cluster at {address} ({why}).",
        remedy="Give the host:port that `ray start --head` prints, on a machine of the cluster; "
        "where the cluster wants a token, Ray must find it here, too.",
    )
