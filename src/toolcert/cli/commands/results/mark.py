"""`toolcert mark`: say of a case that its finding is known, or wrong."""

from __future__ import annotations

import click

from toolcert.cli.support.exit import echo
from toolcert.core.errors import ExitCode, UsageError


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
