"""Nothing that a vendor, a dataset or a run says reaches the terminal as a command: on stdout and on stderr."""

from __future__ import annotations

import csv
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from toolcert.cli.main import cli

NASTY = "\x1b]0;title\x07\x1b[2J\x00\x9b31m\x85\u202egnihton\u2066\u061c\U000e0041"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\U000e0000-\U000e007f]")
MODEL = f"=model {NASTY}"
ROW = {
    "messages": [{"role": "user", "content": f"Weather in {NASTY}?"}],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
}


class Vendor(BaseHTTPRequestHandler):
    """Lists a nasty model, answers the first request with a nasty call, and refuses the others in nasty words."""

    asked = 0

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send(200, {"data": [{"id": MODEL, "owned_by": NASTY}, {"id": f"embedding {NASTY}", "mode": "embedding"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked += 1
        if self.asked % 2:
            call = {"id": NASTY, "type": "function", "function": {"name": NASTY, "arguments": f"{{{NASTY}"}}
            message = {"role": NASTY, "content": NASTY, "tool_calls": [call]}
            choice = {"index": 0, "message": message, "finish_reason": NASTY}
            self._send(200, {"model": NASTY, "system_fingerprint": NASTY, "choices": [choice]})
        else:
            self._send(400, {"error": {"message": f"no {NASTY}", "code": NASTY}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(scope="module")
def vendor() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def folder(vendor: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, a probe run, two verify runs of the nasty vendor, and a history of it."""
    folder = tmp_path_factory.mktemp("nasty")
    lines = [json.dumps(ROW | {"seed": number}, ensure_ascii=False) for number in range(4)]
    broken = json.dumps(ROW | {"model": 1, "tools": [{"function": {"name": NASTY, "parameters": {"type": NASTY}}}]})
    (folder / "rows.jsonl").write_text("\n".join([*lines, broken, f"nasty {NASTY[-1]}"]), encoding="utf-8")
    for run in ("one", "two"):
        words = ["--base-url", vendor, "--model", MODEL, "--retries", "0", "--output", str(folder / run)]
        said(["verify", str(folder / "rows.jsonl"), *words])
    said(["probe", vendor, "--suite", "hello", "-n", "1", "--retries", "0", "--output", str(folder / "probe")])
    said(["history", "add", str(folder / "probe"), "--history", str(folder / "history.sqlite")])
    return folder


def said(words: list[str], codes: tuple[int, ...] = (0, 1, 3)) -> str:
    """What a command prints; no character of it is obeyed."""
    result = CliRunner().invoke(cli, words)
    assert result.exit_code in codes, result.output
    for stream in (result.stdout, result.stderr):
        found = OBEYED.search(stream)
        assert found is None, stream[max(0, found.start() - 60) : found.end() + 20]
    return result.stdout + result.stderr


COMMANDS = {
    "models": "models VENDOR",
    "models as JSON": "models VENDOR --json -",
    "doctor": "doctor VENDOR --retries 0",
    "plan": "PLAN VENDOR --dry-run",
    "check": "dataset check rows.jsonl",
    "check as JSON": "dataset check rows.jsonl --json",
    "stats": "dataset stats rows.jsonl",
    "stats as JSON": "dataset stats rows.jsonl --json",
    "show": "show one 1",
    "show as JSON": "show one 1 --json",
    "report": "report one",
    "report of a probe": "report probe",
    "JSON": "report one --json -",
    "JSON of a probe": "report probe --json -",
    "Markdown": "report one --markdown -",
    "Markdown of a probe": "report probe --markdown -",
    "CSV": "report one --csv -",
    "JUnit": "report one --junit -",
    "HTML": "report one --html -",
    "compare": "compare --baseline one --vendor two",
    "compare as JSON": "compare --baseline one --vendor two --json -",
    "runs": "runs HERE",
    "runs as JSON": "runs HERE --json",
    "diff": "diff one two",
    "diff as Markdown": "diff one two --markdown -",
    "diff as JUnit": "diff one two --junit -",
    "mark": "mark one 1 --known",
    "history": "history show --history history.sqlite",
    "history as JSON": "history show --history history.sqlite --json -",
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_passes_an_escape_on(command: str, vendor: str, folder: Path) -> None:
    files = {
        "PLAN": "probe",
        "VENDOR": vendor,
        "HERE": str(folder),
        **{name: str(folder / name) for name in ("rows.jsonl", "one", "two", "probe")},
    }
    words = [files.get(word, str(folder / word) if word == "history.sqlite" else word) for word in command.split()]
    assert said(words)


@pytest.mark.parametrize(
    "words",
    [
        ["probe", f"http://127.0.0.1:9/{NASTY[1:9]}"],
        ["probe", NASTY.replace("\x00", "")],
        ["report", f"missing{NASTY[:9]}"],
        [f"com{NASTY[-8:]}mand"],
        ["probe", f"--mo{NASTY[-8:]}del"],
        ["findings", NASTY],
    ],
)
def test_no_error_passes_an_escape_on(words: list[str]) -> None:
    assert said(words, codes=(1, 2, 3, 4))


def test_an_export_of_the_history_is_harmless(folder: Path, tmp_path: Path) -> None:
    history = ["--history", str(folder / "history.sqlite")]
    said(["history", "export", str(tmp_path / "csv"), "--export-format", "csv", *history])
    for file in (tmp_path / "csv").iterdir():
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
        assert not OBEYED.search(text), file
        cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
        assert cells
    said(["history", "export", str(tmp_path / "h.jsonl"), "--export-format", "jsonl", *history])
    lines = (tmp_path / "h.jsonl").read_text(encoding="utf-8")
    assert not OBEYED.search(lines)
    assert json.loads(lines.splitlines()[0])["model"] == MODEL, "JSON says the same, written otherwise"


def test_json_means_what_it_meant(folder: Path) -> None:
    result = CliRunner().invoke(cli, ["show", str(folder / "one"), "1", "--json"])
    assert json.loads(result.stdout)["model"] == MODEL
