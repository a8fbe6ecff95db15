"""A real S3 server on loopback, and a door before it that can be closed."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.patience import free_port, until

KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTID0123456789", "AWS_SECRET_ACCESS_KEY": "a-secret-that-nobody-may-see"}
BUCKET = "toolcert-tests"


@contextmanager
def s3_server(log: Path) -> Iterator[int]:
    """The port of a server with one bucket."""
    port = free_port()
    with log.open("wb") as output:
        words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
    try:
        _make_bucket(port)
        yield port
    finally:
        process.kill()
        process.wait()


def _make_bucket(port: int) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")

    def made() -> bool:
        with suppress(OSError):
            urllib.request.urlopen(request, timeout=5).close()
            return True
        return False

    until(made, "the S3 server starts")


class Door:
    """Passes connections on to a server; closed, it refuses new ones and cuts those it has."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._listener: socket.socket | None = None
        self._ends: list[socket.socket] = []
        self.port = free_port()
        self.hides_conditions = False
        """Whether the server hears nothing of the conditions of a write, like one that does not know them."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def close(self) -> None:
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for connections
            self._listener.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._ends.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
            except OSError:
                return
            self._ends += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=[source, target], daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data.replace(b"if-", b"xx-") if self.hides_conditions else data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
