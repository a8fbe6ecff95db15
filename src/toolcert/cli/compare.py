"""`toolcert compare`: is this vendor the same as the baseline?"""

from __future__ import annotations

from typing import Any

import click

from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import COMPARING, REPORTS, names

_SEVERAL = ("--baseline", "--vendor")


class SeveralRuns(SettingsCommand):
    """Takes several words after --baseline and --vendor."""

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args
        # click has no option with several values, only one that is repeated.
        parser.parse_args = lambda args: parse(_repeat_flags(args))  # type: ignore[method-assign] # see above
        return parser


def _repeat_flags(args: list[str]) -> list[str]:
    """`--baseline A B` as `--baseline A --baseline B`."""
    result: list[str] = []
    flag, first = "", False
    for word in args:
        if word.startswith("-") and word != "-":
            flag, first = (word, True) if word in _SEVERAL else ("", False)
            result.append(word)
            continue
        result += [word] if first or not flag else [flag, word]
        first = False
    return result


@click.command(cls=SeveralRuns, short_help="Is this vendor the same as the baseline, and how sure are we?")
@use(*names(COMPARING, REPORTS), "fail-on", "seed")
def compare(settings: Settings) -> int:
    """Is this vendor the same as the baseline, and how sure are we?

    Runs are folders of `toolcert verify`, results.jsonl files of the older verifiers, or names kept with
    `toolcert bless`. A second run of the baseline tells how much it differs from itself; without one, no vendor can
    be called equivalent unless it hardly differs at all.

    --fail-on takes regression (degraded or different), inconclusive, missing, none, a finding or a severity; without
    it, rows that the vendor owes (missing) end with 1.

    \b
    toolcert compare --baseline official-1 official-2 --vendor vendor-a
    toolcert compare --baseline official --vendor a b c --markdown leaderboard.md --fail-on regression
    toolcert compare --baseline run1.jsonl --vendor run2.jsonl --match index --trigger finish-reason
    toolcert compare --plan --effect 0.03
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.cli import comparing

    return comparing.run(settings)
