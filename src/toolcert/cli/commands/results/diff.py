"""`toolcert diff`: what changed from one run to another, and whether chance explains it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo
from toolcert.core.errors import ExitCode, GateError, UsageError
from toolcert.settings import Settings

if TYPE_CHECKING:
    from toolcert.difference.run_difference import ModelDifference, RunDifference

_WORDS = (WORSE, CHANGED, NEW, SLOWER, NONE) = ("worse", "changed", "new", "slower", "none")


@click.command(cls=SettingsCommand, short_help="What changed from one run to another, and is it chance?")
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN...", nargs=-1, required=True)
@use("fail-on", "known", "alpha", "html", "json", "junit", "markdown", "junit-not-measured")
def diff(before: str, after: tuple[str, ...], settings: Settings) -> int:
    """What changed from one run to another, and is it chance?

    The first RUN is the earlier one; each further one is compared with it. They are folders of `toolcert probe` or of
    `toolcert verify`, `latest`, `latest~1` for the run before it, or ids that `toolcert runs` lists. This is how an
    upgrade of a serving engine is judged: one run before, the same command after.

    --fail-on takes worse (by more than chance explains), changed (also improved, other verdicts, models that came or
    went), new (errors that the earlier run did not have), slower, none, a finding or a severity that is new or more
    frequent. Without it the exit code is 0, or 3 if nothing can be compared.

    \b
    toolcert diff latest~1 latest
    toolcert diff before-upgrade after-upgrade --fail-on worse --markdown comment.md --html diff.html
    toolcert diff official candidate-a candidate-b --known official/marks.jsonl --json -
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.api.diff import diff as diff_runs
    from toolcert.cli.support import report_options
    from toolcert.reports.console.style import Screen
    from toolcert.reports.diff.console import print_difference

    gates = _gates(settings)
    report_options.check_reports(settings, "diff", before, *after)
    found = diff_runs(before, *after, alpha=settings.alpha, known=settings.known)
    try:
        if report_options.shows_result(settings, "diff"):
            for place, one in enumerate(found):
                echo() if place else None
                print_difference(one, Screen())
    finally:  # if the reader of stdout goes away, the reports are still written
        report_options.write_all("diff", found, settings, "")
    if report_options.shows_result(settings, "diff"):
        report_options.print_page_path(settings.html)
    return _conclude(found, gates)


def _gates(settings: Settings) -> tuple[str, ...]:
    from toolcert.core.gates import check_gate_codes
    from toolcert.diagnose import catalogue

    given = [word.strip() for entry in settings.fail_on for word in entry.split(",") if word.strip()]
    try:
        check_gate_codes([word for word in given if word not in _WORDS], catalogue())
    except UsageError as error:
        remedy = f"Use {', '.join(_WORDS)}, a severity, or a code that `toolcert findings` lists."
        raise UsageError(error.message, remedy=remedy) from error
    return tuple(word for word in given if word != NONE)


def _conclude(found: tuple[RunDifference, ...], gates: tuple[str, ...]) -> int:
    """The exit code of the command."""
    for one in found:
        if not any(model.pairs for model in one.models) or (gates and one.too_little):
            echo(f"{'The gates cannot be judged' if gates else 'Nothing was compared'}: {one.too_little}.", err=True)
            return ExitCode.NOTHING_MEASURED
    complaints = [text for one in found for model in one.models for text in _complaints(model, gates)]
    if complaints:
        raise GateError("\n".join(dict.fromkeys(complaints)))
    return ExitCode.OK


def _complaints(model: ModelDifference, gates: tuple[str, ...]) -> Iterator[str]:
    from toolcert.core.gates import rules_out
    from toolcert.difference.diff import is_new_error
    from toolcert.difference.run_difference import Change, FindingChange
    from toolcert.reports.diff.phrases import chance, finding_words, of, times, verdict_words

    worse = [one for one in model.abilities if one.change is Change.WORSE]
    if WORSE in gates and model.change is Change.WORSE:
        rows = [f"{one.name} {of(one.before)} → {of(one.after)} ({chance(one.p)})" for one in worse]
        whole = f"{of(model.before)} → {of(model.after)} over all ({chance(model.p)})"
        yield f"--fail-on worse: {model.name}: {'; '.join(rows) or whole}."
    if CHANGED in gates and (model.change not in (Change.NO_EVIDENCE, Change.NOT_MEASURED) or _word_changed(model)):
        yield f"--fail-on changed: {model.name}: {model.change.text}, verdict {verdict_words(model)}."
    for finding in model.findings:
        risen = finding.change in (FindingChange.NEW, FindingChange.MORE)
        if risen and ((NEW in gates and is_new_error(finding)) or rules_out(gates, finding.code, finding.severity)):
            yield f"--fail-on: {model.name}: {finding.code} is {finding.change.text}, {finding_words(finding)}."
    for one in model.times if SLOWER in gates else ():
        if one.change is Change.WORSE:
            yield f"--fail-on slower: {model.name}: {one.label} {times(one)}."


def _word_changed(model: ModelDifference) -> bool:
    words = [verdict.word for verdict in (model.before_verdict, model.after_verdict) if verdict is not None]
    return len(set(words)) > 1
