"""Comparisons of runs made up for reports."""

from __future__ import annotations

import random
from pathlib import Path

from reports.hostile import HOSTILE
from support.comparison_runs import Row, write_run
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import Comparison


def make_comparison(folder: Path, *, vendors: int = 1, rows: int = 200, hostile: bool = False) -> Comparison:
    """Two runs of a baseline, and vendors that drift from it the further down the list they stand."""
    text = HOSTILE if hostile else ""
    label = text.replace("/", "").replace("\x00", "")[:80]
    baselines = [write_run(folder / f"base-{n}", _rows(rows, 0.03, n, text), model="m") for n in (1, 2)]
    others = [
        write_run(folder / f"vendor-{n}{label}", _rows(rows, 0.12 * n, 9 + n, text)) for n in range(1, vendors + 1)
    ]
    return compare([str(path) for path in baselines], [str(path) for path in others], CompareOptions())


def _rows(count: int, drift: float, seed: int, text: str) -> list[Row]:
    usual, chance = random.Random(1), random.Random(seed)
    made = []
    for index in range(1, count + 1):
        called = usual.random() < 0.7
        called = not called if chance.random() < drift else called
        word = "y" if chance.random() < drift else "x"
        made.append(
            Row(
                index=index,
                question=f"question {index} {text}",
                called=called,
                arguments=text or f'{{"word": "{word}", "exact": true}}',
                name=text or "look_up",
                text=text or ("" if called else "Which word do you mean?"),
                tokens=100 + (seed > 2) * 5,
            )
        )
    return made
