"""`toolcert compare` and `toolcert bless` as people type them: output, files, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from support.comparison_runs import Row, same_rows, write_results, write_run
from support.patience import PATIENCE
from toolcert.cli.main import cli
from toolcert.reports.json import CompareReport

ROWS = same_rows(300)


def toolcert(*words: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(cli, [str(word) for word in words])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    fewer = [msgspec.structs.replace(row, called=bool(row.called) and row.index % 4 != 0) for row in ROWS]
    gone = [msgspec.structs.replace(row, called=None) if row.index < 4 else row for row in ROWS]
    return {
        "one": write_run(tmp_path / "one", ROWS),
        "two": write_run(tmp_path / "two", ROWS),
        "same": write_run(tmp_path / "same", ROWS),
        "fewer": write_run(tmp_path / "fewer", fewer),
        "gone": write_run(tmp_path / "gone", gone),
        "few": write_run(tmp_path / "few", ROWS[:15]),
    }


def test_several_runs_follow_one_flag(runs):
    code, out, _ = toolcert("compare", "--baseline", runs["one"], runs["two"], "--vendor", runs["same"], runs["fewer"])
    assert code == 0
    assert out.index("same") < out.index("fewer"), "the best first"
    assert "Equivalent to the baseline" in out
    assert "Degraded against the baseline" in out
    assert "AT LEAST" in out


def test_flags_may_also_be_repeated(runs):
    code, out, _ = toolcert("compare", "--baseline", runs["one"], "--vendor", runs["same"], "--baseline", runs["two"])
    assert code == 0
    assert "noise ceiling from two" in out


def test_the_result_tells_everything_in_words(runs):
    _, out, _ = toolcert("compare", "--baseline", runs["one"], runs["two"], "--vendor", runs["fewer"])
    for heading in ("WHO CALLED", "MEASURE", "SIGN", "SCHEMA OF THE CALLS", "ROWS THAT DIFFER"):
        assert heading in out
    assert "call missed" in out
    assert "curl -sS" in out
    assert "$KEY" in out


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("vendor", "gate", "code"),
    [
        ("same", (), 0),
        ("fewer", (), 0),
        ("fewer", ("--fail-on", "regression"), 1),
        ("same", ("--fail-on", "regression"), 0),
        ("gone", (), 1),
        ("gone", ("--fail-on", "none"), 0),
        ("gone", ("--fail-on", "regression"), 0),
        ("gone", ("--fail-on", "regression,missing"), 1),
        ("fewer", ("--fail-on", "trigger.under"), 1),
        ("fewer", ("--fail-on", "warning"), 1),
    ],
)
def test_gates_and_their_exit_codes(runs, vendor, gate, code):
    found, _, err = toolcert("compare", "--baseline", runs["one"], runs["two"], "--vendor", runs[vendor], *gate)
    assert found == code
    assert ("--fail-on" in err) == (code == 1)


def test_too_few_rows_are_inconclusive_and_can_be_gated(runs):
    words = ("compare", "--baseline", runs["few"], "--vendor", runs["same"], "--fail-on", "inconclusive")
    code, out, _ = toolcert(*words)
    assert code == 1
    assert "Inconclusive" in out


def test_an_unknown_gate_is_a_usage_error(runs):
    code, _, err = toolcert("compare", "--baseline", runs["one"], "--vendor", runs["same"], "--fail-on", "sunshine")
    assert code == 2
    assert "sunshine" in err


def test_a_gate_that_could_never_close_is_a_usage_error(runs):
    words = ("compare", "--baseline", runs["one"], "--vendor", runs["same"], "--fail-on", "trigger.udner")
    code, _, err = toolcert(*words)
    assert code == 2
    assert "trigger.udner" in err
    assert "regression" in err


def test_no_gate_blames_the_vendor_for_what_the_baseline_shows(tmp_path):
    renamed = write_results(tmp_path / "renamed.jsonl", ROWS, answers_as="another")
    other = write_results(tmp_path / "vendor.jsonl", ROWS)
    gate = ("--fail-on", "identity.model_differs")
    code, out, _ = toolcert("compare", "--baseline", renamed, "--vendor", other, *gate)
    assert code == 0
    assert "identity.model_differs" in out
    assert toolcert("compare", "--baseline", other, "--vendor", renamed, *gate)[0] == 1


def test_a_plan_counts_the_vendors_that_will_share_alpha():
    one, three = (toolcert("compare", "--plan", "--vendor", *names)[1] for names in (("a",), ("a", "b", "c")))
    assert "shared by 4 tests" in one
    assert "shared by 12 tests" in three
    assert int(one.split()[0]) < int("".join(three.split("rows")[0].split()))


def test_a_plan_writes_no_report(tmp_path):
    code, _, err = toolcert("compare", "--plan", "--json", tmp_path / "plan.json")
    assert code == 2
    assert "--plan only prints" in err


def test_json_on_stdout_is_only_json(runs):
    code, out, _ = toolcert("compare", "--baseline", runs["one"], "--vendor", runs["fewer"], "--json", "-")
    assert code == 0
    report = msgspec.json.decode(out, type=CompareReport)
    assert report.comparison.vendors[0].verdict == "degraded"
    assert json.loads(out)["comparison"]["vendors"][0]["missing"]["vendor_failed"] == 0, "zeros are written"


def test_markdown_is_a_table_to_paste(runs, tmp_path):
    path = tmp_path / "board.md"
    toolcert("compare", "--baseline", runs["one"], "--vendor", runs["same"], runs["fewer"], "--markdown", path)
    text = path.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| same", "| fewer"))]
    assert len(rows) == 2
    assert "equivalent" in rows[0]
    assert "degraded" in rows[1]


def test_a_plan_needs_no_runs():
    code, out, _ = toolcert("compare", "--plan", "--effect", "0.03")
    assert code == 0
    assert "rows are needed to find a difference on 3 % of them" in out
    assert "(measured)" not in out


def test_a_plan_measures_the_noise_of_two_baseline_runs(tmp_path):
    flipped = [msgspec.structs.replace(row, called=not row.called) if row.index <= 30 else row for row in ROWS]
    one, two = write_run(tmp_path / "one", ROWS), write_run(tmp_path / "two", flipped)
    _, out, _ = toolcert("compare", "--plan", "--baseline", one, two)
    assert "10.0 % of the rows (measured)" in out


def test_nothing_to_compare_is_a_usage_error():
    code, _, err = toolcert("compare")
    assert code == 2
    assert "at least one baseline and one vendor" in err


def test_an_unreadable_input_exits_2_and_nothing_answered_exits_3(runs, tmp_path):
    assert toolcert("compare", "--baseline", runs["one"], "--vendor", tmp_path / "nothing")[0] == 2
    silent = write_run(tmp_path / "silent", [msgspec.structs.replace(row, called=None) for row in ROWS])
    assert toolcert("compare", "--baseline", runs["one"], "--vendor", silent)[0] == 3


def test_blessing_and_comparing_with_the_name(runs, tmp_path):
    shelf = tmp_path / "shelf"
    code, out, _ = toolcert("bless", runs["one"], "--as", "official", "--baselines", shelf)
    assert code == 0
    assert out.startswith("official is ")
    words = ("compare", "--baseline", "official", "--vendor", runs["same"], "--baselines", shelf)
    assert toolcert(*words)[0] == 0
    write_run(runs["one"], ROWS[:200])
    code, _, err = toolcert(*words)
    assert code == 2
    assert "stale" in err
    assert toolcert(*words, "--force", "--fail-on", "none")[0] == 0


def test_blessing_another_run_says_which_one_it_replaces(runs, tmp_path):
    words = ("--as", "official", "--baselines", tmp_path / "shelf")
    assert "place of" not in toolcert("bless", runs["one"], *words)[1]
    assert "place of" not in toolcert("bless", runs["one"], *words)[1], "the same run again replaces nothing"
    _, out, _ = toolcert("bless", runs["same"], *words)
    assert f"It replaces {runs['one']} (sha256 " in out
    (tmp_path / "shelf" / "official.json").write_text("{")
    assert toolcert("bless", runs["one"], *words)[0] == 0, "a damaged one is mended by blessing again"


def test_by_index_and_by_finish_reason(tmp_path):
    older = [Row(index=i, finish="stop" if i % 3 == 0 else None) for i in range(1, 31)]
    one = write_results(tmp_path / "a.jsonl", [Row(index=i) for i in range(1, 31)])
    two = write_results(tmp_path / "b.jsonl", older)
    words = ("compare", "--baseline", one, "--vendor", two, "--match", "index", "--json", "-")
    by_payload = json.loads(toolcert(*words)[1])["comparison"]["vendors"][0]["cells"]
    assert (by_payload["tp"], by_payload["fn"]) == (30, 0)
    by_reason = json.loads(toolcert(*words, "--trigger", "finish-reason")[1])["comparison"]["vendors"][0]["cells"]
    assert (by_reason["tp"], by_reason["fn"]) == (20, 10)


def test_text_of_models_cannot_control_the_terminal(tmp_path):
    rows = [Row(index=i, question=f"\x1b[31m{i}\nnext", called=True) for i in range(1, 5)]
    other = [msgspec.structs.replace(row, called=False, text="\x1b]0;owned\x07\u202e") for row in rows]
    one, two = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", other)
    _, out, _ = toolcert("compare", "--baseline", one, "--vendor", two)
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.heavy
def test_a_reader_that_goes_away_does_not_cost_the_page(runs, tmp_path):
    words = ["compare", "--baseline", runs["one"], runs["two"], "--vendor", runs["fewer"], "--html", "page.html"]
    child = subprocess.Popen([sys.executable, "-m", "toolcert", *map(str, words)], cwd=tmp_path, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    assert child.wait(timeout=PATIENCE) == 141
    assert (tmp_path / "page.html").stat().st_size > 10_000
