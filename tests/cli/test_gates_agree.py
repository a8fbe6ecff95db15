"""Verdict, gate, badge, JUnit and exit code of a command say the same."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from support.scripted import Answer, Received, Scripted, completion, refusal, relay
from toolcert.cli.main import cli
from toolcert.core.errors import ExitCode
from toolcert.simulate import Vendor


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def badge(path: str = "badge.json") -> tuple[str, str]:
    made = json.loads(Path(path).read_text())
    return made["message"], made["color"]


def faults(path: str = "junit.xml") -> list[tuple[str | None, str]]:
    """The cases that did not pass, with their tags."""
    cases = ET.parse(path).iter("testcase")
    return [(case.get("name"), child.tag) for case in cases for child in case]


REPORTS = ["--badge", "badge.json", "--junit", "junit.xml", "--json", "report.json"]


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful"]) as one:
        yield one


def probe(server: Scripted, *words: str) -> Result:
    return call("probe", server.url, "-m", "faithful", "-n", "1", "-q", "-o", "run", "--fresh", *REPORTS, *words)


def refuses_json(received: Received, answer: Answer) -> Answer:
    asked = received.json if received.body else {}
    return refusal(400, "response_format is not supported.") if "response_format" in asked else answer


def test_a_score_is_not_enough_where_the_verdict_is_partial(vendor: Vendor) -> None:
    """JSON mode is refused, which costs points and has no finding that caps."""
    with Scripted(relay(vendor.url, refuses_json)) as server:
        asked = ["--probe", "basic", "--probe", "json_object", "--fail-under", "10"]
        done = probe(server, *asked)
        allowed = probe(server, *asked, "--allow", "json_object")
    assert badge() == ("partial", "yellow")
    assert ("verdict", "failure") in faults()
    assert done.exit_code == ExitCode.FAILED, done.output
    assert "--allow json_object would allow it." in done.output
    assert allowed.exit_code == ExitCode.OK, allowed.output


def verify(server: Scripted | Vendor, *words: str, rows: int = 30, **fields: Any) -> Result:
    dataset = write_rows(Path("d.jsonl"), [row(number, **fields) for number in range(rows)])
    asked = ["verify", dataset, "--base-url", server.url, "-m", "faithful", "-q", "-o", "run", "--fresh", *REPORTS]
    return call(*asked, "--retries", "0", *words)


def refuses_the_key(_: Received) -> Answer:
    return refusal(401, "Incorrect API key provided.")


def test_a_refused_key_replaces_the_reports_of_yesterday(vendor: Vendor) -> None:
    """The first 20 rows fail, and the run is stopped."""
    assert verify(vendor).exit_code == ExitCode.OK
    assert badge() == ("passes, 100.0 % sound", "green")
    with Scripted(refuses_the_key) as server:
        done = verify(server)
    assert done.exit_code == ExitCode.NOTHING_MEASURED
    assert "the first 20 rows all failed" in done.stderr
    assert badge() == ("not measured", "lightgrey")
    assert ("verdict", "error") in faults()
    assert json.loads(Path("report.json").read_text())["summary"]["verdict"]["word"] == "not_measured"


def test_an_endpoint_that_lists_no_models_replaces_the_reports_of_yesterday(vendor: Vendor) -> None:
    with Scripted(relay(vendor.url, lambda _, answer: answer)) as server:
        assert probe(server, "--suite", "quick").exit_code == ExitCode.OK
    assert badge() == ("passes", "green")
    with Scripted(refuses_the_key) as server:
        done = call("probe", server.url, "--suite", "quick", "-q", *REPORTS)
    assert done.exit_code == ExitCode.NOTHING_MEASURED
    assert badge() == ("not measured", "lightgrey")
    assert [tag for _, tag in faults()] == ["error"]


def after(number: int, then: Answer) -> Callable[[Received, Answer], Answer]:
    """Another answer to all questions but the first few."""
    asked = itertools.count()
    return lambda received, answer: then if received.body and next(asked) >= number else answer


REFUSED = refusal(401, "Your key has expired.")


def test_a_key_that_is_refused_on_the_way_is_exit_3_without_a_gate(vendor: Vendor) -> None:
    with Scripted(relay(vendor.url, after(10, REFUSED))) as server:
        assert verify(server).exit_code == ExitCode.NOTHING_MEASURED
    assert badge() == ("undecided", "lightgrey")
    with Scripted(relay(vendor.url, after(3, REFUSED))) as server:
        done = probe(server, "-o", "probes", "-c", "1")  # or a refusal may overtake the answers before it
    assert done.exit_code == ExitCode.NOTHING_MEASURED
    assert "The server refused the key: faithful: only" in done.stderr


def test_a_refusal_of_tools_is_an_answer() -> None:
    """Without a gate it is 0, as in probe; with one it is not met."""
    with Vendor(models={"faithful": "no-tools"}) as refusing:
        assert verify(refusing, rows=6).exit_code == ExitCode.OK
        assert badge() == ("unsupported", "red")
        for gate in (["--require", "passes"], ["--fail-under", "schema=0.5"]):
            assert verify(refusing, *gate, rows=6).exit_code == ExitCode.FAILED, gate


def test_no_gate_can_be_judged_by_answers_without_a_call() -> None:
    with Scripted(lambda _: completion("It is sunny.")) as server:
        assert verify(server, rows=6).exit_code == ExitCode.OK
        for gate in (["--require", "passes"], ["--fail-under", "schema=0.5"], ["--fail-on", "error"]):
            done = verify(server, *gate, rows=6)
            assert done.exit_code == ExitCode.NOTHING_MEASURED, gate
            assert "no tool was called in 6 answers" in done.stderr
    assert badge() == ("not measured", "lightgrey")


def test_a_badge_names_the_weaker_of_streamed_and_unstreamed_answers() -> None:
    rows = [row(number, stream=number % 2 == 1) for number in range(20)]
    dataset = write_rows(Path("mixed.jsonl"), rows)
    with Vendor(models=["faithful", "fault:stream.cut"]) as one:
        asked = ["verify", dataset, "--base-url", one.url, "-q", "--badge", "badge.json"]
        call(*asked, "-m", "fault:stream.cut")
        assert badge() == ("partial, 0.0 % of streamed answers sound", "yellow")
        assert "100.0 % of 10 unstreamed and 10 streamed answers are sound" in call(*asked, "-m", "faithful").stdout
    assert badge() == ("passes, 100.0 % sound", "green")


def test_two_models_that_pass_have_the_colour_of_one_and_a_silent_endpoint_is_named() -> None:
    with Vendor(models={"one": "faithful", "two": "faithful"}) as vendor:
        asked = ["probe", vendor.url, "--suite", "quick", "-n", "1", "-q", "--badge", "badge.json", "--json", "r.json"]
        assert call(*asked).exit_code == ExitCode.OK
        assert badge() == ("2 of 2 models pass", "green")
        done = call(*asked, "http://127.0.0.1:1", "--require", "passes", "--retries", "0")
    assert done.exit_code == ExitCode.NOTHING_MEASURED
    assert badge() == ("2 of 2 models pass, 1 endpoint not measured", "lightgrey")
    summary = json.loads(Path("r.json").read_text())["summary"]
    assert summary["headline"] == "2 of 2 models pass; 127.0.0.1:1 could not be measured."
    assert summary["verdict"] == "not_measured"


def test_verify_tells_what_follows_from_a_finding_and_counts_it_nowhere() -> None:
    """An empty string is too short, and so cannot match a pattern either."""
    city = {"type": "string", "minLength": 1, "pattern": "^[A-Z]"}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]
    with Vendor(models={"faithful": "fault:args.schema.minLength"}) as vendor:
        done = verify(vendor, "--markdown", "report.md", rows=6, tools=tools)
    assert "From it follows: args.schema.pattern" in done.stdout
    assert "From it follows: args.schema.pattern" in Path("report.md").read_text()
    summary = json.loads(Path("report.json").read_text())["summary"]
    assert [line["code"] for line in summary["vendor"]] == ["args.schema.minLength"]
    assert summary["vendor"][0]["examples"][0]["follows"] == ["args.schema.pattern"]


def test_a_model_that_was_busy_is_no_best_choice_beside_one_that_was_not() -> None:
    with Vendor(models=["faithful", "overloaded"]) as vendor:
        asked = ["probe", vendor.url, "--suite", "quick", "-n", "5", "-q", "-c", "1", "--json", "report.json"]
        done = call(*asked)
    models = json.loads(Path("report.json").read_text())["summary"]["models"]
    assert [(model["model"], model["verdict"]["word"]) for model in models] == [
        ("faithful", "passes"),
        ("overloaded", "passes"),
    ]
    assert "Best choice: faithful" in done.stdout


def test_a_sentence_of_the_server_keeps_its_own_end(vendor: Vendor) -> None:
    with Scripted(lambda _: refusal(503, "The model is loading, please wait...")) as server:
        done = verify(server)
    assert "...." not in done.output


def loses_unstreamed_calls(received: Received, answer: Answer) -> Answer:
    """Good words stand where a call was due."""
    lost = received.body and not received.json.get("stream")
    return completion("It is sunny.", model="faithful") if lost else answer


def test_calls_that_come_in_streams_alone_are_no_good_verdict(vendor: Vendor) -> None:
    dataset = write_rows(Path("mixed.jsonl"), [row(number, stream=number % 2 == 1) for number in range(16)])
    with Scripted(relay(vendor.url, loses_unstreamed_calls)) as server:
        asked = ["verify", dataset, "--base-url", server.url, "-m", "faithful", "-q", "--badge", "badge.json"]
        done = call(*asked, "--require", "passes")
    assert done.stdout.startswith("undecided: no tool was called in 8 unstreamed answers, and in 8 of 8 streamed.")
    assert done.exit_code == ExitCode.FAILED
    assert badge() == ("undecided", "lightgrey")
