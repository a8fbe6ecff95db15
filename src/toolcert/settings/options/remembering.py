"""The history: where it is and how far back to look."""

from __future__ import annotations

from toolcert.settings.kinds import Choice, Number, Switch, Text, Whole
from toolcert.settings.option import Option

_HISTORY = "History"

REMEMBERING: tuple[Option, ...] = (
    Option(
        name="history",
        group=_HISTORY,
        kind=Text("FILE|URL"),
        default="toolcert-history.sqlite",
        help="The history: a SQLite file, or postgresql://user@host/database.",
    ),
    Option(
        name="save-history",
        group=_HISTORY,
        kind=Switch(),
        default=False,
        help="Add the finished run to the history.",
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
        help="The probe whose history is meant (otherwise the one the history knows best).",
    ),
    Option(
        name="budget",
        group=_HISTORY,
        kind=Number(0, 1, metavar="CHANCE"),
        default=0.05,
        help="Chance of a false alarm that a drift report may have.",
    ),
    Option(
        name="export-format",
        group=_HISTORY,
        kind=Choice("csv", "jsonl", "parquet"),
        default="csv",
        help="csv (the older tool's three files), jsonl or parquet.",
    ),
    Option(
        name="retention",
        group=_HISTORY,
        kind=Whole(1, 36_500),
        default=90,
        help="Days of reports and history to keep, by the date of the run.",
    ),
)
