"""Who may look at the runs, over real HTTP."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcert.core.errors import UsageError
from toolcert.view.viewer import Viewer
from view.conftest import Client

PATHS = ("/", "/runs/c41e88d0", "/api/runs", "/api/events", "/assets/main.js", "/runs/c41e88d0/report", "/nothing")


def test_without_the_token_everything_is_refused(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent))
    assert {client.ask(path).status for path in PATHS} == {403}
    assert client.ask("/?token=wrong").status == 403
    assert client.ask("/?token=").status == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent))
    answer = client.ask(f"/runs/c41e88d0?q=a+b&{client.token}&sort=-latency")
    assert answer.status == 303
    assert answer.headers["location"] == "/runs/c41e88d0?q=a+b&sort=-latency"
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    assert client.token.removeprefix("token=") not in answer.headers["set-cookie"]
    assert client.let_in().ask("/api/runs").json["runs"][0]["run"] == "c41e88d0"


def test_a_link_elsewhere_is_refused_and_loaded_again_once(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent))
    followed = client.ask("/runs/c41e88d0", Sec_Fetch_Mode="navigate", Sec_Fetch_Site="cross-site")
    assert (followed.status, followed.headers["refresh"]) == (403, "0")
    again = client.ask("/runs/c41e88d0", Sec_Fetch_Mode="navigate", Sec_Fetch_Site="same-origin")
    assert again.status == 403
    assert "refresh" not in again.headers


def test_the_way_in_leads_to_no_other_host(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent))
    assert client.ask(f"//leak.example/?{client.token}").headers["location"].startswith("/leak.example")


def test_another_host_is_refused_even_with_the_cookie(viewed: Callable[..., Viewer], small_run: Path) -> None:
    """A page elsewhere can point its own name at this machine."""
    client = Client(viewed(small_run.parent)).let_in()
    port = client.port
    others = ("leak.example", "127.0.0.1", "127.0.0.1:1", "", f"localhost:{port}.leak.example", f"0.0.0.0:{port}")
    assert {client.ask("/api/runs", Host=host).status for host in others} == {403}
    assert client.ask("/api/runs", Host=f"LocalHost:{port}").status == 200


def test_every_answer_forbids_what_it_does_not_need(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent)).let_in()
    for path in ("/", "/api/runs", "/assets/view.css", "/nothing", "/api/runs/none", "/runs/c41e88d0/report"):
        headers = client.ask(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_mark_from_another_page_is_refused(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent)).let_in()
    mark = {"case": "row-2", "kind": "known"}
    path = "/api/runs/c41e88d0/marks"
    assert client.post(path, mark, Origin="http://leak.example").status == 403
    assert client.post(path, mark, Origin="null").status == 403
    assert client.ask(path, method="POST", body=b"{}").status == 403
    assert client.post(path, mark, Sec_Fetch_Site="cross-site").status == 403
    assert client.post(path, mark, Content_Type="text/plain").status == 400
    assert not (small_run / "marks.jsonl").exists()


def test_nothing_else_can_be_written(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent)).let_in()
    origin = f"http://127.0.0.1:{client.port}"
    statuses = {
        client.ask(path, method=method, Origin=origin).status
        for path in ("/api/runs/c41e88d0", "/api/runs/c41e88d0/case", "/")
        for method in ("POST", "PUT", "DELETE", "PATCH")
    }
    assert statuses == {405}


def test_only_our_own_files_are_served(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent)).let_in()
    names = ("../guard.py", "..%2fguard.py", "shell.html", "main.py", ".", "%00", "..%5cguard.py")
    assert {client.ask(f"/assets/{name}").status for name in names} == {404}


def test_other_machines_need_a_password() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.com"):
        with pytest.raises(UsageError, match="password"):
            Viewer(host=host)
    with pytest.raises(UsageError, match="fewer than 8"):
        Viewer(password="short")


@pytest.mark.heavy
def test_a_password_opens_the_viewer_and_a_wrong_one_does_not(viewed: Callable[..., Viewer], small_run: Path) -> None:
    client = Client(viewed(small_run.parent, host="0.0.0.0", password="long enough"))
    form = {"Origin": f"http://127.0.0.1:{client.port}", "Content-Type": "application/x-www-form-urlencoded"}
    assert client.ask("/").headers["location"] == "/login"
    assert client.ask("/api/runs").status == 403
    assert client.ask("/login", method="POST", body=b"password=wrong", **form).status == 403
    answer = client.ask("/login", method="POST", body=b"password=long+enough", **form)
    assert answer.status == 303
    client.cookie = answer.headers["set-cookie"].partition(";")[0]
    assert client.ask("/api/runs").status == 200
    assert client.ask("/api/runs", Host=f"leak.example:{client.port}").status == 403


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\x1b[2J\x9b\r\n\r\n",
        b"GET /%0d%0aX-Injected:%20yes?TOKEN HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n",
    ],
)
def test_whatever_a_stranger_sends_writes_nothing_to_the_terminal(
    viewed: Callable[..., Viewer], small_run: Path, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    client = Client(viewed(small_run))
    with socket.create_connection(("127.0.0.1", client.port), timeout=60) as connection:
        connection.sendall(sent.replace(b"PORT", str(client.port).encode()).replace(b"TOKEN", client.token.encode()))
        answer = connection.recv(4000)
    assert answer.startswith((b"HTTP/1.0 400", b"HTTP/1.1 400", b"HTTP/1.1 303"))
    assert b"\r\nX-Injected" not in answer
    assert client.let_in().ask("/api/runs").status == 200
    assert caplog.records == []  # without a handler, Python writes them to stderr
