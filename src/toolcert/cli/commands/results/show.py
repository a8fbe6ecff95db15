"""`toolcert show`: one row or case of a run, with its evidence."""

from __future__ import annotations

import click

from toolcert.cli.support.exit import echo_json
from toolcert.core.errors import ExitCode


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
