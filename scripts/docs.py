"""Write the pages of docs/reference that come from the code, or check that they are up to date.

python scripts/docs.py          write
python scripts/docs.py --check  say which pages differ from the code, and fail
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from itertools import groupby
from pathlib import Path

import click

from toolcert.cli.main import cli
from toolcert.cli.support.click_options import SettingOption
from toolcert.core.findings import FindingKind
from toolcert.diagnose import kind_of
from toolcert.diagnose.checks.registry import AREAS, by_area
from toolcert.probes.base import Probe, all_probes
from toolcert.reports.json import file_name, report_types, schema
from toolcert.settings import OPTIONS, Option
from toolcert.simulate.fault_matrix import SHOWN_ELSEWHERE, matrix
from toolcert.simulate.faults import Mode

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
NOTICE = "<!-- Made from the code by `make docs`; edits here are lost. -->"
WIDTH = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    pages = {name: _text(page()) for name, page in PAGES.items()} | schemas()
    if parser.parse_args().check:
        return _check(pages)
    for name, text in pages.items():
        (REFERENCE / name).parent.mkdir(exist_ok=True)
        (REFERENCE / name).write_text(text, encoding="utf-8")
    return 0


def _check(pages: dict[str, str]) -> int:
    stale = [name for name, text in pages.items() if _kept(name) != text]
    for name in stale:
        print(f"docs/reference/{name} differs from the code: run `make docs`", file=sys.stderr)
    return 1 if stale else 0


def _kept(name: str) -> str:
    path = REFERENCE / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _text(lines: Iterable[str]) -> str:
    return "\n".join([NOTICE, "", *lines]).rstrip() + "\n"


# ---- commands.md


def commands() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "What `toolcert COMMAND --help` prints. Options are explained once more, with their environment variables and"
    yield "configuration keys, in [options](options.md)."
    yield from _command(cli, _context())


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from ("", f"## {context.command_path}", "", "```text", *command.get_help(context).splitlines(), "```")
    if isinstance(command, click.Group):
        for name, inner in _subcommands(command, context):
            yield from _command(inner, click.Context(inner, context, name))


def _context() -> click.Context:
    """The command line as everybody sees it, whatever this terminal is like."""
    settings = {**cli.context_settings, "terminal_width": WIDTH, "color": False}
    return click.Context(cli, info_name="toolcert", **settings)


def _subcommands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command


# ---- options.md


def options() -> Iterator[str]:
    yield "# Options"
    yield ""
    yield "Every option has one name. `--base-url` on the command line is `TOOLCERT_BASE_URL` in the environment,"
    yield "`base_url` in `toolcert.toml` and `base_url=` in Python. A flag beats the environment, the environment"
    yield "beats the file, the file beats the default. A repeatable option is a list in the file; in the environment"
    yield "its values are separated by commas."
    takers = _takers()
    for group in dict.fromkeys(option.group for option in OPTIONS.values()):
        yield from ("", f"## {group}")
        for option in (option for option in OPTIONS.values() if option.group == group):
            yield from _option(option, takers.get(option.name, []))


def _option(option: Option, takers: list[str]) -> Iterator[str]:
    short = f"`{option.short}`, " if option.short else ""
    yield from ("", f"### `{option.flag}`", "", option.help, "")
    yield f"- flag: {short}`{option.flag}`{', repeatable' if option.multiple else ''}"
    yield f"- environment: `{option.variable}`"
    if option.in_file and not option.secret:
        place = ", also in an `[endpoints.NAME]` table" if option.per_endpoint else ""
        yield f"- `toolcert.toml`: `{option.key}`{place}"
    if option.default not in (None, False):
        yield f"- default: `{option.default}`"
    if takers:
        yield f"- used by: {', '.join(f'`{name}`' for name in takers)}"


def _takers() -> dict[str, list[str]]:
    """The commands that take each option."""
    takers: dict[str, list[str]] = {}
    for path, command in _all_commands(cli, _context()):
        for parameter in command.params:
            if isinstance(parameter, SettingOption):
                takers.setdefault(parameter.setting.name, []).append(path)
    return takers


def _all_commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name, command in _subcommands(group, context):
        inner = click.Context(command, context, name)
        yield inner.command_path.partition(" ")[2], command
        if isinstance(command, click.Group):
            yield from _all_commands(command, inner)


# ---- findings.md


def findings() -> Iterator[str]:
    yield "# Findings"
    yield ""
    yield "What toolcert can find wrong, by code. **error**: an agent breaks. **warning**: some clients break."
    yield "**note**: worth knowing. `toolcert findings CODE` prints one entry. Public reports under *seen in* are"
    yield "leads: they say that a fault occurred somewhere once, not that a product has it today."
    grouped = list(by_area())
    for area, kinds in grouped:
        yield from ("", f"**{AREAS.get(area, area)}**: " + ", ".join(f"[{one.code}](#{one.anchor})" for one in kinds))
    for area, kinds in grouped:
        yield from ("", f"## {AREAS.get(area, area)}")
        for kind in kinds:
            yield from _finding(kind)


def _finding(kind: FindingKind) -> Iterator[str]:
    yield from ("", f'<a id="{kind.anchor}"></a>', f"### {kind.code}", "", f"**{kind.severity.value}**. {kind.title}")
    yield from ("", f"*What it means.* {kind.meaning}", "", f"*What causes it.* {kind.cause}")
    yield from ("", f"*What to do.* {kind.remedy}")
    if kind.seen_in:
        yield from ("", f"*Seen in.* {', '.join(kind.seen_in)}")


# ---- fault-matrix.md


def fault_matrix() -> Iterator[str]:
    yield "# Faults that can be simulated"
    yield ""
    yield "`toolcert simulate` serves a model for every line: its id is the switch. A test asks each of them over real"
    yield "HTTP, streamed and not, and wants exactly the findings listed here; the faithful model must show none."
    yield "A companion is a finding that the fault cannot help to bring along."
    yield from ("", "| model id | what the vendor does | findings | seen by |", "|---|---|---|---|")
    for row in matrix():
        found = ", ".join(f"[{code}](findings.md#{kind_of(code).anchor})" for code in row.findings)
        modes = "" if len(row.modes) == len(Mode) else f" ({row.modes[0].value} only)"
        yield f"| `{row.switch}` | {row.about} | {found} | {row.seen_by}{modes} |"
    yield from ("", "## Companions", "")
    for row in matrix():
        for code, reason in row.reasons.items():
            yield f"- `{row.switch}` also shows `{code}`: {reason}."
    yield from ("", "## Verdicts of verify", "")
    yield "What one answer shows gets a verdict on the same side, good or not good, from `probe` and `verify`. What"
    yield "a probe or a comparison shows, `verify` does not test. It only warns of these, which one answer cannot"
    yield "settle:"
    yield ""
    yield from (f"- `{row.switch}`: {row.probe_alone}." for row in matrix() if row.probe_alone)
    yield from ("", "## Findings without a switch", "")
    yield from (f"- `{code}`: {reason}." for code, reason in SHOWN_ELSEWHERE.items())


# ---- probes.md


def probes() -> Iterator[str]:
    yield "# Probes"
    yield ""
    yield "Each probe is a short conversation that cannot be passed by luck. `toolcert probe --probe NAME` runs one;"
    yield "`--suite NAME` runs a set. A probe whose precondition never passed is skipped, and says so."
    for group, members in groupby(all_probes(), lambda one: one.group):
        yield from ("", f"## {group.capitalize()}")
        for probe in members:
            yield from _probe(probe)


def _probe(probe: Probe) -> Iterator[str]:
    yield from ("", f'<a id="{probe.name}"></a>', f"### {probe.name}", "", f"{probe.title}", "", f"{probe.meaning}")
    needs = f" Needs {', '.join(f'[{name}](#{name})' for name in probe.needs)}." if probe.needs else ""
    many = "request" if probe.requests == 1 else "requests"
    yield from ("", f"At most {probe.requests} {many} each time.{needs}")


# ---- schemas/*.json


def schemas() -> dict[str, str]:
    """The JSON Schema of every JSON report, by file."""
    return {f"schemas/{file_name(job)}": json.dumps(schema(job), indent=2) + "\n" for job in report_types()}


def licences() -> Iterator[str]:
    """The licence of every package that is installed with toolcert, as the package itself states it."""
    yield "# Licences of the dependencies"
    yield ""
    yield "toolcert is Apache-2.0. These packages are installed with it (`requirements/runtime.txt`)."
    yield ""
    yield "| package | licence |"
    yield "|---|---|"
    locked = (REFERENCE.parents[1] / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    for name in re.findall(r"^([A-Za-z0-9_.-]+)==", locked, re.MULTILINE):
        yield f"| {name} | {_licence(name)} |"


def _licence(name: str) -> str:
    about = metadata.metadata(name)
    expression, text = (next(iter(about.get_all(field) or []), None) for field in ("License-Expression", "License"))
    classified = [line for line in about.get_all("Classifier") or [] if line.startswith("License")]
    named = ", ".join(line.rpartition(" :: ")[2] for line in classified)
    return expression or named or (text or "not stated").splitlines()[0]


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "commands.md": commands,
    "fault-matrix.md": fault_matrix,
    "findings.md": findings,
    "licences.md": licences,
    "options.md": options,
    "probes.md": probes,
}

if __name__ == "__main__":
    sys.exit(main())
