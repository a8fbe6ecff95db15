"""One answer never kills a run: hostile answers are judged, and a bug of ours costs one case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from support.scripted import Answer, Received, Script, Scripted, completion, refusal
from support.sse_streams import chunk, event, piece
from support.verifying import records
from toolcert.cli.main import cli
from toolcert.core.cases import Outcome
from toolcert.core.errors import ISSUES, ExitCode
from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.findings import INTERNAL
from toolcert.probes.run import live_conversation
from toolcert.protocol.reply import read_reply
from toolcert.runs.reader import RunReader
from toolcert.verification.run import row_judge

HALF = "\ud83d"
"""Half of a character, which JSON can say and UTF-8 cannot."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def streamed(*chunks: dict[str, Any]) -> Answer:
    body = b"".join(map(event, chunks)) + b"data: [DONE]\n\n"
    return Answer(body, headers={"Content-Type": "text/event-stream"})


def called(**fields: Any) -> Answer:
    """A streamed call with some fields of its piece, or of its function, changed."""
    function = {"name": "get_weather", "arguments": "{}"} | fields.pop("function", {})
    return streamed(chunk({"tool_calls": [{**piece(), "id": "i", "type": "function", **fields, "function": function}]}))


KILLERS = {
    "a set in an error text": refusal(400, "{{}}"),
    "a list as a key in an error text": refusal(500, "{[]: 1}"),
    "half a character in an error": refusal(400, f"no {HALF}", code=f"no_{HALF}", param=HALF),
    "half a character in an error inside an error": refusal(400, "{'error': {'message': '\\ud83d'}}"),
    "half a character in a refused key": refusal(401, HALF),
    "a date beyond the calendar": Answer({}, 429, {"Retry-After": f"Sun, 06 Nov {'9' * 20} 08:49:37 GMT"}),
    "a date before the calendar": Answer({}, 503, {"Retry-After": "Mon, 01 Jan 0001 00:00:00 +2359"}),
    "half a character as finish reason": streamed(chunk({}, HALF)),
    "half a character as role": streamed(chunk({"role": HALF})),
    "half a character in the usage": streamed(chunk({"content": "a"}, usage={HALF: [HALF]})),
    "half a character in a list of usages": streamed(chunk({"content": "a"}, usage=[HALF])),
    "half a character in an error event": streamed({"error": {HALF: HALF}}),
    "half a character as fingerprint": streamed(chunk({"content": "a"}, system_fingerprint=HALF, model=HALF)),
    "half a character in a part of the text": streamed(chunk({"content": [{"text": HALF}]})),
    "half a character as type of a call": called(type=HALF),
    "half a character in an id": called(id={HALF: HALF}),
    "half a character in a name": called(function={"name": {"a": HALF}}),
    "half a character in arguments": called(function={"arguments": {"a": HALF}}),
    "half a character in the text of arguments": called(function={"arguments": f'{{"a": "{HALF}"}}'}),
    "a usage nested without end": streamed(
        chunk({"content": 5}, usage=json.loads('{"a":' * 450 + f"{json.dumps(HALF)}" + "}" * 450))
    ),
}


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def verify(server: Scripted, *words: str) -> Result:
    return call("verify", "d.jsonl", "--base-url", server.url, "-m", "m", "-o", "run", "-q", "--retries", "0", *words)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("keep", ["raw", "assembled", "verdicts"])
@pytest.mark.parametrize("name", KILLERS)
def test_an_answer_that_once_ended_the_run_is_measured_or_told(tmp_path: Path, name: str, keep: str) -> None:
    write_rows(tmp_path / "d.jsonl", [row(0), row(1)])
    with Scripted(lambda _: KILLERS[name]) as server:
        for _ in range(2):  # a resumed run met the same again
            result = verify(server, "--stream", "--keep", keep)
            assert result.exit_code in (ExitCode.OK, ExitCode.NOTHING_MEASURED), result.stderr
    assert {record.row and record.row.index for record in records(tmp_path / "run")} == {1, 2}
    assert not any(INTERNAL in record.codes for record in records(tmp_path / "run"))


@pytest.mark.parametrize(
    "details", [{"data": 5}, {"data": {"a": 1}}, {"data": [5]}, 5, {"data": [{"model_name": [5]}]}]
)
def test_a_second_listing_of_another_shape_does_not_matter(details: Any) -> None:
    def respond(received: Received) -> Answer:
        return Answer(details if received.path.endswith("/model/info") else {"data": [{"id": "m"}]})

    with Scripted(respond) as server:
        listed = call("models", "--base-url", server.url, "--dialect", "litellm")
    assert listed.exit_code == ExitCode.OK, listed.stderr
    assert "m" in listed.stdout


@pytest.mark.parametrize("listing", [{"data": 5}, {"data": 1e308}, {"data": {"a": 1}}, {"data": [5, {"id": [5]}]}, 5])
def test_a_listing_of_deployments_of_another_shape_is_a_sentence(listing: Any) -> None:
    with Scripted(lambda _: Answer(listing)) as server:
        listed = call("models", "--base-url", server.url, "--dialect", "azure")
    assert listed.exit_code != ExitCode.BUG, listed.stderr


def with_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give our reader of answers a bug: it fails on the word `mischief`."""

    def fails(exchange: Exchange) -> Reply:
        if b"mischief" in exchange.payload:
            raise LookupError(f"our own bug {HALF}")
        return read_reply(exchange)

    monkeypatch.setattr(row_judge, "read_reply", fails)
    monkeypatch.setattr(live_conversation, "read_reply", fails)


def mischief_for(*numbers: int) -> Script:
    def respond(received: Received) -> Answer:
        if received.path.endswith("/models"):
            return Answer({"data": [{"id": "m"}]})
        return completion("mischief" if any(f"({number})".encode() in received.body for number in numbers) else "fine")

    return respond


def test_a_bug_of_ours_costs_one_row_and_the_exit_code_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path / "d.jsonl", [row(n) for n in range(5)])
    with Scripted(mischief_for(2)) as server:
        with monkeypatch.context() as patch:
            with_bug(patch)
            result = verify(server, "--fail-under", "schema=0.5", "--markdown", "report.md")
        assert result.exit_code == ExitCode.BUG
        assert ISSUES in result.stderr
        assert f"1 row met a bug in toolcert, not in the vendor. Please report it: {ISSUES}" in " ".join(
            result.stdout.split()
        )
        assert "1 row met a bug in toolcert" in (tmp_path / "report.md").read_text()
        by_outcome = {record.row.index: record for record in records(tmp_path / "run") if record.row}
        assert [by_outcome[n].outcome for n in (1, 2, 4, 5)] == [Outcome.PASSED] * 4
        broken = by_outcome[3]
        assert (broken.outcome, broken.codes) == (Outcome.NOT_MEASURED, (INTERNAL,))
        assert "LookupError: our own bug" in broken.detail.figures["traceback"]
        assert b"mischief" in broken.detail.exchanges[0].payload
        assert "vendor " not in result.stdout
        shown = call("show", "run", "3")
        assert "Traceback (most recent call last)" in shown.stdout
        again = verify(server)  # our bug is mended
        assert again.exit_code == ExitCode.OK, again.stderr
        assert len(server.received) == 6


def test_a_bug_of_ours_costs_one_probe_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_bug(monkeypatch)

    def respond(received: Received) -> Answer:
        if received.path.endswith("/models"):
            return Answer({"data": [{"id": "m"}, {"id": "n"}]})
        return completion("mischief" if received.json["model"] == "m" else "fine")

    with Scripted(respond) as server:
        result = call("probe", server.url, "--probe", "basic", "-n", "2", "-o", "run", "-q", "--fail-under", "90")
    assert result.exit_code == ExitCode.BUG, result.stderr
    assert ISSUES in result.stderr
    kept = RunReader(tmp_path / "run").heads()
    outcomes = [(record.model, record.outcome, record.codes == (INTERNAL,)) for record in kept]
    assert outcomes.count(("m", Outcome.NOT_MEASURED, True)) == 2
    assert outcomes.count(("n", Outcome.FAILED, False)) == 2


@pytest.mark.heavy
def test_a_run_with_many_bugs_of_ours_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_bug(monkeypatch)
    write_rows(tmp_path / "d.jsonl", [row(n) for n in range(200)])
    with Scripted(mischief_for(*range(100))) as server:
        result = verify(server, "-c", "1")
        assert len(server.received) < 40
    assert result.exit_code == ExitCode.BUG
    assert "a bug in toolcert met 20 of 20 cases; the run is stopped" in result.stderr
    assert len(records(tmp_path / "run")) == 20
