"""Who may look: only the person who started the viewer, or who knows its password; and only from its own pages."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import urlencode

from aiohttp import web

from toolcert.core.errors import UsageError
from toolcert.core.secrets import Secret

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

TOKEN = "token"  # noqa: S105 - the name of a parameter
LOGIN = "/login"
WRONG_PASSWORD_SECONDS = 0.5
"""What a wrong password costs; wrong ones wait for each other."""
SHORTEST_PASSWORD = 8
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


def is_loopback_host(host: str) -> bool:
    """Whether only programs on this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, password: Secret | None) -> None:
    """Refuse to show runs to a network without a password: they hold prompts and answers."""
    if password is not None and len(password.reveal()) < SHORTEST_PASSWORD:
        raise UsageError(
            f"the password of the viewer has fewer than {SHORTEST_PASSWORD} characters.", remedy="Choose a longer one."
        )
    if password is None and not is_loopback_host(host):
        raise UsageError(
            f"--host {host} shows the runs to other machines.",
            remedy="Set a password in TOOLCERT_VIEW_PASSWORD, or leave out --host.",
        )


class Guard:
    """Lets a request pass, or answers it with 403."""

    def __init__(self, host: str, password: Secret | None = None) -> None:
        check_host(host, password)
        self.host = host
        self.port = 0
        """Set once the port is known."""
        self._token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._password = password
        self._one_at_a_time = asyncio.Lock()

    @property
    def address(self) -> str:
        """Where the viewer is, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def first_address(self, path: str = "") -> str:
        """The address to open first; what is behind it takes the token out of sight."""
        return f"{self.address}{path}?{urlencode({TOKEN: self._token})}"

    @property
    def _cookie(self) -> str:
        return f"toolcert-view-{self.port}"  # browsers share cookies between the ports of a host

    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The middleware around every route."""
        if not self._names_us(request.headers.get("Host", "")):
            return refused("This is not the address of the viewer.")
        if request.method == "POST" and not self._comes_from_us(request):
            return refused("The request does not come from a page of the viewer.")
        if request.path == LOGIN and self._password is not None:
            return await self._login(request)
        if TOKEN in request.query:
            return self._by_token(request)
        if _same(request.cookies.get(self._cookie, ""), self._session):
            return await handler(request)
        return self._stranger(request)

    def _stranger(self, request: web.Request) -> web.Response:
        """What somebody is told who has no cookie."""
        came = request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Site")
        if came == ("navigate", "cross-site"):
            # A strict cookie stays away from a link that is followed elsewhere; loaded again, the page is our own.
            return refused("The link comes from elsewhere; the page is loaded again.", Refresh="0")
        if self._password is not None and request.method == "GET" and not request.path.startswith("/api/"):
            raise web.HTTPSeeOther(LOGIN)
        return refused("Open the address that `toolcert view` printed, once, in this browser.")

    def _by_token(self, request: web.Request) -> web.Response:
        """Exchange the token for a cookie, and lead to the same address without it."""
        if not _same(request.query[TOKEN], self._token):
            return refused("The token is not that of this viewer.")
        rest = [(name, value) for name, value in request.query.items() if name != TOKEN]
        return self._let_in(request.rel_url.raw_path + (f"?{urlencode(rest)}" if rest else ""))

    def _names_us(self, host: str) -> bool:
        """Whether the Host header is ours: a page elsewhere can point its own name at this machine."""
        name, _, port = host.lower().rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, "80"
        if port != str(self.port):
            return False
        if name in _LOOPBACK_NAMES or name == self.host:
            return True
        if is_loopback_host(self.host):
            return False
        if name.lower() == socket.gethostname().lower():
            return True
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True  # an address as a number cannot be pointed elsewhere

    def _comes_from_us(self, request: web.Request) -> bool:
        host = request.headers.get("Host", "")
        site = request.headers.get("Sec-Fetch-Site", "same-origin")
        return request.headers.get("Origin") == f"http://{host}" and site == "same-origin"

    def _let_in(self, path: str) -> web.Response:
        # A path of two slashes would lead to another host.
        answer = web.Response(status=303, headers={"Location": "/" + path.lstrip("/\\"), **HEADERS})
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="Strict", path="/")
        return answer

    async def _login(self, request: web.Request) -> web.StreamResponse:
        assert self._password is not None
        if request.method != "POST":
            return page(LOGIN_PAGE)
        given = (await request.post()).get("password", "")
        async with self._one_at_a_time:
            if isinstance(given, str) and _same(given, self._password.reveal()):
                return self._let_in("/")
            await asyncio.sleep(WRONG_PASSWORD_SECONDS)
        return page(LOGIN_PAGE.replace("<!--said-->", '<p role="alert">That is not the password.</p>'), status=403)


def _same(given: str, wanted: str) -> bool:
    """Whether two texts are equal; the time it takes reveals nothing."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode("utf-8", "surrogatepass"))


LOGIN_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>toolcert view</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>toolcert view</h1><!--said-->
<form method="post" action="/login">
<label>Password <input type="password" name="password" autofocus autocomplete="current-password"></label>
<button>Open</button></form></main></body></html>
"""


def page(html: str, status: int = 200) -> web.Response:
    """A page of our own."""
    return web.Response(
        text=html, status=status, content_type="text/html", headers={"Content-Security-Policy": POLICY, **HEADERS}
    )


def refused(sentence: str, **more: str) -> web.Response:
    """403, in words."""
    headers = {"Content-Security-Policy": POLICY, **HEADERS, **more}
    return web.Response(text=f"403: {sentence}\n", status=403, headers=headers)
