"""Checks an endpoint step by step, from DNS to streaming; a step that fails says what to do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from email.utils import parsedate_to_datetime
from enum import StrEnum
from urllib.parse import urlsplit

import msgspec

from toolcert.core.errors import ListingError, ToolcertError
from toolcert.core.exchanges import Exchange, FaultKind, Reply
from toolcert.core.requests import Request, tool, user
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.text.number_text import plural
from toolcert.core.values import JsonObject, Value
from toolcert.endpoints.dialects.model_list import LOOK_CLOSER
from toolcert.endpoints.model_selection import model_counts
from toolcert.endpoints.presets import presets
from toolcert.endpoints.session import EndpointSession
from toolcert.http.connection import tls_context
from toolcert.http.url import PROXY_REMEDY, Origin, Proxies, parse_address, without_credentials
from toolcert.protocol.reply import read_reply


class Health(StrEnum):
    """How a step ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class Step(Value):
    """One step: what was seen, how long it took, and what to do where it did not go well."""

    name: str
    health: Health
    detail: str
    seconds: float = 0.0
    remedy: str = ""


def good(name: str, detail: str) -> Step:
    return Step(name=name, health=Health.OK, detail=detail)


def doubtful(name: str, detail: str, remedy: str = "") -> Step:
    return Step(name=name, health=Health.WARNING, detail=detail, remedy=remedy)


def failed(name: str, detail: str, remedy: str = "") -> Step:
    return Step(name=name, health=Health.FAILED, detail=detail, remedy=remedy)


def skipped(name: str, detail: str) -> Step:
    return Step(name=name, health=Health.SKIPPED, detail=detail)


FEW_DAYS = 14
"""A certificate that expires sooner gets a warning."""
_SECONDS_A_DAY = 86_400


async def resolve_host(spec: EndpointSpec) -> Step:
    """Whether the host name resolves."""
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
    detail = f"{secure.version()}, certificate good for {plural(days, 'more day')}"
    return good("TLS", detail) if days > FEW_DAYS else doubtful("TLS", detail, "Renew the certificate soon.")


def _why(error: ssl.SSLError) -> str:
    return getattr(error, "verify_message", "") or error.reason or str(error)


def _proxy(origin: Origin) -> str | None:
    """The proxy that requests to this server go through; without its credentials."""
    address = Proxies().for_origin(origin)
    return urlsplit(address).hostname if address else None


LARGEST_SKEW = 60.0
"""Seconds: tokens and signatures are refused when clocks differ by minutes."""
_TOKENS = 256
"""Enough for a model that reasons before it says hello, and cheap."""
_WEATHER = tool(
    "get_weather",
    "The current weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
ESSENTIAL = frozenset({"DNS", "TLS", "authentication", "chat"})
"""Steps without which no later one can succeed; the others check quality."""
_BUFFERED = "Proxies that buffer answers do this; ask the server directly to compare."
_REMEDIES = {
    FaultKind.RATE_LIMITED: "Wait, or lower --concurrency and --rpm.",
    FaultKind.UNSUPPORTED: "Choose another model, or start the server with tool calling enabled.",
    FaultKind.UNKNOWN_MODEL: "`toolcert models` lists what there is.",
    FaultKind.TIMEOUT: "Give it longer: --timeout SECONDS.",
    FaultKind.SERVER_ERROR: "Look into the server's log.",
}


class Doctor:
    """Examines one endpoint; steps that make no sense after a failure are skipped."""

    def __init__(self, session: EndpointSession, model: str | None = None) -> None:
        self._session = session
        self._spec = session.dialect.spec
        self._model = model
        self._models: list[ModelInfo] | ListingError = []
        self._answer: Exchange | None = None

    async def examine(self) -> AsyncIterator[Step]:
        """All steps, as they are done."""
        blocked = ""
        for name, check in self._checks().items():
            step = skipped(name, f"not tried, because {blocked} failed") if blocked else await _timed(name, check)
            yield step
            if step.health is Health.FAILED and name in ESSENTIAL:
                blocked = name

    def _checks(self) -> dict[str, Callable[[], Awaitable[Step]]]:
        return {
            "DNS": lambda: resolve_host(self._spec),
            "TLS": lambda: connect(self._spec),
            "authentication": self._authenticate,
            "model listing": self._list,
            "chat": self._chat,
            "clock": self._compare_clocks,
            "tool call": self._call_tool,
            "stream": self._stream,
        }

    async def _authenticate(self) -> Step:
        """Get the credentials and try them on the model list, which most vendors protect."""
        await self._session.credentials()
        try:
            self._models = await self._session.models()
        except ListingError as error:
            self._models = error  # an answer all the same, and no refusal of the key
        key = getattr(self._session.dialect, "key", None)
        return good(
            "authentication", "no key was needed so far" if key is None else f"the key from {key.source} is taken"
        )

    async def _list(self) -> Step:
        if isinstance(self._models, ListingError):
            raise self._models
        able = [info for info in self._models if info.can_chat]
        if self._model is None and able:
            self._model = able[0].id
        return good("model listing", model_counts(len(self._models), len(able)))

    async def _chat(self) -> Step:
        if self._model is None:
            return failed("chat", "there is no model to ask", "Name one: --model ID.")
        self._answer, reply = await self._ask("Say hello.")
        if reply is None:
            return _refused("chat", self._answer)
        if not (reply.content or reply.reasoning or reply.finish_reason == "length"):
            return failed("chat", f"{self._model} answers without text", "`toolcert probe` says what is wrong.")
        return good("chat", f"{self._model} answers")

    async def _compare_clocks(self) -> Step:
        assert self._answer is not None
        date = self._answer.headers.get("date", "")
        try:
            theirs = parsedate_to_datetime(date).timestamp()
        except ValueError:
            return skipped("clock", "the server does not say what time it is")
        last = self._answer.last
        skew = theirs - (last.started_at + (last.timing.first_byte or 0.0))
        if abs(skew) <= LARGEST_SKEW:
            return good("clock", "agrees with the server's")
        detail = f"this machine's clock is {abs(skew):.0f} s {'behind' if skew > 0 else 'ahead of'} the server's"
        return doubtful("clock", detail, "Set the clock: tokens are refused when clocks differ.")

    async def _call_tool(self) -> Step:
        exchange, reply = await self._ask("What is the weather in Paris? Use the tool.", tools=[_WEATHER])
        if reply is None:
            return _refused("tool call", exchange)
        if not reply.called:
            return doubtful(
                "tool call", f"{self._model} answers without calling the tool", "`toolcert probe` asks more often."
            )
        return good("tool call", f"{self._model} calls {reply.tool_calls[0].name}")

    async def _stream(self) -> Step:
        exchange, reply = await self._ask("Say hello.", stream=True)
        if reply is None:
            return _refused("stream", exchange)
        if not exchange.event_stream:
            return failed("stream", "the answer comes in one piece though a stream was asked for", _BUFFERED)
        if not reply.complete:
            return failed("stream", "the stream ends without its end marker", _BUFFERED)
        first = exchange.last.timing.first_token
        detail = "complete" if first is None else f"complete, first token after {first:.2f} s"
        blind = presets()["litellm"].note if self._spec.dialect == "litellm" else ""
        return msgspec.structs.replace(good("stream", detail), remedy=blind)

    async def _ask(self, prompt: str, **parameters: object) -> tuple[Exchange, Reply | None]:
        body: JsonObject = {"model": self._model, "messages": [user(prompt)], "max_tokens": _TOKENS, **parameters}
        exchange = await self._session.ask(Request(body=body))
        return exchange, None if exchange.fault is not None else read_reply(exchange)


async def _timed(name: str, check: Callable[[], Awaitable[Step]]) -> Step:
    began = time.monotonic()
    try:
        step = await check()
    except ToolcertError as error:
        step = failed(name, error.message, error.remedy.replace(LOOK_CLOSER, "."))  # this is the closer look
    return msgspec.structs.replace(step, seconds=time.monotonic() - began)


def _refused(name: str, exchange: Exchange) -> Step:
    assert exchange.fault is not None
    return failed(name, exchange.fault.message, _REMEDIES.get(exchange.fault.kind, ""))
