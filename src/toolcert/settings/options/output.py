"""Options for what a command writes and shows: the run folder, the reports and the viewer."""

from __future__ import annotations

from toolcert.settings.option import Choice, InputFile, Option, OutputFile, Share, Switch, Text, Whole

_RUN = "Run"
_FILES = "Reports (FILE, s3:// URL, or - for stdout)"

RUN: tuple[Option, ...] = (
    Option(
        name="output",
        group=_RUN,
        short="-o",
        kind=OutputFile("DIR"),
        help="Folder of the run, or an s3:// URL; a run that is already there is continued.",
    ),
    Option(
        name="fresh",
        group=_RUN,
        kind=Switch(),
        default=False,
        help="Start again instead of continuing the run in --output.",
    ),
    Option(
        name="keep",
        group=_RUN,
        kind=Choice("raw", "assembled", "verdicts"),
        default="raw",
        help="How much of each answer the run stores; only raw can be judged again.",
    ),
    Option(name="quiet", group=_RUN, short="-q", kind=Switch(), default=False, help="No progress on stderr."),
)
SHARDS: tuple[Option, ...] = (
    Option(
        name="shard",
        group=_RUN,
        kind=Share(),
        in_file=False,
        help="Only this share of the cases, for one of N machines; `toolcert merge` joins their runs.",
    ),
    Option(
        name="allow-gaps",
        group=_RUN,
        kind=Switch(),
        default=False,
        in_file=False,
        help="Merge although shards are missing or unfinished; what they would have asked counts as not measured.",
    ),
)
REPORTS: tuple[Option, ...] = (
    Option(name="html", group=_FILES, kind=OutputFile(), help="A page that opens without a network."),
    Option(name="json", group=_FILES, kind=OutputFile(), help="Everything measured, as JSON."),
    Option(name="junit", group=_FILES, kind=OutputFile(), help="JUnit XML for CI systems."),
    Option(name="markdown", group=_FILES, kind=OutputFile(), help="Markdown for job summaries and pull requests."),
    Option(name="csv", group=_FILES, kind=OutputFile(), help="One line per model and probe, or per row."),
    Option(name="badge", group=_FILES, kind=OutputFile(), help="A badge's JSON, as shields.io reads it."),
    Option(
        name="junit-not-measured",
        group=_FILES,
        kind=Choice("error", "skipped"),
        default="error",
        help="What JUnit calls a case that could not be measured.",
    ),
)
OUTPUT: tuple[Option, ...] = RUN + REPORTS
MARKS: tuple[Option, ...] = (
    Option(
        name="known",
        group="Gates",
        kind=InputFile(),
        help="File of marks, see `toolcert mark`: what it calls known or wrong closes no gate and is shown as such.",
    ),
)


_VIEW = "Viewer"

SERVE: tuple[Option, ...] = (
    Option(
        name="host",
        group=_VIEW,
        kind=Text("ADDRESS"),
        default="127.0.0.1",
        in_file=False,
        help="Address to listen on; one that other machines can reach needs a password.",
    ),
    Option(
        name="port",
        group=_VIEW,
        kind=Whole(0, 65535),
        help="Port to listen on, 0 for a free one (otherwise 8230, or a free one if that is in use).",
    ),
    Option(
        name="view-password",
        group=_VIEW,
        kind=Text("PASSWORD"),
        secret=True,
        help="Password of the viewer, at least 8 characters; better given in TOOLCERT_VIEW_PASSWORD.",
    ),
    Option(
        name="browser",
        group=_VIEW,
        kind=Switch(),
        default=True,
        help="Open the browser; --no-browser only prints the address.",
    ),
)
VIEW: tuple[Option, ...] = (
    *SERVE,
    Option(
        name="view",
        group="Run",
        kind=Switch(),
        default=False,
        in_file=False,
        help="Show the run in the browser while it is made.",
    ),
)
