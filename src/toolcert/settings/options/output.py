"""What a command leaves behind."""

from __future__ import annotations

from toolcert.settings.kinds import Choice, OutputFile, Switch
from toolcert.settings.option import Option

_RUN = "Run"
_REPORTS = "Reports (FILE, or - for stdout)"

OUTPUT: tuple[Option, ...] = (
    Option(
        name="output",
        group=_RUN,
        short="-o",
        kind=OutputFile("DIR"),
        help="Folder of the run; a run that is already there is taken up where it stopped.",
    ),
    Option(
        name="fresh",
        group=_RUN,
        kind=Switch(),
        default=False,
        help="Start anew instead of taking up the run in --output.",
    ),
    Option(
        name="keep",
        group=_RUN,
        kind=Choice("raw", "assembled", "verdicts"),
        default="raw",
        help="How much of each answer the run keeps; only raw can be judged again.",
    ),
    Option(name="quiet", group=_RUN, short="-q", kind=Switch(), default=False, help="No progress on stderr."),
    Option(name="json", group=_REPORTS, kind=OutputFile(), help="Everything measured, as JSON."),
    Option(name="junit", group=_REPORTS, kind=OutputFile(), help="JUnit XML for CI systems."),
    Option(name="markdown", group=_REPORTS, kind=OutputFile(), help="Markdown for pull requests and wikis."),
    Option(name="csv", group=_REPORTS, kind=OutputFile(), help="One line per model and probe."),
    Option(name="html", group=_REPORTS, kind=OutputFile(), help="A page that opens without a network."),
)
