"""Every format a finished run can be written in; a new one is one entry here and one module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from toolcert.reports.destinations import STDOUT, deliver
from toolcert.reports.extras import NOTHING, Extras

RENDERERS: Mapping[str, Mapping[str, str]] = {
    "probe": {
        "json": "json_report:probe_json",
        "junit": "junit_probe:probe_junit",
        "markdown": "markdown_probe:probe_markdown",
        "csv": "csv_probe:probe_csv",
        "html": "html.probe_page:probe_html",
        "badge": "badge:probe_badge",
    },
    "verify": {
        "json": "json_report:verify_json",
        "junit": "junit_verify:verify_junit",
        "markdown": "markdown_verify:verify_markdown",
        "csv": "csv_verify:verify_csv",
        "html": "html.verify_page:verify_html",
        "badge": "badge:verify_badge",
    },
    "compare": {
        "json": "json_compare:compare_json",
        "junit": "junit_compare:compare_junit",
        "markdown": "markdown_compare:compare_markdown",
        "csv": "csv_compare:compare_csv",
        "html": "html.compare_page:compare_html",
        "badge": "badge:compare_badge",
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
