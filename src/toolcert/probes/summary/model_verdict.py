"""The evidence about one model, put to the rule: its abilities, the faults that were reproduced, and coverage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from toolcert.core.findings import Severity
from toolcert.core.verdict import REPRODUCED, Ability, CappingFinding, Coverage, Verdict, Word, can_cap, decide
from toolcert.diagnose import kind_of
from toolcert.probes.summary.scorecard import Cell, CellState, ProbeColumn, UnderLoad

CALL_LOST = ("call.", "args.", "finish.calls_missing", "envelope.")
"""Findings of a call that was made and did not arrive whole: the model is not said to make none."""
OF_A_CALL = ("call.", "args.", "finish.calls_missing", "envelope.")
"""Findings that break the call itself, where it is not streamed."""


def model_verdict(
    cells: Sequence[Cell],
    columns: Mapping[str, ProbeColumn],
    threshold: float,
    allow: Sequence[str] = (),
    under_load: UnderLoad | None = None,
) -> Verdict:
    """What is said of a model that was asked; findings and probes in `allow` do not decide."""
    verdict = decide(
        [_ability(cell, columns[cell.probe]) for cell in cells],
        [*(under_load.breaks if under_load is not None else ()), *_faults(cells, columns)],
        coverage=_coverage(cells),
        threshold=threshold,
        allow=allow,
        known=sum(cell.known + cell.known_refused for cell in cells),
    )
    lost = any(code.startswith(CALL_LOST) for code in verdict.caps)
    if verdict.word is Word.FAILS and not lost and not makes_calls(cells):
        return msgspec.structs.replace(verdict, reason=f"does not call tools; {verdict.reason}")
    return verdict


def makes_calls(cells: Sequence[Cell]) -> bool:
    """Whether a call was seen, right or wrong, or none was ever expected."""
    return any(cell.called.k or cell.calls for cell in cells) or not any(cell.called.n for cell in cells)


def _ability(cell: Cell, column: ProbeColumn) -> Ability:
    return Ability(
        name=cell.probe,
        fault=cell.reason if cell.state is not CellState.PASSED else "",
        k=cell.rate.k,
        n=cell.rate.n - cell.known,
        refused=cell.counts.unsupported - cell.known_refused,
        missing=cell.counts.not_measured + cell.unasked,
        core=column.core,
        asked_for=column.weight > 0,
        codes=tuple(
            found.code for found in cell.findings if found.severity is Severity.ERROR and found.count > found.known
        ),
    )


def _faults(cells: Sequence[Cell], columns: Mapping[str, ProbeColumn]) -> Iterator[CappingFinding]:
    """Errors seen in at least two cases, the most frequent first."""
    shown: dict[str, list[tuple[Cell, int]]] = {}
    for cell in cells:
        for found in cell.findings:
            if can_cap(found.code, found.severity) and found.count > found.known:
                shown.setdefault(found.code, []).append((cell, found.count - found.known))
    faults = [_fault(code, seen, columns) for code, seen in shown.items()]
    yield from sorted((fault for fault in faults if fault.k >= REPRODUCED), key=lambda fault: (-fault.k, fault.code))


def _fault(code: str, seen: Sequence[tuple[Cell, int]], columns: Mapping[str, ProbeColumn]) -> CappingFinding:
    of_core = [(cell, count) for cell, count in seen if columns[cell.probe].core]
    # Seen once in a core probe and again elsewhere it is still reproduced, and all of it counts.
    breaks_calls = code.startswith(OF_A_CALL) and sum(count for _, count in of_core) >= REPRODUCED
    counted = of_core if breaks_calls else seen
    return CappingFinding(
        code=code,
        title=kind_of(code).said,
        k=sum(count for _, count in counted),
        n=sum(max(count, cell.rate.n) for cell, count in counted),
        core=breaks_calls,
    )


def _coverage(cells: Sequence[Cell]) -> Coverage:
    """What was left out because a decision was reached, or a precondition failed, is not a gap."""
    measured = sum(cell.counts.measured + cell.counts.unsupported for cell in cells)
    missing = sum(cell.counts.not_measured + cell.unasked for cell in cells)
    return Coverage(measured=measured, planned=measured + missing)
