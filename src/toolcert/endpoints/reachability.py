"""The way to a server before HTTP begins: its name, its port, its certificate."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from urllib.parse import urlsplit

from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.steps import Step, doubtful, failed, good, skipped
from toolcert.wire.address import Origin, parse_address
from toolcert.wire.opening import tls_context
from toolcert.wire.proxies import PROXY_REMEDY, Proxies, without_credentials

FEW_DAYS = 14
"""A certificate that ends sooner deserves a word."""
_SECONDS_A_DAY = 86_400


async def resolve_host(spec: EndpointSpec) -> Step:
    """Whether the name leads anywhere."""
    origin = parse_address(spec.base_url).origin
    if proxy := _proxy(origin):
        return skipped("DNS", f"left to the proxy {proxy}")
    host, port = origin.host, origin.port
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        detail = f"{host} is not known: {error.strerror or error}"
        return failed("DNS", detail, "Check the spelling, the network and the VPN.")
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    return good("DNS", f"{host} is {', '.join(addresses[:3])}")


async def connect(spec: EndpointSpec) -> Step:
    """Whether something listens there, and with a certificate we trust."""
    origin = parse_address(spec.base_url).origin
    if proxy := Proxies().for_origin(origin):
        return await _reach_proxy(proxy, Proxies().described(origin), spec.timeouts.connect)
    host, port = origin.host, origin.port
    context = tls_context(spec.ca_bundle) if origin.scheme == "https" else None
    try:
        async with asyncio.timeout(spec.timeouts.connect):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except ssl.SSLError as error:
        return failed("TLS", f"{host}:{port}: {_why(error)}", "Trust its certificate with --ca-bundle, if it is yours.")
    except TimeoutError:
        return failed("TLS", f"{host}:{port} does not answer", "Check address, port, firewall and VPN.")
    except OSError as error:
        return failed("TLS", f"{host}:{port}: {error.strerror or error}", "Does the server run, and on this port?")
    secure = writer.get_extra_info("ssl_object")
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return _about_certificate(secure) if secure is not None else good("TLS", "connected; not encrypted (http)")


async def _reach_proxy(proxy: str, described: str, seconds: float) -> Step:
    """Whether something listens where the proxy should be; what lies behind it is left to it."""
    place = parse_address(without_credentials(proxy)).origin
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(place.host, place.port)
    except OSError as error:  # a timeout is one
        return failed("TLS", f"{described}: {error.strerror or 'does not answer'}", PROXY_REMEDY)
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return skipped("TLS", f"left to {described}")


def _about_certificate(secure: ssl.SSLObject) -> Step:
    ends = (secure.getpeercert() or {}).get("notAfter")
    if not isinstance(ends, str):
        return good("TLS", str(secure.version()))
    days = int((ssl.cert_time_to_seconds(ends) - time.time()) // _SECONDS_A_DAY)
    detail = f"{secure.version()}, certificate good for {days} more {'day' if days == 1 else 'days'}"
    return good("TLS", detail) if days > FEW_DAYS else doubtful("TLS", detail, "Renew the certificate soon.")


def _why(error: ssl.SSLError) -> str:
    return getattr(error, "verify_message", "") or error.reason or str(error)


def _proxy(origin: Origin) -> str | None:
    """The proxy that requests to this server go through; without its credentials."""
    address = Proxies().for_origin(origin)
    return urlsplit(address).hostname if address else None
