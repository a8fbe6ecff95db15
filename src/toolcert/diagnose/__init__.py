"""One small function per finding, registered with its catalogue entry.

A module of this package that registers a finding needs no entry anywhere else: all are imported here.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from toolcert.diagnose.examining import examine, in_order
from toolcert.diagnose.judging import CallJudgement, judge_calls
from toolcert.diagnose.registry import catalogue, finding, kind_of

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["CallJudgement", "catalogue", "examine", "finding", "in_order", "judge_calls", "kind_of"]
