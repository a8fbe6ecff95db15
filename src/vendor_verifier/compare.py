"""`python -m vendor_verifier.compare`: compares when two vendors call tools, by this tool's definitions."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from toolcert.cli.support.exit import echo, run_guarded
from toolcert.comparison.stats.confusion import Confusion, cell
from toolcert.core.errors import InputError
from toolcert.core.text.number_text import plural
from toolcert.core.values import Value
from toolcert.runs.files import write_whole
from toolcert.verification.older_results import OlderRow, read_older

CALLED = "tool_calls"


class Verdict(Value, gc=False):
    """The verdict of a results file on one row; it is not judged again."""

    answered: bool
    called: bool
    valid: bool | None
    """None if it was not validated."""

    @classmethod
    def of(cls, row: OlderRow) -> Verdict:
        """Here a row calls tools if its finish reason says so."""
        return cls(answered=row.status == "success", called=row.finish_reason == CALLED, valid=row.tool_calls_valid)


def compare_results(baseline: str, vendor: str) -> dict[str, Any]:
    """The comparison of two results files, row by row of the same data_index."""
    ours, theirs = (read_verdicts(Path(path)) for path in (baseline, vendor))
    common = ours.keys() & theirs.keys()
    pairs = Counter((ours[index], theirs[index]) for index in common)
    measured = {pair: rows for pair, rows in pairs.items() if pair[0].answered and pair[1].answered}
    counts = sum_cells(measured)
    matched = sum(measured.values())
    return {
        "total_baseline": len(ours),
        "total_vendor": len(theirs),
        "common_indices": len(common),
        "matched_success": matched,
        "skipped_failures": len(common) - matched,
        "tool_call_trigger_similarity": _similarity(counts),
        "tool_call_schema_accuracy": _accuracy(
            sum((Counter({theirs.valid: rows}) for (_, theirs), rows in measured.items() if theirs.called), Counter())
        ),
    }


def read_verdicts(path: Path) -> dict[int, Verdict]:
    """The verdicts of a results file by data_index; equal ones share one object to save memory."""
    known: dict[Verdict, Verdict] = {}
    return {row.data_index: known.setdefault(verdict := Verdict.of(row), verdict) for row in read_older(path)}


def sum_cells(pairs: Mapping[tuple[Verdict, Verdict], int]) -> Confusion:
    """The four counts."""
    counts = Confusion()
    for (ours, theirs), rows in pairs.items():
        one = cell(ours.called, theirs.called)
        counts = counts.plus(Confusion(tp=one.tp * rows, fp=one.fp * rows, fn=one.fn * rows, tn=one.tn * rows))
    return counts


def _similarity(counts: Confusion) -> dict[str, float | int]:
    rates = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    cells = {"TP": counts.tp, "FP": counts.fp, "FN": counts.fn, "TN": counts.tn}
    return {name: int(number) for name, number in cells.items()} | {
        name: round(rate or 0.0, 4) for name, rate in rates.items()
    }


def _accuracy(called: Counter[bool | None]) -> dict[str, int | str]:
    judged = called[True] + called[False]
    return {
        "count_finish_reason_tool_calls": called.total(),
        "count_successful_tool_call": called[True],
        "count_not_validated": called[None],
        "schema_accuracy": f"{called[True] / judged if judged else 0.0:.2%}",
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
    found = compare_results(baseline, vendor)
    if not found["common_indices"]:
        raise InputError(
            f"{baseline} ({plural(found['total_baseline'], 'row')}) and {vendor} "
            f"({plural(found['total_vendor'], 'row')}) have no row in common.",
            remedy="Give two results of the same dataset.",
        )
    text = json.dumps(found, indent=2)
    if output is None:
        echo(text)
    else:
        write_whole(Path(output), [text.encode(), b"\n"])


if __name__ == "__main__":
    main()
