"""Gates on findings: what the user will not accept, by code, family or severity."""

from __future__ import annotations

import pytest

from toolcert.core.errors import UsageError
from toolcert.core.findings import Severity
from toolcert.core.gates import Gates, check_gate_codes
from toolcert.diagnose import catalogue
from toolcert.verification.summary.failed_gates import failed_gates
from toolcert.verification.summary.figures import FindingLine, VerifySummary

SUMMARY = VerifySummary(
    run="r",
    toolcert="1",
    started_at=0.0,
    headline="",
    vendor=(
        FindingLine(code="args.schema.required", severity=Severity.ERROR, title="The arguments break it.", rows=19),
        FindingLine(code="stream.one_piece", severity=Severity.NOTE, title="One piece.", rows=1),
    ),
    of_dataset=(FindingLine(code="dataset.bad_schema", severity=Severity.ERROR, title="Broken.", rows=2),),
)


@pytest.mark.parametrize(
    ("gate", "closed"),
    [
        ("args.schema.required", ["args.schema.required"]),
        ("args.schema", ["args.schema.required"]),
        ("error", ["args.schema.required"]),
        ("note", ["args.schema.required", "stream.one_piece"]),
        ("warning", ["args.schema.required"]),
        ("args.schema.type", []),
        ("dataset.bad_schema", []),
    ],
)
def test_a_gate_closes_on_its_code_its_family_or_its_severity_and_worse(gate: str, closed: list[str]) -> None:
    """A fault of the dataset is never charged to the vendor."""
    assert [line.partition(" ")[0] for line in failed_gates(Gates(fail_on=(gate,)), SUMMARY)] == closed


def test_the_message_counts_rows() -> None:
    gates = Gates(fail_on=("stream.one_piece",))
    assert failed_gates(gates, SUMMARY) == ["stream.one_piece (note) in 1 row: One piece."]


def test_a_gate_that_can_never_close_is_refused() -> None:
    with pytest.raises(UsageError, match="no such finding"):
        check_gate_codes(["args.typo"], catalogue())


def test_a_gate_that_is_misspelt_is_told_the_right_spelling() -> None:
    with pytest.raises(UsageError) as refused:
        check_gate_codes(["call.intext"], catalogue())
    assert refused.value.remedy.startswith("Did you mean call.in_text?")
