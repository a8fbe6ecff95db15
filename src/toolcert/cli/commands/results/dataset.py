"""`toolcert dataset`: what a dataset holds, and what is wrong with it."""

from __future__ import annotations

import sys
from contextlib import closing

import click
import msgspec

from toolcert.cli.support.exit import echo_json
from toolcert.core.errors import ExitCode, InputError
from toolcert.core.findings import Finding, Severity


@click.group(short_help="Check or describe a dataset of requests.")
def dataset() -> None:
    """Check or describe a dataset of requests; nothing is sent."""


@dataset.command(short_help="List what is wrong with a dataset, line by line.")
@click.argument("file")
@click.option("--strict", is_flag=True, help="Warnings fail the check too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
def check(file: str, strict: bool, as_json: bool) -> int:
    """List what is wrong with a dataset, line by line; exit 1 if a line cannot be asked.

    FILE is JSONL, plain, gzip or zstd; - is stdin.
    """
    return print_problems(file, strict=strict, as_json=as_json)


@dataset.command(short_help="Describe a dataset: rows, tools, tokens, schema features, duplicates.")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
def stats(file: str, as_json: bool) -> int:
    """Describe a dataset: rows, tools, tokens, schema features, duplicates.

    FILE is JSONL, plain, gzip or zstd; - is stdin.
    """
    print_stats(file, as_json=as_json)
    return ExitCode.OK


_FAILING = {False: (Severity.ERROR,), True: (Severity.ERROR, Severity.WARNING)}


def print_problems(file: str, *, strict: bool, as_json: bool) -> int:
    """Print every problem as it is read, then the sum; the exit code of the command."""
    from toolcert.reports.console.style import Screen
    from toolcert.reports.verify.console import problem_lines
    from toolcert.verification.dataset.inspection import Inspector
    from toolcert.verification.dataset.lines import Dataset
    from toolcert.verification.dataset.source import Source

    inspector = Inspector()
    screen, errors = Screen(), Screen(sys.stderr)
    failed = False
    with closing(Source(file)) as source:
        dataset = Dataset(source)
        for line in dataset.lines():
            failed = failed or line.body is None  # whatever the reason, it cannot be asked
            for problem in inspector.add(line):
                failed = failed or problem.severity in _FAILING[strict]
                if as_json:
                    echo_json(_as_json(line.index, problem))
                else:
                    screen.print(screen.prose(_as_text(line.index, problem), hanging=4))
        if not inspector.counts["lines"]:
            raise InputError(f"{file} is empty: there is no request in it.")
        errors.print(problem_lines(inspector.report(dataset), errors))
    return ExitCode.FAILED if failed else ExitCode.OK


def print_stats(file: str, *, as_json: bool) -> None:
    """Print the description."""
    from toolcert.reports.console.style import Screen
    from toolcert.reports.verify.console import print_stats as print_report
    from toolcert.verification.dataset.inspection import inspect
    from toolcert.verification.dataset.lines import Dataset
    from toolcert.verification.dataset.source import Source

    with closing(Source(file)) as source:
        report = inspect(Dataset(source))
    if as_json:
        echo_json(msgspec.json.format(msgspec.json.encode(report), indent=2))
        return
    print_report(report, Screen())


def _as_text(index: int, problem: Finding) -> str:
    return f"line {index}: {problem.severity.value} {problem.code}: {problem.evidence}"


def _as_json(index: int, problem: Finding) -> str:
    found = {"line": index, "code": problem.code, "severity": problem.severity.value, "evidence": problem.evidence}
    return msgspec.json.encode(found).decode()
