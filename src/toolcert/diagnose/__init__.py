"""Diagnosis of exchanges: one small function per finding, registered with its catalogue entry."""

from __future__ import annotations

from toolcert.diagnose.checks.registry import catalogue, finding, kind_of
from toolcert.diagnose.examination import examine, in_order
from toolcert.diagnose.judgement import CallJudgement, judge_calls

__all__ = ["CallJudgement", "catalogue", "examine", "finding", "in_order", "judge_calls", "kind_of"]
