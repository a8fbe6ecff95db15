"""The report options of every command: where each format goes, and writing them."""

from __future__ import annotations

from typing import Any

from toolcert.reports.destinations import STDOUT
from toolcert.reports.extras import Extras, NotMeasuredAs
from toolcert.reports.formats import check_destinations, formats, write_reports
from toolcert.settings import Settings
from toolcert.verify.rejudge import Rules


def destinations(settings: Settings, job: str) -> dict[str, str]:
    """Format to file, of the formats that were asked for; ask before measuring, it refuses collisions."""
    given = {name: getattr(settings, name) for name in formats(job) if name in settings}
    wanted = {name: value for name, value in given.items() if value is not None}
    check_destinations(wanted)
    return wanted


def speaks(settings: Settings, job: str) -> bool:
    """Whether the console shows the result: stdout is not taken by a report."""
    return STDOUT not in destinations(settings, job).values()


def write(job: str, summary: Any, settings: Settings, run: str, *, rules: Rules | None = None) -> None:
    """Write every report that was asked for."""
    not_measured = NotMeasuredAs(settings.junit_not_measured)
    extras = Extras(run=run, not_measured=not_measured, rules=rules)
    write_reports(job, summary, destinations(settings, job), extras)
