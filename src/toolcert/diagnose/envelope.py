"""Findings about the answer as a whole."""

from __future__ import annotations

from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.registry import declare

declare(
    FindingKind(
        code="envelope.not_openai",
        severity=Severity.ERROR,
        title="The answer does not have the form of the protocol.",
        meaning="Status 200, but no choices, no JSON, a web page, or an error in disguise. Clients fail with an "
        "unrelated message, or take it for an empty answer.",
        cause="A wrong base URL, a proxy's error page, or a gateway that wraps a backend's failure in a success.",
        remedy="Read the evidence: it is the beginning of what came back. Check the URL and its `/v1` first.",
        seen_in=("cline #13348",),
    )
)
