"""Markdown that shows text as it is and fits where it is pasted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from reports.hostile import HOSTILE
from reports.samples import probe_summary
from support.histories import made
from toolcert.comparison.result import Comparison
from toolcert.reports.formats import Extras, render
from toolcert.reports.history.readme import section
from toolcert.reports.markdown import LONGEST, escape, prose
from toolcert.verification.summary.tally import summarise

ACTIVE = {"html_inline", "html_block", "link_open", "image"}


def kinds(text: str) -> set[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return {child.type for token in tokens for child in (token, *(token.children or []))}


def columns(text: str) -> set[int]:
    """How many cells the lines of its tables have."""
    rows = [line.replace("\\|", "") for line in text.splitlines() if line.startswith("|")]
    return {row.count("|") for row in rows}


def test_a_probe_summary_has_a_line_per_model_and_finding() -> None:
    text = str(render("probe", "markdown", probe_summary(5)))
    assert text.count("vendor/model-") == 5
    assert "`call.in_text`" in text
    assert "table_open" in kinds(text)


def test_a_good_verdict_beside_an_error_has_a_caveat() -> None:
    text = str(render("probe", "markdown", probe_summary(1)))
    assert "passes, 1 error" in text


def test_a_verify_summary_keeps_vendor_and_dataset_apart(verify_run: Path) -> None:
    text = str(render("verify", "markdown", summarise(verify_run), Extras(run=str(verify_run))))
    vendor, dataset = text.index("Problems of the vendor"), text.index("Problems of the dataset")
    assert vendor < text.index("args.schema.required") < dataset < text.index("dataset.bad_schema")


def test_what_does_not_fit_is_counted() -> None:
    text = str(render("probe", "markdown", probe_summary(900, probes=2)))
    assert len(text.encode()) <= LONGEST
    assert "more |" in text
    shown = text.count("vendor/model-")
    assert f"{900 - shown} models more" in text


@pytest.mark.parametrize("text", [HOSTILE, "[a](javascript:1)", "![x](http://x)", "<b>", "www.example.com", "`code`"])
def test_escaped_text_is_only_text(text: str) -> None:
    assert not kinds(escape(text)) & ACTIVE
    assert "code_inline" not in kinds(escape(text))


def test_nobody_is_mentioned() -> None:
    assert escape("@team #12") == "@&#8203;team #&#8203;12"


def test_our_own_sentences_keep_their_code_spans() -> None:
    assert prose("left in `tool_calls` <b>") == "left in `tool_calls` \\<b\\>"


def test_hostile_reports_are_inert(hostile_verify_run: Path, hostile_comparison: Comparison) -> None:
    """No markup, link or image, and no table broken by a vendor's text."""
    texts = [
        str(render("probe", "markdown", probe_summary(3, hostile=True))),
        str(render("verify", "markdown", summarise(hostile_verify_run))),
        str(render("compare", "markdown", hostile_comparison)),
    ]
    for text in texts:
        assert not kinds(text) & ACTIVE
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert columns(texts[0]) == {7, 5}


def test_plain_sentences_stay_plain_in_the_source() -> None:
    """A reviewer reads the file, too: nothing is escaped that would not be obeyed."""
    told = "Best choice: a (5 of 5 runs), 0.09 s; leaves the call of get_weather as text!"
    assert escape(told) == told


@pytest.mark.parametrize("text", ["http://x.example/", "see https://x.example", ":tada:", "_a_", "__a__", "$x$ $y$"])
def test_what_would_be_obeyed_is_not(text: str) -> None:
    """Addresses and pictures are GitHub's own additions, which the reference parser does not have."""
    shown = escape(text)
    assert not re.search(r"(?<!\\)://|:tada:", shown)
    assert kinds(shown) <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


def test_an_open_reliability_says_what_would_decide_it() -> None:
    text = str(render("probe", "markdown", probe_summary(3)))
    assert "10 runs are too few to be sure; 35 passing runs would certify (-n 35)." in text


def test_a_link_to_a_folder_with_a_space_is_a_link(tmp_path: Path) -> None:
    text = section(made(tmp_path, {"m": [(50, 50)]}), "my reports/latest (1).html")
    assert "link_open" in kinds(text)
