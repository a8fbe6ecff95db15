"""The folded groups of the capability matrix look like what is in them."""

from __future__ import annotations

import pytest
from msgspec import structs

from reports.samples import probe_summary
from toolcert.core.statistics.rates import Rate
from toolcert.probes.summary.scorecard import Cell, CellState
from toolcert.reports.probe.capability_matrix import matrix

RATES = {"passed": Rate(k=10, n=10), "flaky": Rate(k=6, n=10), "failed": Rate(k=0, n=10)}


@pytest.mark.parametrize(
    ("cells", "style", "total"),
    [
        ("passed passed", "passed", "2/2"),
        ("passed failed", "flaky tenths-5", "1/2"),
        ("flaky flaky flaky", "flaky tenths-6", "0/3"),
        ("flaky failed", "flaky tenths-3", "0/2"),
        ("failed skipped", "failed", "0/2"),
        ("unsupported skipped", "unsupported", "0/2"),
        ("not_measured not_measured", "not_measured", "0/2"),
        ("skipped", "skipped", "0/1"),
    ],
)
def test_a_folded_group_looks_like_its_cells(cells: str, style: str, total: str) -> None:
    """A model that passes now and then is not shown as one whose server refuses."""
    summary = probe_summary(1, probes=1)
    made = [
        Cell(probe=f"p{number}", group="calling", state=CellState(name), rate=RATES.get(name, Rate()))
        for number, name in enumerate(cells.split())
    ]
    model = structs.replace(summary.models[0], cells=tuple(made))
    ((group,),) = matrix(structs.replace(summary, models=(model,))).lines
    assert (group.style, group.sum) == (style, total)
