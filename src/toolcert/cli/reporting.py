"""The report options of every command: where each format goes, and writing them."""

from __future__ import annotations

from typing import Any

from toolcert.reports.destinations import STDOUT, place
from toolcert.reports.extras import Extras, NotMeasuredAs, Section
from toolcert.reports.formats import check_destinations, formats, write_reports
from toolcert.settings import Settings
from toolcert.verify.rules import Rules


def destinations(settings: Settings, job: str) -> dict[str, str]:
    """Format to file, of the formats that were asked for; ask before measuring, it refuses collisions."""
    given = {name: getattr(settings, name) for name in formats(job) if name in settings}
    wanted = {name: place(value) for name, value in given.items() if value is not None}
    check_destinations(wanted)
    return wanted


def speaks(settings: Settings, job: str) -> bool:
    """Whether the console shows the result: stdout is not taken by a report."""
    return STDOUT not in destinations(settings, job).values()


def write(job: str, summary: Any, settings: Settings, run: str, *, rules: Rules | None = None) -> None:
    """Write every report that was asked for."""
    not_measured = NotMeasuredAs(settings.junit_not_measured)
    extras = Extras(run=run, not_measured=not_measured, rules=rules, history=_history(job, settings))
    write_reports(job, summary, destinations(settings, job), extras)


def _history(job: str, settings: Settings) -> Section | None:
    """What was before, for the page of a probe run, where a history was named or the run went into it."""
    if job != "probe" or "html" not in destinations(settings, job) or "history" not in settings:
        return None
    if not (settings.given("history") or ("save_history" in settings and settings.save_history)):
        return None
    from toolcert.api.remembering import look_back
    from toolcert.reports.html.history_page import history_section

    return history_section(look_back(settings.history, days=settings.days))
