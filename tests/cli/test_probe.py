"""`toolcert probe` as a user runs it: a process, a real endpoint, files and exit codes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support.patience import PATIENCE, hurry, until
from support.scripted import Answer, Scripted, refusal
from toolcert.simulate import Vendor

pytestmark = pytest.mark.heavy  # simulates or starts many processes; `make test-fast` does without

KEY = "sk-test-51fd9c0de7a14b"


def toolcert(
    *words: str, cwd: Path, env: dict[str, str] | None = None, timeout: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "toolcert", *words],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def cases(folder: Path) -> list[str]:
    return [json.loads(line)["case"] for line in (folder / "records.jsonl").read_text().splitlines()]


def test_forty_models_take_the_time_of_the_slowest_chain(tmp_path: Path) -> None:
    """P9: wall <= 1.3 x max(longest chain, requests x delay / concurrency)."""
    concurrency, models, iterations = 50, 40, 5
    names = {f"m{number}": "faithful" for number in range(models)}
    requests = models * iterations * 2
    for delay in (0.2, 0.2, 0.4, 0.8, 1.6):  # others may use the machine, and it may be slow
        chain, ideal = 2 * delay, requests * delay / concurrency
        with Vendor(models=names, latency=delay) as vendor:
            done = toolcert(
                "probe", vendor.url, "--suite", "hello", "-n", str(iterations), "-c", str(concurrency),
                "--json", "report.json", cwd=tmp_path,
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        totals = json.loads((tmp_path / "report.json").read_text())["summary"]["totals"]
        assert totals["usage"]["requests"] == requests
        wall = totals["seconds"]
        print(f"wall {wall:.2f} s, longest chain {chain:.2f} s, requests x delay / concurrency {ideal:.2f} s")
        if wall <= 1.3 * max(chain, ideal):
            return
    pytest.fail("toolcert itself takes more than 30 % of the time")


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """After kill -9 nothing measured is asked again, nothing is lost, nothing stands twice."""
    command = ["probe", "--suite", "hello", "-n", "20", "-c", "4", "--output", "run"]
    with Vendor(models={f"m{n}": "faithful" for n in range(6)}, latency=0.1) as vendor:
        words = [sys.executable, "-m", "toolcert", *command, vendor.url]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = tmp_path / "run" / "records.jsonl"
        until(lambda: log.exists() and log.read_bytes().count(b"\n") >= 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = log.read_bytes()
        whole = before[: before.rfind(b"\n") + 1]
        measured = [json.loads(line)["case"] for line in whole.splitlines()]
        asked_before = len(vendor.requests)
        hurry(vendor)
        so_far = toolcert("report", "run", cwd=tmp_path).stdout
        done = toolcert(*command, vendor.url, cwd=tmp_path)
        asked_after = len(vendor.requests) - asked_before
    assert done.returncode == 0, done.stderr
    assert 20 <= len(measured) < 120
    assert so_far.startswith(f"Incomplete: {120 - len(measured)} cases were not asked yet. So far: ")
    assert not done.stdout.startswith("Incomplete")
    assert log.read_bytes().startswith(whole)
    assert len(cases(tmp_path / "run")) == len(set(cases(tmp_path / "run"))) == 120
    chats = (120 - len(measured)) * 2
    assert asked_after <= chats + 2, "only what was not measured is asked, and the listing"


def test_a_folder_may_hold_more_than_the_plan_and_progress_ends_at_the_whole(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        for suite, total in (("agent", 10), ("quick", 2)):
            done = toolcert("probe", vendor.url, "--suite", suite, "-n", "2", "--output", "run", cwd=tmp_path)
            assert f"{total}/{total}  100 %" in done.stderr.splitlines()[-1]


def counts_of(folder: Path, cwd: Path) -> dict[str, dict[str, int]]:
    done = toolcert("report", str(folder), "--json", "-", cwd=cwd)
    return {model["model"]: model["counts"] for model in json.loads(done.stdout)["summary"]["models"]}


def test_more_models_iterations_and_probes_extend_a_run(tmp_path: Path) -> None:
    """What an outage left out is asked as well, and nothing that was answered."""
    words = ("-q", "--retries", "0", "--output", "run")
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        vendor.outage("500", after=3, model="faithful")
        toolcert("probe", vendor.url, "-m", "faithful", "-s", "quick", "-n", "6", "-c", "1", *words, cwd=tmp_path)
        first = counts_of(tmp_path / "run", tmp_path)["faithful"]
        vendor.restore()
        asked = len(vendor.requests)
        more = ("-m", "faithful", "-m", "text-caller", "-s", "agent", "-n", "8")
        done = toolcert("probe", vendor.url, *more, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        whole = counts_of(tmp_path / "run", tmp_path)
        asked_again = len(vendor.requests) - asked
        toolcert("probe", vendor.url, *more, "--output", "once", "-q", cwd=tmp_path)
        fresh = len(vendor.requests) - asked - asked_again
    assert 0 < first["passed"] < 6
    assert first["not_measured"] > 0
    assert whole == counts_of(tmp_path / "once", tmp_path)
    assert asked_again < fresh


def test_gaps_of_a_longer_run_are_no_gaps_of_a_shorter_one(tmp_path: Path) -> None:
    words = ("-m", "faithful", "-s", "quick", "-q", "--retries", "0", "-c", "1", "--output", "run")
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("500", after=4, model="faithful")
        toolcert("probe", vendor.url, *words, "-n", "5", cwd=tmp_path)
        assert counts_of(tmp_path / "run", tmp_path)["faithful"]["not_measured"] == 1
        vendor.restore()
        toolcert("probe", vendor.url, *words, "-n", "3", cwd=tmp_path)
    counts = counts_of(tmp_path / "run", tmp_path)["faithful"]
    assert (counts["passed"], counts["not_measured"]) == (4, 0)


def test_a_429_with_retry_after_is_waited_out(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("429", retry_after=2, count=1, model="faithful")
        began = time.monotonic()
        done = toolcert("probe", vendor.url, "--suite", "quick", "-n", "1", "--json", "-", cwd=tmp_path)
    summary = json.loads(done.stdout)["summary"]
    assert time.monotonic() - began >= 2
    assert summary["models"][0]["counts"]["passed"] == 1
    assert summary["models"][0]["usage"]["retried"] == 1


def test_a_dead_endpoint_is_one_clear_line_and_exit_3(tmp_path: Path) -> None:
    with socket.socket() as held:  # it is nobody else's meanwhile, and nobody listens
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        began = time.monotonic()
        done = toolcert("probe", f"http://127.0.0.1:{port}", cwd=tmp_path)
    assert done.returncode == 3
    assert time.monotonic() - began < 60
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error:")]
    assert len(errors) == 1
    assert str(port) in errors[0]


def test_a_wrong_key_is_exit_3_and_names_the_variable(tmp_path: Path) -> None:
    with Vendor(models=["faithful"], api_key="sk-the-right-one") as vendor:
        done = toolcert("probe", vendor.url, "--api-key-env", "MY_KEY", cwd=tmp_path, env={"MY_KEY": KEY})
    assert done.returncode == 3
    assert "MY_KEY" in done.stderr
    assert KEY not in done.stderr + done.stdout


@pytest.mark.parametrize("how", ["variable", "flag"])
def test_the_key_is_in_nothing_that_was_written(tmp_path: Path, how: str) -> None:
    """grep for the key over every file, report and stream finds nothing."""
    formats = [word for name in ("json", "junit", "markdown", "csv", "html") for word in (f"--{name}", f"r.{name}")]
    given = ["--api-key", KEY] if how == "flag" else ["--api-key-env", "MY_KEY"]
    with Vendor(models=["faithful", "text-caller"], api_key=KEY) as vendor:
        done = toolcert(
            "probe", vendor.url, "-n", "1", "--output", "run", *formats, *given, cwd=tmp_path, env={"MY_KEY": KEY}
        )
    assert done.returncode == 0, done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 7
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert KEY not in done.stdout + done.stderr
    assert done.stderr.count("TOOLCERT_API_KEY") == (1 if how == "flag" else 0)


def test_dry_run_counts_the_requests_and_sends_none(tmp_path: Path) -> None:
    with Vendor(models=["faithful", "slow"]) as vendor:
        done = toolcert("probe", vendor.url, "--suite", "hello", "-n", "10", "--dry-run", cwd=tmp_path)
        chats = [entry for entry in vendor.requests if entry.path.endswith("/chat/completions")]
    assert done.returncode == 0
    assert "up to 40 requests" in done.stdout
    assert chats == []
    assert list(tmp_path.iterdir()) == []


def test_max_requests_is_kept_and_no_model_vanishes(tmp_path: Path) -> None:
    with Vendor(models=["faithful", "slow:0.01", "text-caller"]) as vendor:
        done = toolcert("probe", vendor.url, "-n", "3", "--max-requests", "7", "--json", "-", cwd=tmp_path)
        chats = [entry for entry in vendor.requests if entry.path.endswith("/chat/completions")]
    assert len(chats) == 7
    assert len(json.loads(done.stdout)["summary"]["models"]) == 3


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--fail-under", "90", "-m", "faithful"], 0),
        (["--fail-under", "90", "-m", "text-caller"], 1),
        (["--fail-under", "90", "-m", "no-tools"], 1),
        (["--fail-under", "90", "-x", "text-caller", "-x", "no-tools"], 0),
        (["--fail-under", "90,p95<30s", "-m", "faithful"], 0),
        (["--fail-under", "p95<1ms", "-m", "faithful"], 1),
        (["--fail-under", "ttft_p95<30s", "-m", "faithful", "--probe", "basic"], 1),
        (["--fail-under", "p95<2h"], 2),
        (["--fail-under", "schema=0.9"], 2),
        (["--fail-on", "call.in_text"], 1),
        (["--fail-on", "error", "-m", "faithful"], 0),
        (["--fail-on", "no.such_code"], 2),
        (["--model", "nobody"], 3),
        (["--exclude", "re:("], 2),
        (["--iterations", "0"], 2),
        (["--adaptive", "--threshold", "1"], 2),
    ],
)
def test_gates_and_usage_decide_the_exit_code(tmp_path: Path, words: list[str], code: int) -> None:
    with Vendor(models=["faithful", "text-caller", "no-tools", "text-embedding-small"]) as vendor:
        done = toolcert("probe", vendor.url, "-n", "1", *words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_many_requests_to_another_machine_need_yes(tmp_path: Path) -> None:
    """The address is reserved for documentation; nothing is sent before the question."""
    from toolcert.api.endpoint import Endpoint
    from toolcert.api.probe import ProbeJob, ProbeOptions
    from toolcert.cli.support.run_console import ProbeConsole
    from toolcert.core.errors import UsageError
    from toolcert.core.targets import ModelInfo

    endpoint = Endpoint("https://api.vendor.example/v1", name="e")
    models = {"e": [ModelInfo(id=f"m{number}") for number in range(60)]}
    job = ProbeJob([endpoint], {}, models, ProbeOptions(suite="hello", iterations=5, output=str(tmp_path)))
    with pytest.raises(UsageError, match="600 requests"):
        ProbeConsole("probe", yes=False).confirm(job)
    ProbeConsole("probe", yes=True).confirm(job)


QUESTION = """
from toolcert.api.endpoint import wait_for
from toolcert.cli.support.run_console import confirm_requests
from toolcert.cli.support.exit import run_guarded
from toolcert.core.targets import EndpointSpec

async def ask():
    confirm_requests(501, [EndpointSpec(name="e", base_url="https://api.vendor.example")], yes=False)

raise SystemExit(run_guarded(lambda: wait_for(ask())))
"""


def asleep(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].startswith("S")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs a pseudo-terminal and Linux")
def test_ctrl_c_at_the_question_ends_at_once() -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, "-c", QUESTION], stdin=theirs, stderr=theirs)
    shown = b""
    while b"Go on?" not in shown:
        shown += os.read(ours, 1000)
    for _ in range(5):  # between the question and the reading of the answer the interpreter would not notice
        until(lambda: asleep(process.pid))
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    os.close(ours)
    os.close(theirs)


def asked(vendor: Vendor) -> list[dict[str, object]]:
    return [entry.body for entry in vendor.requests if entry.path.endswith("/chat/completions")]


def test_nonces_are_new_in_every_run_unless_a_seed_is_given(tmp_path: Path) -> None:
    """A cache between us and the model must not answer today with what it heard yesterday."""
    words = ["--suite", "quick", "-n", "1", "-q"]
    with Vendor(models=["faithful"]) as vendor:
        for seed in ([], [], ["--seed", "7"], ["--seed", "7"]):
            assert toolcert("probe", vendor.url, *words, *seed, cwd=tmp_path).returncode == 0
        first, second, seeded, again = asked(vendor)
    assert first["messages"] != second["messages"]
    assert seeded == again
    assert seeded["seed"] == 7
    assert "seed" not in first


def test_exit_3_says_why_and_not_that_an_embedding_model_cannot_chat(tmp_path: Path) -> None:
    with Vendor(models=["text-embedding-small", "fault:transport.server_error"]) as vendor:
        done = toolcert("probe", vendor.url, "-s", "quick", "-n", "1", "--retries", "0", "-q", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("Nothing could be measured: HTTP 500")


def test_listed_probes_take_one_line_each(tmp_path: Path) -> None:
    done = toolcert("probe", "--list-probes", cwd=tmp_path)
    suites = [line for line in done.stdout.splitlines() if line.startswith("suite ")]
    assert len(suites) == 4
    assert done.stdout.splitlines()[4] == ""


def test_results_go_to_stdout_and_progress_to_stderr(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        done = toolcert("probe", vendor.url, "-n", "1", cwd=tmp_path)
    assert "faithful passes: 1 of 1" in done.stdout
    assert "in flight" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("1 of 1 model done")
    assert "in flight" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise there")
def test_a_reader_that_goes_away_is_no_failed_check(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        words = [sys.executable, "-m", "toolcert", "probe", vendor.url, "-s", "quick", "-n", "1", "-q", "--json", "r"]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=PATIENCE) == 141
    assert told == b""
    assert json.loads((tmp_path / "r").read_text())["summary"]["models"], "the report is there all the same"


def test_several_endpoints_stand_side_by_side(tmp_path: Path) -> None:
    with Vendor(models={"llama": "faithful"}) as good, Vendor(models={"llama": "text-caller"}) as bad:
        (tmp_path / "toolcert.toml").write_text(
            f'[endpoints.good]\nbase_url = "{good.url}"\n[endpoints.bad]\nbase_url = "{bad.url}"\nconcurrency = 2\n'
        )
        done = toolcert("probe", "good", "bad", "-n", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "good: llama" in done.stdout
    assert "bad: llama" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("llama "))
    assert "100 passes" in line
    assert "fails" in line


def test_sampling_options_reach_the_server(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        done = toolcert(
            "probe", vendor.url, "-s", "quick", "-n", "1", "--seed", "7", "--temperature", "0.5", cwd=tmp_path
        )
        [body] = vendor.requests.bodies()
    assert done.returncode == 0, done.stderr
    assert (body["seed"], body["temperature"]) == (7, 0.5)


def test_a_dead_endpoint_among_several_is_left_out_and_named(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        done = toolcert("probe", vendor.url, "http://127.0.0.1:1", "--suite", "quick", "-n", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "127.0.0.1:1 is left out" in done.stderr
    assert "faithful" in done.stdout


def test_every_report_names_an_endpoint_that_could_not_be_measured_and_no_gate_lets_it_pass(tmp_path: Path) -> None:
    reports = ["--json", "r.json", "--html", "r.html", "--junit", "r.xml", "--markdown", "r.md"]
    with Vendor(models=["faithful"]) as vendor:
        asked = ["probe", vendor.url, "http://127.0.0.1:1", "--suite", "quick", "-n", "1"]
        done = toolcert(*asked, "--fail-under", "50", *reports, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "127.0.0.1:1 could not be measured" in done.stderr
    assert "Not measured: 127.0.0.1:1." in done.stdout
    for name in reports[1::2]:
        assert "127.0.0.1:1" in (tmp_path / name).read_text(), name
    suites = ET.parse(tmp_path / "r.xml").getroot()
    assert [case.get("classname") for case in suites.iter("testcase") if case.find("error") is not None] == [
        "127.0.0.1:1"
    ]


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        done = toolcert("probe", vendor.url, "--suite", "quick", "-n", "1", "--html", ".", cwd=tmp_path)
        assert done.returncode == 2
        assert "cannot write ." in done.stderr
        assert not vendor.requests


def test_the_page_is_named_once_it_is_written_and_the_run_always(tmp_path: Path) -> None:
    words = ["--suite", "quick", "-n", "1", "--output", "run", "--html", "page.html"]
    with Vendor(models=["faithful"]) as vendor:
        done = toolcert("probe", vendor.url, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *_, totals, page = done.stdout.splitlines()
    assert totals.endswith("Run: run")
    assert page == "Report: page.html"


@pytest.mark.parametrize("suite", ["quick", "agent", "full"])
@pytest.mark.parametrize("gate", [(), ("--fail-on", "error")])
def test_a_refused_key_measures_nothing_in_any_suite(tmp_path: Path, suite: str, gate: tuple[str, ...]) -> None:
    """Also where the list of models is public, so that one probe of `full` can be answered."""
    listing = Answer({"object": "list", "data": [{"id": "m", "object": "model"}]})
    refused = refusal(401, "Incorrect API key provided.", type="invalid_request_error", code="invalid_api_key")
    with Scripted(lambda request: listing if request.path.endswith("/models") else refused) as server:
        done = toolcert("probe", server.url, "-s", suite, "-n", "1", *gate, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "not measured" in done.stdout
    assert "Incorrect API key" in done.stderr


@pytest.mark.parametrize("suite", ["quick", "agent", "full"])
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (refusal(402, "Insufficient credits.", code=402), "the account has no credit; the server says 402"),
        (refusal(404, "The model `m` does not exist.", code="model_not_found"), "The model `m` does not exist."),
    ],
    ids=["no credit", "no such model"],
)
def test_an_empty_account_or_a_missing_model_measures_nothing_in_any_suite(
    tmp_path: Path, suite: str, answer: Answer, told: str
) -> None:
    """It is told as what it is, and not as a refused key."""
    listing = Answer({"object": "list", "data": [{"id": "m", "object": "model"}]})
    with Scripted(lambda request: listing if request.path.endswith("/models") else answer) as server:
        done = toolcert("probe", server.url, "-s", suite, "-n", "1", "--fail-on", "error", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert told in done.stderr
    assert "refuses the key" not in done.stderr + done.stdout


def test_a_key_that_is_refused_in_mid_run_meets_no_gate(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("401", after=20, model="faithful")
        done = toolcert(
            "probe", vendor.url, "-s", "full", "-n", "1", "--fail-on", "error", "--json", "run.json", cwd=tmp_path
        )
    assert done.returncode == 3, done.stderr
    (model,) = json.loads((tmp_path / "run.json").read_text())["summary"]["models"]
    assert model["verdict"]["word"] in ("undecided", "not_measured")


def test_a_server_that_fails_at_random_is_not_told_to_refuse_anything(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("500", share=0.3, model="faithful")
        done = toolcert("probe", vendor.url, "-s", "full", "-n", "1", "--retries", "0", cwd=tmp_path)
    assert "before the model is asked" not in done.stdout
    assert "schema.valid_rejected" not in done.stdout
    assert "transport.server_error" in done.stdout


def test_a_score_above_the_gate_does_not_hide_an_error(tmp_path: Path) -> None:
    with Vendor(models=["stream-cutter"]) as vendor:
        asked = ["probe", vendor.url, "--suite", "agent", "-n", "1", "--fail-under", "90"]
        done = toolcert(*asked, cwd=tmp_path)
        allowed = toolcert(*asked, "--allow", "stream.cut", cwd=tmp_path)
        proof = toolcert(*asked, "--allow", "stream.cut", "--require", "certified", cwd=tmp_path)
    assert done.returncode == 1
    assert "scores 95, but has stream.cut: --allow stream.cut would allow it." in done.stderr
    assert allowed.returncode == 0, allowed.stderr
    assert proof.returncode == 1


def test_a_plan_says_what_a_second_look_may_add(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        done = toolcert("probe", vendor.url, "--suite", "quick", "-n", "5", "--dry-run", cwd=tmp_path)
    assert "up to 5 requests without retries" in done.stdout
    assert "up to 1 more where an error is seen in one case only" in done.stdout
