"""What `toolcert compare` does once its options are read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping

import click
import msgspec

from toolcert.cli import reporting
from toolcert.compare.comparing import compare, measured_noise
from toolcert.compare.comparison import Comparison, VendorComparison, Verdict
from toolcert.compare.confusion import Trigger
from toolcert.compare.matching import Match
from toolcert.compare.options import Options
from toolcert.compare.power import FAMILY, USUAL_NOISE, Plan, plan
from toolcert.compare.rundata import By
from toolcert.core.errors import ExitCode, UsageError
from toolcert.probes.gates import check_gate_codes, meets
from toolcert.reports.text import count, plural
from toolcert.settings import Settings

_WORDS = (REGRESSION, INCONCLUSIVE, MISSING, NONE) = ("regression", "inconclusive", "missing", "none")
_REGRESSIONS = (Verdict.DEGRADED, Verdict.DIFFERENT)
_ROWS_ON_CONSOLE = 3
_ROWS_IN_REPORTS = 100


def run(settings: Settings) -> int:
    """Plan, or compare, print, write and gate."""
    gates = _gates(settings)
    destinations = reporting.destinations(settings, "compare")
    reporting.prepare(settings, "compare", *settings.baseline, *settings.vendor)
    if settings.plan:
        _refuse_reports(destinations)
        _print_plan(_plan(settings))
        return ExitCode.OK
    comparison = compare(settings.baseline, settings.vendor, _options(settings, in_full=bool(destinations)))
    try:
        if reporting.speaks(settings, "compare"):
            _print(comparison)
    finally:  # whoever reads our output may go away; the files are wanted all the same
        reporting.write("compare", comparison, settings, "")
    return _gate(comparison, gates)


def _print(comparison: Comparison) -> None:
    from toolcert.reports.console_compare import compare_lines

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in compare_lines(comparison, width):
        click.echo(line)


def _options(settings: Settings, *, in_full: bool) -> Options:
    return Options(
        trigger=Trigger(settings.trigger),
        match=Match(settings.match),
        margin=settings.margin,
        alpha=settings.alpha,
        by=None if settings.by is None else By(settings.by),
        seed=settings.seed or 0,
        force=settings.force,
        rows=_ROWS_IN_REPORTS if in_full else _ROWS_ON_CONSOLE,
        baselines=settings.baselines,
    )


def _gates(settings: Settings) -> tuple[str, ...]:
    """What ends with exit code 1; a comparison gates on missing rows unless told otherwise."""
    given = [word.strip() for entry in settings.fail_on for word in entry.split(",") if word.strip()]
    try:
        check_gate_codes([word for word in given if word not in _WORDS])
    except UsageError as error:
        remedy = f"Use {', '.join(_WORDS)}, a severity, or a code that `toolcert findings` lists."
        raise UsageError(error.message, remedy=remedy) from error
    return tuple(given) or (MISSING,)


def _gate(comparison: Comparison, gates: tuple[str, ...]) -> int:
    complaints = [text for vendor in comparison.vendors for text in _complaints(vendor, gates)]
    for complaint in complaints:
        click.echo(complaint, err=True)
    return ExitCode.FAILED if complaints else ExitCode.OK


def _complaints(vendor: VendorComparison, gates: tuple[str, ...]) -> Iterator[str]:
    label = vendor.side.label
    if REGRESSION in gates and vendor.verdict in _REGRESSIONS:
        yield f"--fail-on regression: {label} is {vendor.verdict}."
    if INCONCLUSIVE in gates and vendor.verdict is Verdict.INCONCLUSIVE:
        yield f"--fail-on inconclusive: {label} could not be decided."
    if MISSING in gates and vendor.missing.rows:
        yield f"--fail-on missing: {label} owes {plural(vendor.missing.rows, 'row')}."
    for finding in vendor.findings:
        if not finding.of_baseline and any(meets(finding.code, finding.severity, gate) for gate in gates):
            yield f"--fail-on {finding.code}: {label}, {plural(finding.rows, 'row')}."


def _refuse_reports(destinations: Mapping[str, str]) -> None:
    if destinations:
        raise UsageError(
            f"--plan only prints, and --{next(iter(destinations))} reports a comparison.",
            remedy="Leave one of them out.",
        )


def _plan(settings: Settings) -> Plan:
    """The rows needed; the noise is measured where two runs of the baseline are given, and every vendor adds tests."""
    noise = measured_noise(settings.baseline, _options(settings, in_full=False))
    planned = plan(
        settings.effect,
        noise=USUAL_NOISE if noise is None else noise,
        alpha=settings.alpha,
        power=settings.power,
        tests=FAMILY * max(1, len(settings.vendor)),
    )
    return msgspec.structs.replace(planned, measured=noise is not None)


def _print_plan(planned: Plan) -> None:
    click.echo(f"{count(planned.rows)} rows are needed to find a difference on {100 * planned.effect:g} % of them.")
    click.echo(
        f"Assumed: two runs of the baseline decide differently on {100 * planned.noise:.1f} % of the rows"
        f"{' (measured)' if planned.measured else ''}, {100 * planned.power:g} % chance to find it, "
        f"{100 * planned.alpha:g} % chance of a false alarm shared by {planned.tests} tests."
    )
