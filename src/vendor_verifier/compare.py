"""`python -m vendor_verifier.compare`: who called when, by this tool's definition, counted by toolcert."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from toolcert.cli.errors import run_guarded
from toolcert.compare.confusion import Confusion, cell
from toolcert.compare.inputs import Source, locate, read_source
from toolcert.compare.matching import Match, count_matching, find_partners
from toolcert.compare.pairing import Answer, Pairing
from toolcert.compare.rundata import RunData
from toolcert.runs.files import write_whole

CALLED = "tool_calls"


def compare_results(baseline: str, vendor: str) -> dict[str, Any]:
    """The comparison of two results files (or runs of toolcert), row by row of the same data_index."""
    sources = [locate(word, Path()) for word in (baseline, vendor)]
    ours, theirs = (_read(source, sources) for source in sources)
    partners = find_partners(ours.columns, theirs.columns, Match.INDEX)
    pairing = Pairing(ours, [(theirs, partners)])
    common = count_matching(ours.columns, theirs.columns, partners, Match.INDEX).matched
    measured = [(pattern, rows) for pattern, rows in pairing.items() if pattern.measured]
    matched = sum(rows for _, rows in measured)
    counts = Confusion()
    for pattern, rows in measured:
        one = cell(_called(pattern.baseline), _called(pattern.vendor))
        counts = counts.plus(Confusion(tp=one.tp * rows, fp=one.fp * rows, fn=one.fn * rows, tn=one.tn * rows))
    called = [(pattern, rows) for pattern, rows in measured if _called(pattern.vendor)]
    return {
        "total_baseline": len(ours.columns),
        "total_vendor": len(theirs.columns),
        "common_indices": common,
        "matched_success": matched,
        "skipped_failures": common - matched,
        "tool_call_trigger_similarity": _similarity(counts),
        "tool_call_schema_accuracy": _accuracy(
            sum(rows for _, rows in called), sum(rows for pattern, rows in called if pattern.vendor.valid)
        ),
    }


def _read(source: Source, sources: list[Source]) -> RunData:
    mixed = len({one.own for one in sources}) > 1
    return read_source(source, Match.INDEX, mixed=mixed)


def _called(answer: Answer) -> bool:
    """This tool goes by the finish reason alone."""
    return answer.kind is not None and answer.kind.finish == CALLED


def _similarity(counts: Confusion) -> dict[str, float | int]:
    rates = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    cells = {"TP": counts.tp, "FP": counts.fp, "FN": counts.fn, "TN": counts.tn}
    return {name: int(number) for name, number in cells.items()} | {
        name: round(rate or 0.0, 4) for name, rate in rates.items()
    }


def _accuracy(called: int, valid: int) -> dict[str, int | str]:
    return {
        "count_finish_reason_tool_calls": called,
        "count_successful_tool_call": valid,
        "schema_accuracy": f"{valid / called if called else 0.0:.2%}",
    }


def main() -> NoReturn:
    """`python -m vendor_verifier.compare`."""
    sys.exit(run_guarded(lambda: cli(prog_name="python -m vendor_verifier.compare", standalone_mode=False)))


@click.command()
@click.option("--baseline", required=True, help="Results of the baseline, such as the official API.")
@click.option("--vendor", required=True, help="Results to evaluate.")
@click.option("--output", help="File of the comparison; without it, it is printed.")
def cli(baseline: str, vendor: str, output: str | None) -> None:
    """Compare a vendor's results with a baseline."""
    text = json.dumps(compare_results(baseline, vendor), indent=2)
    if output is None:
        click.echo(text)
    else:
        write_whole(Path(output), [text.encode(), b"\n"])


if __name__ == "__main__":
    main()
