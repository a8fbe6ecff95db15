"""The report options of every command: where each format goes, and writing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolcert.cli.support.exit import echo
from toolcert.core.errors import OutputError
from toolcert.diagnose.judgement import Rules
from toolcert.reports.destinations import OF_A_RUN, STDOUT, check_destinations, check_place, place
from toolcert.reports.formats import NOTHING, Extras, NotMeasuredAs, Section, formats, write_reports
from toolcert.runs.marks import known_marks
from toolcert.settings import Settings
from toolcert.stores.object_url import is_url


def check_reports(settings: Settings, job: str, *inputs: str | None) -> None:
    """Refuse reports that could not be written or would replace an input, before any request is sent."""
    for destination in destinations(settings, job, *inputs).values():
        check_place(destination)


def destinations(settings: Settings, job: str, *inputs: str | None) -> dict[str, str]:
    """Format to file, for the formats that were asked for; refuses one file for two reports, or for an input."""
    given = {name: getattr(settings, name) for name in formats(job) if name in settings}
    wanted = {name: place(value) for name, value in given.items() if value is not None}
    if not wanted:
        return {}
    files = [name for name in inputs if name is not None and (is_url(name) or Path(name).is_file())]
    check_destinations(wanted, [*files, *_named_inputs(settings)])
    return wanted


def _named_inputs(settings: Settings) -> Iterator[str | Path]:
    """The files that options name, and the files of the run itself."""
    if settings.config.path:
        yield settings.config.path
    yield from settings.scenario if "scenario" in settings else ()
    if "output" in settings and settings.output is not None and not is_url(settings.output):
        yield from (Path(settings.output, name) for name in OF_A_RUN)


def shows_result(settings: Settings, job: str) -> bool:
    """Whether the console shows the result, which it does unless a report goes to stdout."""
    return STDOUT not in destinations(settings, job).values()


def write_all(job: str, summary: Any, settings: Settings, run: str, *, rules: Rules | None = None) -> None:
    """Write every report that was asked for; if one cannot be written, the others still are."""
    not_measured = NotMeasuredAs(settings.junit_not_measured)
    order = settings.sort if "sort" in settings else NOTHING.order
    extras = Extras(
        run=run,
        not_measured=not_measured,
        rules=rules,
        adapter=_adapter(settings),
        known=tuple(known_marks(settings.known)) if "known" in settings else (),
        history=_history(job, settings),
        order=order,
    )
    failed: dict[str, OutputError] = {}
    for name, destination in sorted(destinations(settings, job).items(), key=lambda entry: entry[1] == STDOUT):
        try:
            write_reports(job, summary, {name: destination}, extras)
        except OutputError as error:
            failed[name] = error
    if failed:
        raise _with_remedy(failed, run)


def _adapter(settings: Settings) -> str | None:
    return settings.adapter if "adapter" in settings else None


def print_page_path(page: str | None) -> None:
    """Print the path of the page that was written."""
    if page is not None:
        echo(f"Report: {page}")


def _with_remedy(failed: Mapping[str, OutputError], run: str) -> OutputError:
    """One error for all reports that failed, with the command that writes them again from the run."""
    from toolcert.runs.location import run_name

    first = next(iter(failed.values()))
    options = " ".join(f"--{name} FILE" for name in failed)
    again = f" `toolcert report {run_name(run)} {options}` writes it again from the run." if run else ""
    return OutputError("\n".join(error.message for error in failed.values()), remedy=first.remedy + again)


def _history(job: str, settings: Settings) -> Section | None:
    """The history for the page of a probe run, if a history was named or the run was added to one."""
    if job != "probe" or "html" not in destinations(settings, job) or "history" not in settings:
        return None
    if not (settings.given("history") or ("save_history" in settings and settings.save_history)):
        return None
    from toolcert.api.history import look_back
    from toolcert.reports.history.html import history_section

    return history_section(look_back(settings.history, days=settings.days))
