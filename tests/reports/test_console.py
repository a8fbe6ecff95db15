"""The console: within its width, plain where it must be, and never obeying what a vendor wrote."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from reports.hostile import HOSTILE, HUGE
from reports.samples import probe_summary
from toolcert.comparison.result import Comparison
from toolcert.core.cases import Case, Outcome
from toolcert.core.events import CaseFinished, CaseStarted, RunFinished, RunStopping
from toolcert.core.records import Record
from toolcert.core.statistics.rates import Certainty
from toolcert.core.targets import EndpointSpec
from toolcert.probes.summary.scorecard import Usage
from toolcert.reports.compare.console import print_comparison
from toolcert.reports.console.progress import PlainProgress, progress
from toolcert.reports.console.record import print_record
from toolcert.reports.console.style import Screen
from toolcert.reports.display_text import (
    clock,
    cut,
    duration,
    fit,
    listed,
    seconds,
    shorten,
    visible,
    visible_lines,
    width_of,
)
from toolcert.reports.probe.console import print_probe, vendors_side_by_side
from toolcert.reports.probe.phrases import still_open
from toolcert.reports.verify.console import print_verify
from toolcert.verification.rejudgement import manifest_of
from toolcert.verification.single_row import find_row
from toolcert.verification.summary.tally import summarise

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Terminal(io.StringIO):
    """Text in memory that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(show: Callable[[Screen], None], width: int | None = 80, *, terminal: bool = False) -> str:
    out = Terminal() if terminal else io.StringIO()
    show(Screen(out, width))
    return out.getvalue()


@pytest.mark.parametrize("endpoints", [2, 3, 7])
def test_the_same_model_at_many_vendors_fits_the_width_and_misses_none(endpoints: int) -> None:
    one = probe_summary(2)
    names = [f"vendor-{number}" for number in range(endpoints)]
    summary = structs.replace(
        one,
        endpoints=tuple(EndpointSpec(name=name) for name in names),
        models=tuple(structs.replace(model, endpoint=name) for name in names for model in one.models),
    )
    lines = [line.plain for line in vendors_side_by_side(summary, 80)]
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)
    heads = " ".join(line for line in lines if line.startswith("SAME MODEL"))
    assert [name for name in names if name in heads.split()] == names


def test_a_cost_that_lacks_prices_says_so() -> None:
    one = probe_summary(2)
    priced = Usage(requests=5, cost=0.5)
    totals = structs.replace(one.totals, usage=structs.replace(one.totals.usage, cost=0.5))
    for other, said in ((priced, "cost $0.50"), (Usage(requests=5), "cost $0.50 (1 of 2 models priced)")):
        models = [structs.replace(model, usage=usage) for model, usage in zip(one.models, (priced, other), strict=True)]
        summary = structs.replace(one, models=tuple(models), totals=totals)
        assert f"{said}, " in printed(partial(print_probe, summary), 500)


def test_colour_repeats_the_word() -> None:
    """Without colours the same text is there."""
    summary = probe_summary(5)
    coloured = printed(lambda screen: print_probe(summary, screen), terminal=True)
    assert COLOURS.search(coloured)
    assert COLOURS.sub("", coloured) == printed(lambda screen: print_probe(summary, screen))


@pytest.mark.heavy
def test_only_the_live_progress_of_a_terminal_loads_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a tenth of a second to import, which every other command would pay for nothing."""
    rooms = ("probe", "verify", "compare", "history")
    code = f"import sys; [__import__(f'toolcert.reports.{{room}}.console') for room in {rooms}]"
    code += (
        "; from toolcert.reports.console.progress import progress; progress('title'); assert 'rich' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "title\n"
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert type(progress("title")).__name__ == "LiveProgress"
    assert type(progress("title", quiet=True)).__name__ == "PlainProgress"


def test_the_counts_of_a_line_belong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each handler sees all cases of a batch before the next one does."""
    monkeypatch.setattr("toolcert.reports.console.progress.PLAIN_SECONDS", 0.0)
    out, counted = io.StringIO(), 0
    shown = PlainProgress("title", out, lambda: f"valid {counted}")
    case = Case(key="k", endpoint="e", model="m")
    done = CaseFinished(record=Record(case="k", endpoint="e", model="m", outcome=Outcome.PASSED))
    for _ in range(3):
        shown(CaseStarted(case=case))
        counted += 20
        for _ in range(20):
            shown(done)
    shown(RunFinished())
    told = [re.findall(r"^\D*(\d+)|valid (\d+)", line) for line in out.getvalue().splitlines()[1:]]
    assert [first[0] for first, *_ in told] == ["0", "20", "40", "60"]
    assert [last[1] for *_, last in told] == ["0", "20", "40", "60"]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_first_ctrl_c_is_answered_beside_the_progress(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setenv("TERM", "xterm")
    with progress("title") as display:
        display(RunStopping(grace=30))
        display.say("line 7 is not asked")
    assert "Stopping; answers under way have 30 s to arrive. Ctrl-C again stops at once.\n" in out.getvalue()
    assert "line 7 is not asked\n" in out.getvalue()


@pytest.mark.parametrize(("count", "told"), [(1, "an error was seen once"), (3, "the verdict leaves errors out")])
def test_a_caveat_stands_beside_a_good_verdict_and_says_why(count: int, told: str) -> None:
    """What was seen more than once is left out only where the user knows or allows it."""
    summary = probe_summary(1)
    [model] = summary.models
    findings = tuple(structs.replace(found, count=count) for found in model.findings)
    summary = structs.replace(summary, models=(structs.replace(model, findings=findings),))
    text = printed(lambda screen: print_probe(summary, screen))
    assert "passes !" in text
    assert f"! {told}, see below" in text


def test_the_result_of_a_dataset_names_the_model_that_was_asked(verify_run: Path) -> None:
    summary = summarise(verify_run)
    assert summary.dataset is not None
    name = Path(summary.dataset.path).name
    assert f"{summary.model} at {summary.endpoint}, {name}" in printed(lambda screen: print_verify(summary, screen))


def test_without_utf8_every_sign_is_ascii(verify_run: Path) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    screen = Screen(out, 80)
    print_probe(probe_summary(6, probes=9), screen)
    print_verify(summarise(verify_run), screen)
    out.flush()
    text = out.buffer.getvalue().decode("ascii")
    assert "+ passes" in text
    assert "####" in text


@pytest.mark.heavy
def test_piped_sentences_stay_whole(three_vendors: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that they can be searched for."""
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed(partial(print_comparison, three_vendors), None).splitlines()
    assert {vendor.headline for vendor in three_vendors.vendors} <= set(lines)


def test_each_vendor_of_several_is_named_before_its_verdict(three_vendors: Comparison) -> None:
    lines = printed(partial(print_comparison, three_vendors), 500).splitlines()
    for vendor in three_vendors.vendors:
        assert lines[lines.index(vendor.headline) - 1] == vendor.side.label


def test_call_rates_and_trivial_baselines_stand_beside_f1(comparison: Comparison) -> None:
    text = printed(partial(print_comparison, comparison), 500)
    cells, f1 = comparison.vendors[0].cells, comparison.vendors[0].figure("f1")
    assert f"calls on {100 * cells.vendor_rate:.1f} %" in text
    trivial = f"F1 of trivial baselines: {f1.always:.3f} for always calling, {f1.blind:.3f} for calling as often"
    assert f"{trivial} but at random; the best possible at these rates is {f1.best:.3f}." in text


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_text_is_shown_and_not_obeyed(
    terminal: bool, hostile_verify_run: Path, hostile_comparison: Comparison
) -> None:
    """No escape sequence, bell, NUL or change of direction reaches the terminal; colours are our own."""
    record = find_row(hostile_verify_run, "2")
    texts = [
        printed(lambda screen: print_probe(probe_summary(3, hostile=True), screen), terminal=terminal),
        printed(lambda screen: print_verify(summarise(hostile_verify_run), screen), terminal=terminal),
        printed(lambda screen: print_record(record, manifest_of(hostile_verify_run), screen), terminal=terminal),
        printed(partial(print_comparison, hostile_comparison), terminal=terminal),
    ]
    for text in texts:
        assert "<script>" in text
        assert not OBEYED.search(COLOURS.sub("", text))


def test_visible_keeps_what_it_cannot_show() -> None:
    assert visible("a\x1b[31m\x00\u202e\nb") == "a␛[31m␀\\u202e⏎b"
    assert visible_lines("a\r\nb\x1b") == "a\nb␛"
    assert not OBEYED.search(visible(HOSTILE))


def test_a_megabyte_is_cut_quickly() -> None:
    """In a fraction of a second: a report may hold a hundred such texts."""
    assert width_of(shorten(HUGE, 80)) == 80
    assert len(cut(HUGE, 500)) == 500
    assert width_of(fit(HUGE, 40)) == 40


def test_wide_characters_count_twice() -> None:
    assert width_of("温度") == 4
    assert shorten("温度温度", 5) == "温度…"
    assert width_of(fit("温度", 7)) == 7


def test_times_as_people_read_them() -> None:
    assert (duration(402), duration(8.25), duration(7300)) == ("6 min 42 s", "8.25 s", "2 h 1 min")
    assert (clock(147), clock(9), clock(3725)) == ("2:27", "0:09", "1:02:05")


def test_an_open_reliability_says_how_many_clean_runs_would_decide() -> None:
    summary = structs.replace(probe_summary(3), threshold=0.95)
    text = " ".join(printed(lambda screen: print_probe(summary, screen)).split())
    assert "10 runs are too few to be sure; 73 passing runs would certify (-n 73)." in text


def test_where_all_is_decided_or_nothing_can_be_proven_nobody_is_sent_to_ask_more() -> None:
    summary = probe_summary(3)
    settled = [
        structs.replace(model, reliability=structs.replace(model.reliability, certainty=Certainty.PROVEN))
        for model in summary.models
    ]
    assert still_open(summary)
    assert not still_open(structs.replace(summary, models=tuple(settled)))
    assert not still_open(structs.replace(summary, threshold=1.0))


def test_times_below_a_hundredth_are_not_zero() -> None:
    assert [seconds(value) for value in (None, 0.0, 0.0024, 0.01, 0.094, 12.34, 250.0)] == [
        "–", "0.000", "0.002", "0.01", "0.09", "12.3", "250",
    ]  # fmt: skip


def test_the_folder_of_the_run_is_named_at_the_end() -> None:
    summary = probe_summary(1)
    assert printed(lambda screen: print_probe(summary, screen, run="runs/1")).rstrip().endswith("Run: runs/1")


@pytest.mark.parametrize(
    ("columns", "shown"), [(40, "11, 2345, 678, …"), (16, "11, 2345, 678, …"), (15, "11, 2345, …"), (3, "11, …")]
)
def test_no_row_number_is_cut(columns: int, shown: str) -> None:
    """Half a number would be another row."""
    assert listed([11, 2345, 678], 4, columns) == shown


def test_all_rows_that_fit_are_listed_without_a_mark() -> None:
    assert listed([11, 2345], 2, 8) == "11, 2345"
    assert listed([11, 2345], 2, 7) == "11, …"
    assert listed([], 0, 10) == ""
