"""Opening connections: names resolved, addresses raced, TLS agreed, each failure told apart."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import aiohappyeyeballs

from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Fault
from toolcert.wire.address import Origin
from toolcert.wire.connection import Connection
from toolcert.wire.faults import timed_out, tls_failed, unconnected, unresolved

_HEAD_START = 0.25
"""Seconds one address family leads before the other is tried too (RFC 8305)."""


def tls_context(ca_bundle: str | None) -> ssl.SSLContext:
    """Verified TLS: the system's authorities, and those of `ca_bundle`."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if ca_bundle is not None:
        try:
            context.load_verify_locations(cafile=ca_bundle)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(
                f"The CA bundle {ca_bundle!r} cannot be read: {error}.",
                remedy="Give a file of certificates in PEM form.",
            ) from None
    return context


async def open_connection(origin: Origin, tls: ssl.SSLContext | None, seconds: float) -> Connection | Fault:
    """A new connection to `origin` within `seconds`, encrypted where `tls` is given; or why there is none."""
    opening = _Opening(origin, tls)
    try:
        async with asyncio.timeout(seconds):
            return await opening.open()
    except TimeoutError:
        return timed_out(f"{opening.awaiting} {origin.authority}", seconds)


class _Opening:
    """One connection on its way, and what it waits for at the moment."""

    def __init__(self, origin: Origin, tls: ssl.SSLContext | None) -> None:
        self.awaiting = "no address for"
        self._origin = origin
        self._tls = tls

    async def open(self) -> Connection | Fault:
        addresses = await self._resolve()
        if isinstance(addresses, Fault):
            return addresses
        self.awaiting = "no connection to"
        try:
            sock = await aiohappyeyeballs.start_connection(addresses, happy_eyeballs_delay=_HEAD_START)
        except OSError as error:
            return unconnected(self._origin.authority, error)
        self.awaiting = "no TLS agreement with"
        try:
            return await self._agree(sock)
        except OSError as error:
            describe = tls_failed if self._tls is not None else unconnected
            return describe(self._origin.authority, error)

    async def _resolve(self) -> list[Any] | Fault:
        host, port = self._origin.host, self._origin.port
        try:
            return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            return unresolved(host, error)

    async def _agree(self, sock: socket.socket) -> Connection:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _, connection = await asyncio.get_running_loop().create_connection(
                Connection,
                sock=sock,
                ssl=self._tls,
                server_hostname=self._origin.host if self._tls is not None else None,
            )
        except BaseException:
            sock.close()
            raise
        return connection
