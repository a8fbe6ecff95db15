"""The formats a finished run can be written in. A new format is one entry here and one module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from typing import Any

from toolcert.core.values import Value
from toolcert.diagnose.judgement import Rules
from toolcert.reports.destinations import STDOUT, deliver
from toolcert.runs.marks import Mark


class NotMeasuredAs(StrEnum):
    """How a case that could not be measured counts in JUnit."""

    ERROR = "error"
    SKIPPED = "skipped"


class Section(Value):
    """A section that another room adds to a page, such as the history of a model."""

    anchor: str
    title: str
    html: str
    """Markup made by our own templates with autoescape on; it is inserted as it is."""


class OwnWords(Value):
    """What a front door says on the page of a probe run in place of toolcert's verdicts; models are named by id."""

    headline: str
    lines: tuple[str, ...]
    rule: str
    """How its verdicts are reached."""
    verdicts: dict[str, tuple[str, str]]
    """Role (good, half, bad, cannot, unknown) and word of each model."""
    reasons: dict[str, str]
    totals: dict[str, float | None]
    """Median seconds of both turns together."""


class Extras(Value):
    """Everything optional; a report of a bare summary needs none of it."""

    run: str = ""
    """Folder of the run (or older results file) with the rows and their evidence."""
    rules: Rules | None = None
    """Set if the summary was judged again; the rows are then judged again too."""
    adapter: str | None = None
    """`file.py:Class` of the user's own adapter that judges them."""
    not_measured: NotMeasuredAs = NotMeasuredAs.ERROR
    known: tuple[Mark, ...] = ()
    """Marks that are respected: rows that they excuse are not failures."""
    history: Section | None = None
    order: str = "score"
    """How the models of a probe run are sorted."""
    temporary: bool = False
    """The run folder will be deleted, so the page names no command that needs it."""
    own_words: OwnWords | None = None


NOTHING = Extras()


RENDERERS: Mapping[str, Mapping[str, str]] = {
    "probe": {
        "json": "json:probe_json",
        "junit": "probe.tables:probe_junit",
        "markdown": "probe.tables:probe_markdown",
        "csv": "probe.tables:probe_csv",
        "html": "probe.html:probe_html",
        "badge": "badge:probe_badge",
    },
    "verify": {
        "json": "json:verify_json",
        "junit": "verify.tables:verify_junit",
        "markdown": "verify.tables:verify_markdown",
        "csv": "verify.tables:verify_csv",
        "html": "verify.html:verify_html",
        "badge": "badge:verify_badge",
    },
    "load": {
        "json": "json:load_json",
        "junit": "load.tables:load_junit",
        "markdown": "load.tables:load_markdown",
        "csv": "load.tables:load_csv",
        "html": "load.html:load_html",
        "badge": "badge:load_badge",
    },
    "compare": {
        "json": "json:compare_json",
        "junit": "compare.tables:compare_junit",
        "markdown": "compare.tables:compare_markdown",
        "csv": "compare.tables:compare_csv",
        "html": "compare.html:compare_html",
        "badge": "badge:compare_badge",
    },
    "diff": {
        "json": "json:diff_json",
        "junit": "diff.tables:diff_junit",
        "markdown": "diff.tables:diff_markdown",
        "html": "diff.html:diff_html",
    },
}
"""Job to format to `module:function`; loaded when asked for, because templates and XML are not free."""


def formats(job: str) -> tuple[str, ...]:
    """The formats of a job."""
    return tuple(RENDERERS[job])


def write_reports(job: str, summary: Any, destinations: Mapping[str, str], extras: Extras = NOTHING) -> None:
    """Write `summary` in each format to its destination; `-` is standard output and comes last."""
    for name, destination in sorted(destinations.items(), key=lambda entry: entry[1] == STDOUT):
        deliver(render(job, name, summary, extras), destination)


def render(job: str, name: str, summary: Any, extras: Extras = NOTHING) -> str | bytes:
    """One report."""
    module, _, function = RENDERERS[job][name].partition(":")
    renderer: Callable[[Any, Extras], str | bytes] = getattr(import_module(f"toolcert.reports.{module}"), function)
    return renderer(summary, extras)
