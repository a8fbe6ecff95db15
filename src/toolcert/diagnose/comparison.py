"""Findings that only a comparison with a baseline can show."""

from __future__ import annotations

from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.registry import declare

declare(
    FindingKind(
        code="trigger.over",
        severity=Severity.WARNING,
        title="Tools are called more often than at the baseline.",
        meaning="On the same requests the vendor calls where the baseline answers in words, more often than the other "
        "way round. Agents act where they should talk: needless calls, costs and side effects.",
        cause="Another chat template, other sampling settings, or weights that differ from the reference.",
        remedy="Look at the rows named in the comparison, and ask the vendor about template and quantisation.",
    )
)
declare(
    FindingKind(
        code="trigger.under",
        severity=Severity.WARNING,
        title="Tools are called less often than at the baseline.",
        meaning="On the same requests the vendor answers in words where the baseline calls, more often than the other "
        "way round. Agents talk where they should act: tasks are left undone, or answers are made up.",
        cause="Tools that do not reach the prompt as the model learnt them, calls lost in a parser, or weights that "
        "differ from the reference.",
        remedy="Look for call.in_text and finish.calls_missing first: lost calls look like calls never made.",
    )
)
