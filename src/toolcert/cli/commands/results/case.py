"""One case of a run: `toolcert show` shows its evidence, `toolcert mark` says that its finding is known, or wrong."""

from __future__ import annotations

import click

from toolcert.cli.support.exit import echo, echo_json
from toolcert.core.errors import ExitCode, UsageError


@click.command(short_help="Show one row of a run: request, answer, findings, curl.")
@click.argument("run", metavar="RUN")
@click.argument("row", metavar="ROW")
@click.option("--json", "as_json", is_flag=True, help="The record as JSON.")
def show(run: str, row: str, as_json: bool) -> int:
    """Show one row of a run: request, answer, findings, and the curl line that sends it again.

    RUN is a run folder, `latest` for the newest below toolcert-runs, or an older results.jsonl. ROW is a line of the
    dataset, counted from 1, or the row's own `toolcert.id`; in a probe run it is the key of a case, which is
    ENDPOINT/MODEL/PROBE/NUMBER and stands in records.jsonl as "case".

    \b
    toolcert show corvid 214
    toolcert show toolcert-runs/20260624-0647-7f3a21c9 mine/my-model/basic/4
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.reports.console.record import print_record, record_json
    from toolcert.reports.console.style import Screen
    from toolcert.runs.location import locate_run
    from toolcert.verification.rejudgement import manifest_of
    from toolcert.verification.single_row import find_row

    folder = locate_run(run)
    found = find_row(folder, row)
    if as_json:
        echo_json(record_json(found.record))
    else:
        print_record(found, manifest_of(folder), Screen())
    return ExitCode.OK


@click.command(short_help="Mark a case of a run as known, or its finding as wrong.")
@click.argument("run", metavar="RUN")
@click.argument("case", metavar="CASE")
@click.option("--known", is_flag=True, help="The finding is right and known: it need not stop anything.")
@click.option("--wrong", is_flag=True, help="The finding is wrong: the answer is in order.")
@click.option("--finding", metavar="CODE", help="Only this finding of the case, or this family.  [default: all]")
@click.option("--note", default="", metavar="TEXT", help="Why; reports show it beside the finding.")
def mark(*, run: str, case: str, known: bool, wrong: bool, finding: str | None, note: str) -> int:
    """Mark a case of a run as known, or its finding as wrong.

    The mark is kept in marks.jsonl beside the run's records, and reports of the run show it. Gates and verdicts respect
    the marks of a file that is given with --known, in this run and in later ones.

    CASE is a line of the dataset, counted from 1, or the row's own `toolcert.id`; a mark about it is found again in
    other runs of the same dataset. In a probe run CASE is ENDPOINT/MODEL/PROBE/NUMBER, or without the number for all
    iterations of the probe. A later mark about the same case and finding replaces an earlier one.

    \b
    toolcert mark latest 214 --known --finding args.schema --note "ticket 4711, fixed in the next release"
    toolcert mark latest my-vllm/qwen3/streaming --known --finding stream.cut --note "proxy, ticket 12"
    toolcert probe my-vllm --require passes --known toolcert-runs/20260624-0647-7f3a21c9/marks.jsonl
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.api.report import mark as mark_case
    from toolcert.runs.marks import MarkKind

    if known == wrong:
        raise UsageError("a mark says one thing.", remedy="Give --known or --wrong.")
    path, made = mark_case(run, case, MarkKind.KNOWN if known else MarkKind.WRONG, finding=finding, note=note)
    echo(f"{case} is marked as {made.kind}{f' ({made.finding})' if made.finding else ''} in {path}.")
    return ExitCode.OK
