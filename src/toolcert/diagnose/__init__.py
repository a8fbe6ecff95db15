"""One small function per finding, registered with its catalogue entry."""

from __future__ import annotations

from toolcert.diagnose.examining import examine, in_order
from toolcert.diagnose.judging import CallJudgement, judge_calls
from toolcert.diagnose.registry import catalogue, finding, kind_of

__all__ = ["CallJudgement", "catalogue", "examine", "finding", "in_order", "judge_calls", "kind_of"]
