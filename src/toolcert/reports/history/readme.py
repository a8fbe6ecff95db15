"""The section of a README that a daily run keeps up to date; nothing outside its two markers is touched."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from toolcert.core.errors import ConfigurationError
from toolcert.history.daily_status import DayStatus
from toolcert.history.overview import Overview
from toolcert.reports.display_text import seconds
from toolcert.reports.formats import OwnWords
from toolcert.reports.history import phrases as words
from toolcert.reports.markdown import escape, table
from toolcert.runs.files import write_whole

START = "<!-- TOOL_TEST_REPORT_START -->"
END = "<!-- TOOL_TEST_REPORT_END -->"


def check_markers(path: Path) -> None:
    """Refuse a file without a clear section between the markers, before anything is measured."""
    _split(path)


def update_section(path: Path, section: str) -> bool:
    """Put `section` between the markers; returns whether the file changed."""
    before, old, after = _split(path)
    new = f"\n{section.strip()}\n"
    if new == old:
        return False
    write_whole(path, [f"{before}{START}{new}{END}{after}".encode()])
    return True


def _split(path: Path) -> tuple[str, str, str]:
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}.", remedy="Check --readme.") from None
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise ConfigurationError(
            f"{path} is left alone: it does not have the two markers once each and in order.",
            remedy=f"Put {START} and {END} where the section belongs.",
        )
    before, _, rest = text.partition(START)
    old, _, after = rest.partition(END)
    return before, old, after


def section(
    found: Overview, report: str, *, index: str = "", iterations: int | None = None, own: OwnWords | None = None
) -> str:
    """What the README says: the headline, a line per model that calls, when and how it was measured, the reports.

    `own` is what a front door says in place of toolcert's verdicts.
    """
    unnamed = ("unknown", words.WORDS[DayStatus.NOT_TESTED])
    models = [history for history in words.ranked(found) if words.ever_called(history)]
    rows = []
    for history in models:
        working = sum(day.status is DayStatus.WORKING for day in history.measured)
        last = history.measured[-1].call_p50 if history.measured else None
        rows.append(
            (
                escape(history.model),
                words.latest_word(history, found.last) if own is None else own.verdicts.get(history.model, unnamed)[1],
                f"{working}/{len(history.measured)}",
                seconds(last),
            )
        )
    headline = words.headline(found) if own is None else own.headline
    lines = [f"**{words.day_text(found.last, year=True)}.** {escape(headline)}", ""]
    if rows:
        lines += [*table(("Model", "Verdict", ">Good days", ">Call, s"), rows), ""]
    lines += [f"[Full report]({_address(report)})", ""]
    if found.last_run_at is not None:
        lines.append(f"- **Last updated:** {datetime.fromtimestamp(found.last_run_at, UTC):%Y-%m-%d %H:%M:%S} UTC")
    if iterations:
        lines.append(f"- **Test iterations:** {iterations} per model")
    if index:
        lines.append(f"- **All reports:** [every day's report]({_address(index)})")
    return "\n".join(lines)


def _address(link: str) -> str:
    return quote(link, safe=":/")
