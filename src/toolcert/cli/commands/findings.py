"""`toolcert findings`: the catalogue, or one entry of it explained."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from textwrap import wrap

import click

from toolcert.core.errors import UsageError
from toolcert.core.findings import FindingKind, Severity
from toolcert.core.spelling import close_names, question

_WIDEST = 96
_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def _codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The codes that a shell may complete to."""
    from toolcert.diagnose import catalogue

    return [kind.code for kind in catalogue() if kind.code.startswith(incomplete)]


@click.command(short_help="Explain the findings, or one of them by its code.")
@click.argument("code", required=False, shell_complete=_codes)
def findings(code: str | None) -> None:
    """Explain the findings, or one of them by its code.

    \b
    toolcert findings                          all codes, by area
    toolcert findings args                     the codes of one area
    toolcert findings finish.stop_with_calls   what it means, what causes it, what to do
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.diagnose.checks.registry import by_area

    areas = dict(by_area())
    known = {kind.code: kind for kinds in areas.values() for kind in kinds}
    wanted = code.strip().lower() if code else ""
    if not wanted:
        _list(areas)
    elif wanted in areas and wanted not in known:
        _list({wanted: areas[wanted]})
    else:
        _explain(_find(wanted, known))


def _list(areas: dict[str, list[FindingKind]]) -> None:
    from toolcert.diagnose.checks.registry import AREAS

    width = max(len(kind.code) for kinds in areas.values() for kind in kinds)
    for area, kinds in areas.items():
        click.secho(AREAS.get(area, area), bold=True)
        for kind in kinds:
            click.echo(f"  {kind.code:<{width}}  {_severity(kind, 7)}  {kind.title}")
        click.echo()
    click.echo("error: an agent breaks   warning: some clients break   note: worth knowing")
    click.echo("`toolcert findings CODE` explains one.")


def _explain(kind: FindingKind) -> None:
    click.echo(f"{click.style(kind.code, bold=True)}  {_severity(kind)}")
    click.echo(_paragraph(kind.title))
    for heading, text in (("What it means", kind.meaning), ("What causes it", kind.cause), ("What to do", kind.remedy)):
        click.secho(f"\n{heading}", bold=True)
        click.echo(_paragraph(text))
    if kind.seen_in:
        click.secho("\nSeen in", bold=True)
        click.echo(_paragraph(", ".join(kind.seen_in)))
    click.echo(f"\ndocs/reference/findings.md#{kind.anchor}")


def _find(code: str, known: dict[str, FindingKind]) -> FindingKind:
    if code.startswith("args.schema."):
        code = "args.schema"
    if code in known:
        return known[code]
    remedy = f"{question(_close(code, known))} `toolcert findings` lists all.".lstrip()
    raise UsageError(f"There is no finding {code!r}.", remedy=remedy)


def _close(code: str, known: dict[str, FindingKind]) -> Iterator[str]:
    """Codes that end alike, and codes that are spelt alike."""
    ending = code.rpartition(".")[2]
    alike = [one for one in known if one.rpartition(".")[2] == ending]
    yield from dict.fromkeys([*alike, *close_names(code, known, most=2)])


def _severity(kind: FindingKind, width: int = 0) -> str:
    return click.style(f"{kind.severity.value:<{width}}", fg=_COLORS[kind.severity])


def _paragraph(text: str) -> str:
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDEST
    return "\n".join(wrap(text, min(room, _WIDEST), initial_indent="  ", subsequent_indent="  "))
