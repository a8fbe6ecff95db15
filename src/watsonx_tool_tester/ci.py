"""The daily run on GitHub: its workflow put in place, the pages and the README block published, old pages deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from urllib.parse import urljoin

from toolcert.core.errors import ConfigurationError
from toolcert.history.csv_import import iterations_of
from toolcert.history.observation import today
from toolcert.reports.history.html import index_html
from toolcert.reports.history.readme import END, START, check_markers, section, update_section
from toolcert.runs.files import output_errors, write_whole
from watsonx_tool_tester.history import clean_up, history_overview, result_of, rows_of_last_day
from watsonx_tool_tester.table import page_words

LATEST, INDEX = "latest_report.html", "index.html"
_PLACES = {
    "daily-tool-test.yml": Path(".github/workflows/daily-tool-test.yml"),
    "ACTIONS_SETUP.md": Path(".github/ACTIONS_SETUP.md"),
}
_PAGE = re.compile(r"tool_test_report_(\d{4})(\d{2})(\d{2})_\d{6}\.html")


def put_workflow(repository: Path, *, force: bool) -> list[Path]:
    """Write the workflow and its guide into a repository; another file in their place is kept unless forced."""
    if not (repository / ".git").exists():
        raise ConfigurationError(f"{repository} is not the top folder of a git repository.", remedy="Go there first.")
    contents = {repository / place: _packaged(name) for name, place in _PLACES.items()}
    for path, content in contents.items():
        if path.is_file() and path.read_bytes() != content and not force:
            raise ConfigurationError(f"{path} exists and differs.", remedy="Look at it, then give --force.")
    for path, content in contents.items():
        write_whole(path, [content])
    return list(contents)


def _packaged(name: str) -> bytes:
    return (files("watsonx_tool_tester") / "ci_files" / name).read_bytes()


def publish(report: Path, *, history: Path, readme: Path | None, pages_url: str, days: int) -> list[Path]:
    """Copy a report as the latest one, list all reports, update the README; returns the files written."""
    folder = report.parent
    found = history_overview(history, days=days)
    last_day = rows_of_last_day(history)
    own = page_words([result_of(row) for row in last_day])
    if readme is not None:
        _add_markers(readme)
    with output_errors(folder / LATEST):
        page = report.read_bytes()
    write_whole(folder / LATEST, [page])
    pages = sorted(_pages(folder), reverse=True)
    listed = [(day, path.name) for day, path in pages]
    write_whole(folder / INDEX, [index_html(found, listed, history_page=False, own=own).encode()])
    written = [folder / LATEST, folder / INDEX]
    if readme is not None:
        latest, index = (urljoin(pages_url, (folder / name).as_posix()) for name in (LATEST, INDEX))
        iterations = max(map(iterations_of, last_day), default=0)
        block = section(found, latest, index=index, iterations=iterations, own=own)
        update_section(readme, f"## 🔧 Tool Test Status\n\n{block}")
        written.append(readme)
    return written


def _add_markers(readme: Path) -> None:
    """Add the markers at the end of a README that has none."""
    text = readme.read_text("utf-8") if readme.is_file() else ""
    if START not in text and END not in text:
        write_whole(readme, [f"{text.rstrip()}\n\n{START}\n{END}\n".lstrip().encode()])
    check_markers(readme)


def delete_old(reports: Path, history: Path, days: int) -> list[str]:
    """Delete pages and rows older than `days` days and return what is to be said.

    The date in a page's name counts: a fresh checkout gives every file the time of the checkout.
    """
    first = (datetime.fromisoformat(today()) - timedelta(days=days - 1)).date().isoformat()
    old = [path for day, path in _pages(reports) if day < first]
    for path in old:
        with output_errors(path):
            path.unlink()
    return [*(f"Deleted {path}." for path in old), *clean_up(history, days)]


def _pages(folder: Path) -> Iterator[tuple[str, Path]]:
    """Day and path of every page of a run."""
    for path in folder.glob("tool_test_report_*.html"):
        if match := _PAGE.fullmatch(path.name):
            yield "-".join(match.groups()), path
