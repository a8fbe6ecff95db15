"""What `toolcert dataset` does."""

from __future__ import annotations

from contextlib import closing

import click
import msgspec

from toolcert.core.errors import ExitCode, InputError
from toolcert.core.findings import Finding, Severity
from toolcert.reports.console_dataset import problem_lines, stats_lines
from toolcert.reports.text import visible
from toolcert.verify.dataset import Dataset
from toolcert.verify.inspection import Inspector, inspect
from toolcert.verify.source import Source

_FAILING = {False: (Severity.ERROR,), True: (Severity.ERROR, Severity.WARNING)}


def check(file: str, *, strict: bool, as_json: bool) -> int:
    """Print every problem as it is read, then the sum; the exit code of the command."""
    inspector = Inspector()
    failed = False
    with closing(Source(file)) as source:
        dataset = Dataset(source)
        for line in dataset.lines():
            failed = failed or line.body is None  # whatever the reason, it cannot be asked
            for problem in inspector.add(line):
                failed = failed or problem.severity in _FAILING[strict]
                click.echo(_as_json(line.index, problem) if as_json else _as_text(line.index, problem))
        if not inspector.counts["lines"]:
            raise InputError(f"{file} is empty: there is no request in it.")
        for text in problem_lines(inspector.report(dataset)):
            click.echo(text, err=True)
    return ExitCode.FAILED if failed else ExitCode.OK


def stats(file: str, *, as_json: bool) -> None:
    """Print the description."""
    with closing(Source(file)) as source:
        report = inspect(Dataset(source))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2))
        return
    click.echo("\n\n".join("\n".join(block) for block in stats_lines(report)))


def _as_text(index: int, problem: Finding) -> str:
    return f"line {index}: {problem.severity.value} {problem.code}: {visible(problem.evidence)}"


def _as_json(index: int, problem: Finding) -> str:
    found = {"line": index, "code": problem.code, "severity": problem.severity.value, "evidence": problem.evidence}
    return msgspec.json.encode(found).decode()
