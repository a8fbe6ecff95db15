"""Gates: scores and findings that the user declares unacceptable before the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from toolcert.core.errors import UsageError
from toolcert.core.findings import Severity
from toolcert.diagnose import catalogue
from toolcert.probes.summary.scorecard import Category, ModelSummary, ProbeSummary


def check_gate_codes(codes: Sequence[str]) -> None:
    """Refuse a gate that could never close: a code or severity that does not exist."""
    severities = {severity.value for severity in Severity}
    for code in [code for code in codes if code not in severities]:
        if not any(code == kind.code or code.startswith(f"{kind.code}.") for kind in catalogue()):
            close = get_close_matches(code, [*severities, *(kind.code for kind in catalogue())], n=1)
            suggestion = f"Did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"--fail-on {code}: no such finding or severity.", remedy=f"{suggestion}`toolcert findings` lists them."
            )


def failed_gates(summary: ProbeSummary, fail_under: float | None, fail_on: Sequence[str]) -> list[str]:
    """One line for each gate that closed."""
    unmeasured = _unmeasured(summary) if fail_under is not None or fail_on else ()
    return [*unmeasured, *_scores(summary, fail_under), *_findings(summary, fail_on)]


def _unmeasured(summary: ProbeSummary) -> Iterator[str]:
    """Endpoints that nothing is known of do not pass any gate."""
    return (f"{name} could not be measured: {reason}" for name, reason in summary.unreachable.items())


def _scores(summary: ProbeSummary, fail_under: float | None) -> Iterator[str]:
    if fail_under is None:
        return
    for model in summary.models:
        if model.category is Category.UNSUPPORTED:
            if model.counts.unsupported:  # others cannot chat: they were not asked and have no score
                yield f"{_name(summary, model)} refuses tools, so it does not reach {fail_under:g}."
        elif model.score.low < fail_under:
            yield f"{_name(summary, model)} scores {model.score}, under {fail_under:g}."


def _findings(summary: ProbeSummary, fail_on: Sequence[str]) -> Iterator[str]:
    for cause in summary.causes:
        if any(meets(cause.code, cause.severity, gate) for gate in fail_on):
            yield f"{cause.code} ({cause.severity}) in {', '.join(cause.models[:5])}: {cause.title}"


def meets(code: str, severity: Severity, gate: str) -> bool:
    """Whether a gate is about this finding: its code, a family of codes, or a severity."""
    return gate in (severity.value, code) or code.startswith(f"{gate}.")


def _name(summary: ProbeSummary, model: ModelSummary) -> str:
    return model.model if len(summary.endpoints) < 2 else f"{model.endpoint}: {model.model}"
