"""What a report may use beside the summary: where the rows are, and the reader's choices."""

from __future__ import annotations

from enum import StrEnum

from toolcert.core.values import Value
from toolcert.verify.rules import Rules


class NotMeasuredAs(StrEnum):
    """How a case that could not be measured counts in JUnit."""

    ERROR = "error"
    SKIPPED = "skipped"


class Section(Value):
    """A section that another room adds to a page, such as the history of a model."""

    anchor: str
    title: str
    html: str
    """Markup made by our own templates with autoescape on; it is inserted as it is."""


class Extras(Value):
    """Everything optional; a report of a bare summary needs none of it."""

    run: str = ""
    """Folder of the run (or older results file) with the rows and their evidence."""
    rules: Rules | None = None
    """Set where the summary comes from judging the rows again: the rows are then judged again too."""
    not_measured: NotMeasuredAs = NotMeasuredAs.ERROR
    history: Section | None = None


NOTHING = Extras()
