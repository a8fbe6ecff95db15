"""Which rows of a dataset are asked."""

from __future__ import annotations

from toolcert.settings.kinds import Text, Whole
from toolcert.settings.option import Option

_ROWS = "Rows"

VERIFYING: tuple[Option, ...] = (
    Option(name="limit", group=_ROWS, kind=Whole(1), help="Only the first N rows."),
    Option(name="sample", group=_ROWS, kind=Whole(1), help="Only N rows, drawn at random with --seed."),
    Option(
        name="where",
        group=_ROWS,
        multiple=True,
        kind=Text("TEST"),
        help="Only rows that meet this test, such as tools>3. Repeatable.",
    ),
)
