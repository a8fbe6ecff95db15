"""Cell P7: what starting the command costs."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import measure
from kit import Kit, Row


def help_text(kit: Kit) -> Iterator[Row]:
    """P7: `toolcert --help` against an interpreter that does nothing."""
    commands = {"nothing": [sys.executable, "-c", "pass"], "help": [kit.toolcert, "--help"]}
    cost = measure.in_turns(commands, rounds=11)
    ratio = cost["help"].cpu / cost["nothing"].cpu
    figures = f"{ratio:.1f}x ({cost['help'].cpu * 1000:.0f} against {cost['nothing'].cpu * 1000:.0f} ms)"
    yield Row("P7", "`toolcert --help` over `python -c pass`", figures, "<= 6x", "", ratio <= 6)
