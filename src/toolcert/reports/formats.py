"""Every format a finished run can be written in; a new one is one entry here and one module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from toolcert.reports.destinations import STDOUT, deliver

_PROBE = {
    "json": "json_report:probe_json",
    "junit": "junit:probe_junit",
    "markdown": "markdown:probe_markdown",
    "csv": "csv_report:probe_csv",
    "html": "html.probe_page:probe_html",
    "badge": "badge:probe_badge",
}
_VERIFY = {"json": "json_report:verify_json"}
RENDERERS: Mapping[str, Mapping[str, str]] = {"probe": _PROBE, "verify": _VERIFY}
"""Job to format to `module:function`; loaded when asked for, because templates and XML are not free."""


def formats(job: str) -> tuple[str, ...]:
    """The formats of a job."""
    return tuple(RENDERERS[job])


def write_reports(job: str, summary: Any, destinations: Mapping[str, str]) -> None:
    """Write `summary` in each format to its destination; `-` is standard output and comes last."""
    for name, destination in sorted(destinations.items(), key=lambda entry: entry[1] == STDOUT):
        deliver(_renderer(job, name)(summary), destination)


def _renderer(job: str, name: str) -> Callable[[Any], str | bytes]:
    module, _, function = RENDERERS[job][name].partition(":")
    renderer: Callable[[Any], str | bytes] = getattr(import_module(f"toolcert.reports.{module}"), function)
    return renderer
