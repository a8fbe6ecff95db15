"""toolcert: can I trust this model, at this endpoint, to call tools?

>>> from toolcert import Endpoint, ProbeOptions, probe
>>> run = probe(Endpoint("http://localhost:8000"), options=ProbeOptions(iterations=10))
>>> run.summary.headline

`verify` replays a dataset, `load` asks alone and under load, `compare` compares vendors with a baseline, `diff` a later
run with an earlier one, `report` writes a finished run in any format, `load_run` reads one, `merge` joins runs of
several machines, `Viewer` shows runs in the browser. The functions have the names of the commands, and those that take
long have an async twin: `probe_async`, `verify_async`, `load_async`, `compare_async`, `models_async`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolcert.version import __version__

if TYPE_CHECKING:
    from toolcert.api.compare import compare, compare_async
    from toolcert.api.diff import diff
    from toolcert.api.endpoint import Endpoint, models, models_async
    from toolcert.api.load import LoadJob, LoadOptions, LoadRun, load, load_async
    from toolcert.api.merge import merge
    from toolcert.api.probe import ProbeJob, ProbeOptions, ProbeRun, probe, probe_async
    from toolcert.api.report import LoadedRun, load_run, report
    from toolcert.api.verify import verify, verify_async
    from toolcert.comparison.compare_options import CompareOptions
    from toolcert.comparison.match.partners import Match
    from toolcert.comparison.read.packed_run import By
    from toolcert.comparison.result import CompareVerdict, Comparison
    from toolcert.comparison.stats.confusion import Trigger
    from toolcert.core.cases import Outcome
    from toolcert.core.errors import (
        ConfigurationError,
        ExitCode,
        InputError,
        NothingMeasuredError,
        OutputError,
        ToolcertError,
        UsageError,
    )
    from toolcert.core.events import (
        AttemptMade,
        CaseFinished,
        CaseStarted,
        Event,
        Handler,
        RunFinished,
        RunStarted,
        RunStopping,
    )
    from toolcert.core.findings import Finding, Severity
    from toolcert.core.targets import ModelInfo
    from toolcert.core.verdict import Verdict, Word
    from toolcert.difference.run_difference import Change, RunDifference
    from toolcert.load_test.summary import LoadSummary
    from toolcert.probes.summary.scorecard import ProbeSummary
    from toolcert.runs.encoding import Keep
    from toolcert.verification.run.job import VerifyJob, VerifyRun
    from toolcert.verification.summary.figures import VerifySummary
    from toolcert.verification.verify_options import VerifyOptions
    from toolcert.view.viewer import Viewer

_HOMES = {
    "AttemptMade": "toolcert.core.events",
    "By": "toolcert.comparison.read.packed_run",
    "CaseFinished": "toolcert.core.events",
    "CaseStarted": "toolcert.core.events",
    "Change": "toolcert.difference.run_difference",
    "CompareOptions": "toolcert.comparison.compare_options",
    "CompareVerdict": "toolcert.comparison.result",
    "Comparison": "toolcert.comparison.result",
    "ConfigurationError": "toolcert.core.errors",
    "Endpoint": "toolcert.api.endpoint",
    "Event": "toolcert.core.events",
    "ExitCode": "toolcert.core.errors",
    "Finding": "toolcert.core.findings",
    "Handler": "toolcert.core.events",
    "InputError": "toolcert.core.errors",
    "Keep": "toolcert.runs.encoding",
    "LoadJob": "toolcert.api.load",
    "LoadOptions": "toolcert.api.load",
    "LoadRun": "toolcert.api.load",
    "LoadSummary": "toolcert.load_test.summary",
    "LoadedRun": "toolcert.api.report",
    "Match": "toolcert.comparison.match.partners",
    "ModelInfo": "toolcert.core.targets",
    "NothingMeasuredError": "toolcert.core.errors",
    "Outcome": "toolcert.core.cases",
    "OutputError": "toolcert.core.errors",
    "ProbeJob": "toolcert.api.probe",
    "ProbeOptions": "toolcert.api.probe",
    "ProbeRun": "toolcert.api.probe",
    "ProbeSummary": "toolcert.probes.summary.scorecard",
    "RunDifference": "toolcert.difference.run_difference",
    "RunFinished": "toolcert.core.events",
    "RunStarted": "toolcert.core.events",
    "RunStopping": "toolcert.core.events",
    "Severity": "toolcert.core.findings",
    "ToolcertError": "toolcert.core.errors",
    "Trigger": "toolcert.comparison.stats.confusion",
    "UsageError": "toolcert.core.errors",
    "Verdict": "toolcert.core.verdict",
    "VerifyJob": "toolcert.verification.run.job",
    "VerifyOptions": "toolcert.verification.verify_options",
    "VerifyRun": "toolcert.verification.run.job",
    "VerifySummary": "toolcert.verification.summary.figures",
    "Viewer": "toolcert.view.viewer",
    "Word": "toolcert.core.verdict",
    "compare": "toolcert.api.compare",
    "compare_async": "toolcert.api.compare",
    "load": "toolcert.api.load",
    "load_async": "toolcert.api.load",
    "diff": "toolcert.api.diff",
    "load_run": "toolcert.api.report",
    "merge": "toolcert.api.merge",
    "models": "toolcert.api.endpoint",
    "models_async": "toolcert.api.endpoint",
    "probe": "toolcert.api.probe",
    "probe_async": "toolcert.api.probe",
    "report": "toolcert.api.report",
    "verify": "toolcert.api.verify",
    "verify_async": "toolcert.api.verify",
}
"""Where each name lives; it is imported when first used, so that `import toolcert` costs nothing. No module or package
directly below toolcert may have one of these names: once imported, it would hide the function."""

_FORMER = {"compare_runs": "compare", "verify_dataset": "verify", "verify_dataset_async": "verify_async"}
"""Names of 0.1 and what they are called now; they go with the next version."""

__all__ = [
    "AttemptMade",
    "By",
    "CaseFinished",
    "CaseStarted",
    "Change",
    "CompareOptions",
    "CompareVerdict",
    "Comparison",
    "ConfigurationError",
    "Endpoint",
    "Event",
    "ExitCode",
    "Finding",
    "Handler",
    "InputError",
    "Keep",
    "LoadJob",
    "LoadOptions",
    "LoadRun",
    "LoadSummary",
    "LoadedRun",
    "Match",
    "ModelInfo",
    "NothingMeasuredError",
    "Outcome",
    "OutputError",
    "ProbeJob",
    "ProbeOptions",
    "ProbeRun",
    "ProbeSummary",
    "RunDifference",
    "RunFinished",
    "RunStarted",
    "RunStopping",
    "Severity",
    "ToolcertError",
    "Trigger",
    "UsageError",
    "Verdict",
    "VerifyJob",
    "VerifyOptions",
    "VerifyRun",
    "VerifySummary",
    "Viewer",
    "Word",
    "__version__",
    "compare",
    "compare_async",
    "diff",
    "load",
    "load_async",
    "load_run",
    "merge",
    "models",
    "models_async",
    "probe",
    "probe_async",
    "report",
    "verify",
    "verify_async",
]


def __getattr__(name: str) -> Any:
    if name in _FORMER:
        import warnings

        former, name = name, _FORMER[name]
        warnings.warn(f"toolcert.{former} is now toolcert.{name}.", DeprecationWarning, stacklevel=2)
    if name not in _HOMES:
        raise AttributeError(f"module 'toolcert' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
