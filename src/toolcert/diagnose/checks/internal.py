"""The finding of a case that toolcert itself failed to judge. It says nothing about the model: `not_measured`."""

from __future__ import annotations

from toolcert.core.findings import INTERNAL, FindingKind, Severity
from toolcert.diagnose.checks.registry import declare

declare(
    FindingKind(
        code=INTERNAL,
        severity=Severity.NOTE,
        title="toolcert failed on this case: a bug of ours.",
        meaning="The case is not measured and counts neither for nor against the model; the run goes on.",
        cause="An answer that we did not foresee. The traceback is in the record of the case.",
        remedy="Please report it with the traceback, which `toolcert show RUN CASE` prints. "
        "Run the same command again after an update: the case is asked again.",
    )
)
