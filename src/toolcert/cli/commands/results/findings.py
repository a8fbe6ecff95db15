"""`toolcert findings`: the catalogue, or one entry of it explained."""

from __future__ import annotations

from collections.abc import Iterator

import click

from toolcert.core.errors import UsageError
from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.spelling import close_names, question

_WIDEST = 96
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


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
    from toolcert.reports.console.style import Line, Screen

    screen = Screen()
    width = max(len(kind.code) for kinds in areas.values() for kind in kinds)
    blocks = []
    for area, kinds in areas.items():
        block = [Line(AREAS.get(area, area), "bold")]
        for kind in kinds:
            head = Line(f"  {kind.code:<{width}}  ").append(f"{kind.severity.value:<7} ", _STYLES[kind.severity])
            block += screen.entry(head, kind.title)
        blocks.append(block)
    legend = screen.prose("error: an agent breaks; warning: some clients break; note: worth knowing")
    screen.print(*blocks, [*legend, Line("`toolcert findings CODE` explains one.")])


def _explain(kind: FindingKind) -> None:
    from toolcert.reports.console.style import Line, Screen

    screen = Screen()
    screen.width = min(screen.width, _WIDEST)
    head = Line(kind.code, "bold").append("  ").append(kind.severity.value, _STYLES[kind.severity])
    parts = {
        "What it means": kind.meaning,
        "What causes it": kind.cause,
        "What to do": kind.remedy,
        "Seen in": ", ".join(kind.seen_in),
    }
    blocks = [[Line(title, "bold"), *screen.prose(text, indent=2)] for title, text in parts.items() if text]
    screen.print(
        [head, *screen.prose(kind.title, indent=2)], *blocks, [Line(f"docs/reference/findings.md#{kind.anchor}")]
    )


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
