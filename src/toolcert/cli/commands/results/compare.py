"""`toolcert compare`: is this vendor the same as the baseline? `toolcert bless` keeps a run as a named baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo
from toolcert.core.errors import ExitCode, UsageError
from toolcert.reports.display_text import count, plural
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.compare import COMPARE
from toolcert.settings.options.output import REPORTS

if TYPE_CHECKING:
    from toolcert.comparison.compare_options import CompareOptions
    from toolcert.comparison.result import Comparison, VendorComparison
    from toolcert.comparison.stats.significance import Plan


_SEVERAL = ("--baseline", "--vendor")


class SeveralRuns(SettingsCommand):
    """Takes several words after --baseline and --vendor."""

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args
        # click has no option with several values, only one that is repeated.
        parser.parse_args = lambda args: parse(_repeat_flags(args))  # type: ignore[method-assign] # see above
        return parser


def _repeat_flags(args: list[str]) -> list[str]:
    """`--baseline A B` as `--baseline A --baseline B`."""
    result: list[str] = []
    flag, first = "", False
    for word in args:
        if word.startswith("-") and word != "-":
            flag, first = (word, True) if word in _SEVERAL else ("", False)
            result.append(word)
            continue
        result += [word] if first or not flag else [flag, word]
        first = False
    return result


@click.command(cls=SeveralRuns, short_help="Is this vendor the same as the baseline, and how sure are we?")
@use(*names(COMPARE, REPORTS), "fail-on", "seed")
def compare(settings: Settings) -> int:
    """Is this vendor the same as the baseline, and how sure are we?

    Runs are folders of `toolcert verify`, results.jsonl files of the older verifiers, or names kept with
    `toolcert bless`. A second run of the baseline tells how much it differs from itself; without one, no vendor can
    be called equivalent unless it hardly differs at all.

    --fail-on takes regression (degraded or different), inconclusive, missing, none, a finding or a severity; without
    it, rows that are missing at the vendor end with 1.

    \b
    toolcert compare --baseline official-1 official-2 --vendor vendor-a
    toolcert compare --baseline official --vendor a b c --markdown leaderboard.md --fail-on regression
    toolcert compare --baseline run1.jsonl --vendor run2.jsonl --match index --trigger finish-reason
    toolcert compare --plan --effect 0.03
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return run_comparison(settings)


_GATE_WORDS = (REGRESSION, INCONCLUSIVE, MISSING, NONE) = ("regression", "inconclusive", "missing", "none")
# A terminal shows a few examples; a report has room for many.
_ROWS_ON_CONSOLE = 3
_ROWS_IN_REPORTS = 100
_ROWS_ON_PAGE = 2000


def run_comparison(settings: Settings) -> int:
    """Plan, or compare, print, write and gate."""
    from toolcert.api.compare import compare as compare_runs
    from toolcert.api.compare import plan_comparison
    from toolcert.cli.support import report_options
    from toolcert.reports.compare.console import print_comparison
    from toolcert.reports.console.style import Screen

    gates = _gates(settings)
    destinations = report_options.destinations(settings, "compare")
    report_options.check_reports(settings, "compare", *settings.baseline, *settings.vendor)
    if settings.plan:
        _refuse_reports(destinations)
        options = _options(settings, _ROWS_ON_CONSOLE)
        vendors = len(settings.vendor)
        _print_plan(
            plan_comparison(
                settings.baseline, vendors=vendors, effect=settings.effect, power=settings.power, options=options
            )
        )
        return ExitCode.OK
    rows = _ROWS_ON_PAGE if "html" in destinations else _ROWS_IN_REPORTS if destinations else _ROWS_ON_CONSOLE
    comparison = compare_runs(settings.baseline, settings.vendor, _options(settings, rows))
    try:
        if report_options.shows_result(settings, "compare"):
            print_comparison(comparison, Screen())
    finally:  # if the reader of stdout goes away, the reports are still written
        report_options.write_all("compare", comparison, settings, "")
    return _gate(comparison, gates)


def _options(settings: Settings, rows: int) -> CompareOptions:
    from toolcert.comparison.compare_options import CompareOptions

    return CompareOptions(
        trigger=settings.trigger,
        match=settings.match,
        margin=settings.margin,
        alpha=settings.alpha,
        by=settings.by,
        seed=settings.seed or 0,
        force=settings.force,
        rows=rows,
        baselines=settings.baselines,
    )


def _gates(settings: Settings) -> tuple[str, ...]:
    """What ends with exit code 1; without --fail-on that is rows that are missing at a vendor."""
    from toolcert.core.gates import check_gate_codes
    from toolcert.diagnose import catalogue

    given = [word.strip() for entry in settings.fail_on for word in entry.split(",") if word.strip()]
    try:
        check_gate_codes([word for word in given if word not in _GATE_WORDS], catalogue())
    except UsageError as error:
        remedy = f"Use {', '.join(_GATE_WORDS)}, a severity, or a code that `toolcert findings` lists."
        raise UsageError(error.message, remedy=remedy) from error
    return tuple(given) or (MISSING,)


def _gate(comparison: Comparison, gates: tuple[str, ...]) -> int:
    complaints = [text for vendor in comparison.vendors for text in _complaints(vendor, gates)]
    for complaint in complaints:
        echo(complaint, err=True)
    return ExitCode.FAILED if complaints else ExitCode.OK


def _complaints(vendor: VendorComparison, gates: tuple[str, ...]) -> Iterator[str]:
    from toolcert.comparison.result import CompareVerdict
    from toolcert.core.gates import rules_out

    label = vendor.side.label
    if REGRESSION in gates and vendor.verdict in (CompareVerdict.DEGRADED, CompareVerdict.DIFFERENT):
        yield f"--fail-on regression: {label} is {vendor.verdict}."
    if INCONCLUSIVE in gates and vendor.verdict is CompareVerdict.INCONCLUSIVE:
        yield f"--fail-on inconclusive: {label} could not be decided."
    if MISSING in gates and vendor.missing.rows:
        yield f"--fail-on missing: {label}: {plural(vendor.missing.rows, 'row')} missing."
    for finding in vendor.findings:
        if not finding.of_baseline and rules_out(gates, finding.code, finding.severity):
            yield f"--fail-on {finding.code}: {label}, {plural(finding.rows, 'row')}."


def _refuse_reports(destinations: Mapping[str, str]) -> None:
    if destinations:
        raise UsageError(
            f"--plan only prints, and --{next(iter(destinations))} reports a comparison.",
            remedy="Leave one of them out.",
        )


def _print_plan(planned: Plan) -> None:
    from toolcert.reports.console.style import Screen

    screen = Screen()
    needed = f"{count(planned.rows)} rows are needed to find a difference on {100 * planned.effect:g} % of them."
    assumed = (
        f"Assumed: two runs of the baseline decide differently on {100 * planned.noise:.1f} % of the rows"
        f"{' (measured)' if planned.measured else ''}, {100 * planned.power:g} % chance to find it, "
        f"{100 * planned.alpha:g} % chance of a false alarm shared by {planned.tests} tests."
    )
    screen.print([*screen.prose(needed), *screen.prose(assumed)])


@click.command(cls=SettingsCommand, short_help="Keep a run as a named baseline to compare with.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--as", "name", metavar="NAME", required=True, help="The name of the baseline.")
@use("baselines")
def bless(run: Path, name: str, settings: Settings) -> None:
    """Keep a run as a named baseline to compare with.

    Its digest, dataset and parameters are kept beside its name; an earlier baseline of that name is replaced.
    A comparison with a baseline that has changed since, or that was asked in another way, is refused unless --force
    is given.

    \b
    toolcert bless toolcert-runs/20260624-0647-7f3a21c9 --as official
    toolcert compare --baseline official --vendor toolcert-runs/20260625-0812-91d2c0aa
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.api.compare import bless as bless_run

    blessing, replaced = bless_run(run, name, settings.baselines)
    echo(f"{blessing.name} is {blessing.path} (sha256 {blessing.digest[:12]}).")
    if replaced is not None:
        echo(f"It replaces {replaced.path} (sha256 {replaced.digest[:12]}).")
