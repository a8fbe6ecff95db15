"""What the viewer tells the browser, over real HTTP."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support.patience import until
from toolcert.runs.marks import MARKS, Mark, MarkKind, append_mark, read_marks
from toolcert.runs.reader import read_manifest
from toolcert.view.case_index import CaseIndex
from toolcert.view.viewer import Viewer
from view.conftest import Client

RUN = "/api/runs/c41e88d0"


def read(client: Client, path: str = RUN) -> Any:
    """The run once its certificate is made and its log is searchable."""

    def told() -> Any:
        found = client.ask(path).json
        return found if found["card"] and found["index"]["searchable"] == found["size"] else None

    return until(told)


@pytest.fixture
def client(viewed: Callable[..., Viewer], small_run: Path) -> Client:
    return Client(viewed(small_run.parent)).let_in()


def test_the_list_of_runs_has_verdict_target_suite_and_counts(client: Client) -> None:
    read(client)
    [run] = client.ask("/api/runs").json["runs"]
    assert (run["job"], run["models"], run["endpoints"]) == ("verify", ["corvid-120b"], ["vendor"])
    assert run["suite"].endswith("requests.jsonl")
    assert run["index"]["cases"] == 120
    assert run["word"] == "fails"


def test_the_certificate_is_that_of_the_page(client: Client) -> None:
    card = read(client)["card"]
    page = client.ask("/runs/c41e88d0/report").body.decode()
    assert card["headline"] in page
    assert all(value in page for _, value in card["facts"])


def test_cases_are_searched_sorted_and_windowed(client: Client) -> None:
    read(client)
    told = client.ask(f"{RUN}/cases?q=outcome%3Afailed&sort=-latency&count=3").json
    assert len(told["rows"]) == 3
    assert told["total"] > 3
    assert told["rows"][0]["seconds"] >= told["rows"][1]["seconds"]
    around = client.ask(f"{RUN}/cases?case=row-60&count=7").json
    assert around["rows"][around["place"] - around["start"]]["key"] == "row-60"


def test_a_wrong_question_gets_a_sentence(client: Client) -> None:
    for query in ("sort=nothing", "q=latency%3Esoon", "q=" + "x" * 3000):
        answer = client.ask(f"{RUN}/cases?{query}")
        assert answer.status == 400
        assert answer.json["error"]


def test_what_is_not_there_gets_a_sentence(client: Client) -> None:
    for path in ("/api/runs/none", f"{RUN}/case?key=none", f"{RUN}/case"):
        answer = client.ask(path)
        assert answer.status == 404
        assert answer.json["error"].endswith(".")


def test_a_case_shows_conversation_wire_and_judgement(client: Client) -> None:
    read(client)
    case = client.ask(f"{RUN}/case?key=row-2").json
    [turn] = case["turns"]
    assert turn["messages"][0]["text"].startswith("Question 2:")
    assert turn["answer"]["calls"][0]["arguments"] == '{\n  "a": 1\n}'
    assert turn["wire"]["curl"].startswith("curl -sS")
    assert [step["title"] for step in case["steps"]] == ["Transport", "Reading", "Calls", "Checks", "Outcome"]
    assert case["findings"][0]["code"] == "args.schema.required"
    assert case["findings"][0]["remedy"]


@pytest.mark.heavy
@pytest.mark.parametrize("job", ["verify", "probe"])
def test_a_stream_shows_when_each_event_came(viewed: Callable[..., Viewer], stalled_runs: Path, job: str) -> None:
    """The pause is at the event that follows it; first token and first call are where the wire had them."""
    client = Client(viewed(stalled_runs / job)).let_in()
    name = client.ask("/api/runs").json["runs"][0]["run"]
    read(client, f"/api/runs/{name}")
    cases = [row["key"] for row in client.ask(f"/api/runs/{name}/cases").json["rows"]]
    turns = [
        turn for key in cases for turn in client.ask(f"/api/runs/{name}/case?key={quote(key, safe='')}").json["turns"]
    ]
    wires = [turn["wire"] for turn in turns if turn["wire"]["events"]]
    assert wires
    for wire in wires:
        events = wire["events"]
        assert [one["signs"] for one in events] == [[], ["first token"], [], ["first call"], ["longest pause"], [], []]
        assert events[4]["after"] >= 0.3
        assert [one["at"] for one in events] == sorted(one["at"] for one in events)
        assert events[-1]["at"] <= wire["attempts"][-1]["timing"]["last_byte"]
        assert [one["says"] for one in events[:2]] == ["role assistant", "text I look."]
        assert "was before event 5." in wire["pace"]
    page = client.ask(f"/runs/{name}/report").body.decode()
    assert "was before event 5." in page


def test_a_stream_of_an_older_run_shows_its_events_without_times(viewed: Callable[..., Viewer], tmp_path: Path) -> None:
    with tarfile.open(Path(__file__).parents[1] / "data/v0.1/written.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    client = Client(viewed(tmp_path / "verify/streamed-faithful")).let_in()
    name = client.ask("/api/runs").json["runs"][0]["run"]
    read(client, f"/api/runs/{name}")
    keys = [row["key"] for row in client.ask(f"/api/runs/{name}/cases").json["rows"]]
    cases = [client.ask(f"/api/runs/{name}/case?key={quote(key, safe='')}").json for key in keys]
    wires = [turn["wire"] for case in cases for turn in case["turns"] if turn["wire"]["events"]]
    assert wires
    assert {(wire["pace"], event["at"]) for wire in wires for event in wire["events"]} == {("", None)}


def test_the_line_of_a_case_is_given_to_save_and_not_to_show(client: Client) -> None:
    read(client)
    answer = client.ask(f"{RUN}/line?key=row-2")
    assert json.loads(answer.body)["case"] == "row-2"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"


def test_a_mark_is_kept_beside_the_run_and_found_again(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_run, tmp_path / "marked")
    client = Client(viewed(folder)).let_in()
    read(client)
    mark = {"case": "row-2", "kind": "known", "finding": "args.schema.required", "note": "<b>asked</b> \u202e"}
    assert client.post(f"{RUN}/marks", mark).status == 201
    [kept] = read_marks(folder / MARKS)
    assert (kept.case, kept.kind, kept.finding, kept.note) == tuple(mark.values())
    assert kept.content
    assert client.ask(f"{RUN}/case?key=row-2").json["marks"][0]["note"] == mark["note"]
    assert [row["key"] for row in client.ask(f"{RUN}/cases?q=mark%3Aknown").json["rows"]] == ["row-2"]


def test_the_report_shows_a_mark_that_was_set_after_it_was_made(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    client = Client(viewed(shutil.copytree(small_run, tmp_path / "marked"))).let_in()
    read(client)
    assert b"ticket 12" not in client.ask("/runs/c41e88d0/report").body
    client.post(f"{RUN}/marks", {"case": "row-2", "kind": "known", "note": "ticket 12"})
    assert b"ticket 12" in client.ask("/runs/c41e88d0/report").body


def test_a_case_of_a_probe_is_found_by_its_tool_and_by_a_mark_about_the_probe(
    viewed: Callable[..., Viewer], streamed_runs: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(streamed_runs / "probe", tmp_path / "marked")
    client = Client(viewed(folder)).let_in()
    run = f"/api/runs/{read_manifest(folder).run}"
    assert [name for name, _ in read(client, run)["card"]["speeds"]] == ["m"]
    [case] = client.ask(f"{run}/cases?q=tool%3Aget_weather").json["rows"]
    assert case["outcome"] == "failed"
    assert case["tokens_out"] is None, "the server did not say how many"
    append_mark(folder / MARKS, Mark(case=case["key"].rpartition("/")[0], kind=MarkKind.KNOWN))
    for query in ("mark:any", "mark:known"):
        [found] = client.ask(f"{run}/cases?q={quote(query)}").json["rows"]
        assert found["marks"] == ["known"]


@pytest.mark.filterwarnings("ignore:the marks of")
def test_damaged_marks_cost_the_marks_and_not_the_run(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_run, tmp_path / "marked")
    (folder / MARKS).write_text('{"garbage\n')
    client = Client(viewed(folder)).let_in()
    read(client)
    for path in (RUN, f"{RUN}/cases", f"{RUN}/case?key=row-2"):
        assert client.ask(path).status == 200, path


def test_what_is_no_mark_is_refused(client: Client, small_run: Path) -> None:
    read(client)
    known = {"case": "row-2", "kind": "known"}
    wrong: list[Any] = [{}, {"case": "row-2"}, {"case": "row-2", "kind": "fine"}, [], "x"]
    for mark in (*wrong, known | {"finding": "no.such"}, known | {"note": "x" * 5000}):
        assert client.post(f"{RUN}/marks", mark).status == 400
    assert client.post(f"{RUN}/marks", {"case": "none", "kind": "known"}).status == 404
    assert not (small_run / MARKS).exists()


def test_a_search_goes_through_the_cases_of_all_runs(client: Client) -> None:
    read(client)
    [hit] = client.ask("/api/search?q=%22Question+77%22").json["hits"]
    assert (hit["run"], hit["cases"], hit["first"][0]["key"]) == ("c41e88d0", 1, "row-77")


def test_runs_with_the_same_id_have_addresses_of_their_own(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        shutil.copytree(small_run, tmp_path / "runs" / name)
    names = [run["run"] for run in Client(viewed(tmp_path / "runs")).let_in().ask("/api/runs").json["runs"]]
    assert len(set(names)) == 2


def test_an_id_that_could_not_stand_in_an_address_is_replaced(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_run, tmp_path / "runs" / "odd")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"run": "../<script>"}))
    [run] = Client(viewed(tmp_path / "runs")).let_in().ask("/api/runs").json["runs"]
    assert run["run"].startswith("run-")


def test_a_folder_that_is_no_run_is_told_and_the_others_are_shown(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    shutil.copytree(small_run, tmp_path / "runs" / "good")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "manifest.json").write_text("{")
    told = Client(viewed(tmp_path / "runs")).let_in().ask("/api/runs").json
    assert len(told["runs"]) == 1
    assert "damaged" in told["troubles"][0]["why"]


def test_a_run_that_we_fail_to_read_does_not_keep_others_from_being_read(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):
        shutil.copytree(small_run, tmp_path / "runs" / name)
    grow = CaseIndex.grow

    def fails(index: CaseIndex, most: float = 0.25) -> bool:
        if index.log.parent.name == "bad":
            raise LookupError("a bug of ours")
        return grow(index, most)

    monkeypatch.setattr(CaseIndex, "grow", fails)
    client = Client(viewed(tmp_path / "runs")).let_in()

    def told() -> Any:
        found = {Path(run["folder"]).name: run for run in client.ask("/api/runs").json["runs"]}
        return found if found["good"]["word"] and found["bad"]["headline"] else None

    assert "LookupError: a bug of ours" in until(told)["bad"]["headline"]


def test_a_case_with_hostile_text_comes_as_ascii(viewed: Callable[..., Viewer], hostile_run: Path) -> None:
    client = Client(viewed(hostile_run)).let_in()
    read(client)
    answer = client.ask(f"{RUN}/case?key={quote('row-2')}")
    assert answer.body.isascii()
    assert "<script>" in answer.json["model"]
    assert answer.headers["content-type"].startswith("application/json")


def test_a_log_that_cannot_be_summed_up_costs_its_own_run_alone(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path
) -> None:
    """It is told, its other cases are listed, and the runs beside it are read."""
    bad = shutil.copytree(small_run, tmp_path / "runs" / "bad")
    manifest = json.loads((bad / "manifest.json").read_bytes())
    (bad / "manifest.json").write_text(json.dumps(manifest | {"run": "bad00001", "started_at": 1.8e9}))
    lines = (bad / "records.jsonl").read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"messages":[', b'"messages":[' + b"[" * 600 + b"]" * 600 + b",")
    (bad / "records.jsonl").write_bytes(b"".join(lines))
    shutil.copytree(small_run, tmp_path / "runs" / "good")
    client = Client(viewed(tmp_path / "runs")).let_in()
    assert read(client)["card"]["headline"]
    told = read(client, "/api/runs/bad00001")
    assert told["index"]["cases"] == 120
    assert told["headline"]
    assert client.ask("/api/runs/bad00001/case?key=row-3").status == 200
    assert client.ask("/api/runs/bad00001/case?key=row-2").status in (200, 500)
