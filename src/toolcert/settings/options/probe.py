"""Options of a probe or load run: which probes are run, what fails the run, how many requests at a time, how long."""

from __future__ import annotations

from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.settings.option import Choice, Duration, Floor, InputFile, Number, Option, Switch, Text, Whole

_WHAT = "Probes"
_GATES = "Gates"

SORT_ORDERS = ("name", "score", "call-time", "response-time", "total-time")

PROBE: tuple[Option, ...] = (
    Option(
        name="suite",
        group=_WHAT,
        short="-s",
        kind=Text("NAME"),
        default="agent",
        help="Probes to run: quick, hello, agent or full.",
    ),
    Option(name="probe", group=_WHAT, multiple=True, kind=Text("NAME"), help="Only these probes. Repeatable."),
    Option(
        name="scenario",
        group=_WHAT,
        multiple=True,
        kind=InputFile(),
        help="Scenario file of your own to run as a probe. Repeatable.",
    ),
    Option(
        name="list-probes",
        group=_WHAT,
        kind=Switch(),
        default=False,
        in_file=False,
        help="List suites and probes; send nothing.",
    ),
    Option(
        name="iterations",
        group=_WHAT,
        short="-n",
        kind=Whole(1, 10_000),
        default=5,
        help="Number of times that each probe asks each model.",
    ),
    Option(
        name="adaptive",
        group=_WHAT,
        kind=Switch(),
        default=False,
        help="Ask more often only while the verdict is still open.",
    ),
    Option(
        name="threshold",
        group=_WHAT,
        kind=Number(0, 1, metavar="RATE"),
        default=PROBE_THRESHOLD,
        help="Success rate from which a model counts as reliable; verify wants 0.99 of its answers to be sound.",
    ),
    Option(
        name="sort",
        group=_WHAT,
        kind=Choice(*SORT_ORDERS),
        default="score",
        help="Order of the models in the table.",
    ),
    Option(
        name="fail-under",
        group=_GATES,
        kind=Floor(0, 100, metavar="SCORE|NAME=SHARE|NAME<TIME,..."),
        help="Exit 1 when this is not reached: a score of 0 to 100 in probe, schema=0.98,trigger=95% in verify, and "
        "in both 'p95<2s' for a whole call, 'ttft_p95<0.8s' for the first token, 'tps_p50>20' for tokens per second.",
    ),
    Option(
        name="fail-on",
        group=_GATES,
        multiple=True,
        kind=Text("CODE|SEVERITY"),
        help="Exit 1 on this finding, such as call.in_text, or on any of a severity or worse, such as warning. "
        "Repeatable.",
    ),
    Option(
        name="require",
        group=_GATES,
        kind=Choice("passes", "certified"),
        help="Exit 1 unless every model has this verdict or a better one.",
    ),
    Option(
        name="allow",
        group=_GATES,
        multiple=True,
        kind=Text("CODE|PROBE"),
        help="Allow this finding, or in probe the failure of this probe: it closes no gate. Repeatable.",
    ),
)


_LOAD = "Load"
LOAD_LEVEL = 16
"""Requests at a time by default: reports of calls that break under load begin there."""
LOAD_PAIRS = 750
"""Enough to find 2 % corrupted calls in 98 of 100 runs."""

LOAD: tuple[Option, ...] = (
    Option(
        name="at-load",
        group=_LOAD,
        kind=Whole(2, 4096),
        help="Ask the same questions alone and this many at a time, to see whether calls break under load; "
        f"load does so with {LOAD_LEVEL} by default, probe only with this option.",
    ),
    Option(
        name="pairs",
        group=_LOAD,
        kind=Whole(1, 100_000),
        default=LOAD_PAIRS,
        help="Number of questions that are asked both alone and under load.",
    ),
    Option(
        name="for",
        group=_LOAD,
        kind=Duration(0.1),
        in_file=False,
        help="Then keep up the load for this long (90s, 10m, 1h), and compare its first third with its last.",
    ),
    Option(
        name="bisect",
        group=_LOAD,
        kind=Switch(),
        default=True,
        help="Where calls break, find the number of requests at a time from which on they do.",
    ),
)
