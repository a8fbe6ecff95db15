"""Options of a comparison: which runs are compared, and by which rules."""

from __future__ import annotations

from toolcert.settings.option import Choice, Number, Option, OutputFile, Switch, Text

_RUNS = "Runs"
_RULES = "Rules"
_PLAN = "Planning"

COMPARE: tuple[Option, ...] = (
    Option(
        name="baseline",
        group=_RUNS,
        multiple=True,
        in_file=False,
        kind=Text("RUN..."),
        help="The reference: a run, a results.jsonl or a blessed name. More runs of it give the noise ceiling.",
    ),
    Option(
        name="vendor",
        group=_RUNS,
        multiple=True,
        in_file=False,
        kind=Text("RUN..."),
        help="What is compared with it. Several give a leaderboard.",
    ),
    Option(
        name="baselines",
        group=_RUNS,
        kind=OutputFile("DIR"),
        default="toolcert-baselines",
        help="Folder of the blessed baselines.",
    ),
    Option(
        name="trigger",
        group=_RULES,
        kind=Choice("payload", "finish-reason"),
        default="payload",
        help="What counts as a call: structured calls, or the finish reason tool_calls.",
    ),
    Option(
        name="match",
        group=_RULES,
        kind=Choice("content", "index"),
        default="content",
        help="Match rows by what they ask, or by their number.",
    ),
    Option(
        name="margin",
        group=_RULES,
        kind=Number(0, 1),
        default=0.03,
        help="How much worse a rate may be and still count as the same.",
    ),
    Option(
        name="alpha",
        group=_RULES,
        kind=Number(0, 1),
        default=0.05,
        help="Chance of a false alarm, over all vendors and tests together.",
    ),
    Option(
        name="by",
        group=_RULES,
        kind=Choice("tool", "n_tools", "turns", "tag"),
        help="Show the figures apart for each tool, number of tools, number of turns, or tag.",
    ),
    Option(
        name="force",
        group=_RULES,
        kind=Switch(),
        default=False,
        help="Compare although sampling settings or datasets differ, or the baseline has changed.",
    ),
    Option(name="plan", group=_PLAN, kind=Switch(), default=False, help="Print how many rows are needed, and stop."),
    Option(
        name="effect",
        group=_PLAN,
        kind=Number(0, 1, metavar="SHARE"),
        default=0.03,
        help="Share of rows on which the difference that you want to find appears.",
    ),
    Option(
        name="power",
        group=_PLAN,
        kind=Number(0, 1, metavar="SHARE"),
        default=0.8,
        help="Chance to find it.",
    ),
)
