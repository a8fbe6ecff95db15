"""From records to the summary that every report reads."""

from __future__ import annotations

from toolcert.probes.scorecard import ProbeSummary

__all__ = ["ProbeSummary"]
