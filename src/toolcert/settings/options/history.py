"""Options of the history: where it is kept, how far back to look, and the daily run that feeds it."""

from __future__ import annotations

from toolcert.settings.option import Choice, Day, Number, Option, OutputFile, Switch, Text, Whole

_HISTORY = "History"
_DAILY = "Daily"

LOOKBACK: tuple[Option, ...] = (
    Option(
        name="history",
        group=_HISTORY,
        kind=Text("FILE|URL"),
        default="toolcert-history.sqlite",
        help="The history: a SQLite file, or postgresql://user@host/database.",
    ),
    Option(
        name="days",
        group=_HISTORY,
        kind=Whole(1, 36_500),
        default=90,
        help="How many days to look back.",
    ),
    Option(
        name="history-probe",
        group=_HISTORY,
        kind=Text("NAME"),
        help="The probe whose history is shown (otherwise the main one of the last run).",
    ),
    Option(
        name="budget",
        group=_HISTORY,
        kind=Number(0, 1, metavar="CHANCE"),
        default=0.05,
        help="Chance of a false alarm that a drift report may have.",
    ),
)
DAILY: tuple[Option, ...] = (
    Option(
        name="report-dir",
        group=_DAILY,
        kind=OutputFile("DIR"),
        default="reports",
        help="Folder of the daily pages; keep nothing else in it.",
    ),
    Option(
        name="readme",
        group=_DAILY,
        kind=OutputFile(),
        help="Page whose section between the two TOOL_TEST_REPORT markers is kept up to date.",
    ),
    Option(
        name="date",
        group=_DAILY,
        kind=Day(),
        in_file=False,
        help="The day that the run counts for, not in the future (otherwise today, UTC).",
    ),
    Option(
        name="retention",
        group=_DAILY,
        kind=Whole(1, 36_500),
        default=90,
        help="Days of pages, runs and history to keep, by the date of the run.",
    ),
)
HISTORY: tuple[Option, ...] = (
    *LOOKBACK,
    *DAILY,
    Option(
        name="save-history",
        group=_HISTORY,
        kind=Switch(),
        default=False,
        help="Add the finished run to the history.",
    ),
    Option(
        name="export-format",
        group=_HISTORY,
        kind=Choice("csv", "jsonl", "parquet"),
        default="csv",
        help="csv (the older tool's three files), jsonl or parquet.",
    ),
)
