"""toolcert: can I trust this model, at this endpoint, to call tools?

>>> from toolcert import Endpoint, ProbeOptions, probe
>>> run = probe(Endpoint("http://localhost:8000"), options=ProbeOptions(iterations=10))
>>> run.summary.headline

`verify_dataset` replays a dataset, `compare_runs` holds vendors against a baseline, `report` writes a finished
run in any format. What asks an endpoint has an async twin: `probe_async`, `verify_dataset_async`, `models_async`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolcert.version import __version__

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint, models, models_async
    from toolcert.api.probe import ProbeOptions, ProbeRun, probe, probe_async
    from toolcert.api.report import load_run, report
    from toolcert.api.verify import verify as verify_dataset
    from toolcert.api.verify import verify_async as verify_dataset_async
    from toolcert.comparison.compare_options import CompareOptions
    from toolcert.comparison.pipeline import compare as compare_runs
    from toolcert.comparison.result import Comparison
    from toolcert.core.cases import Outcome
    from toolcert.core.errors import ToolcertError
    from toolcert.core.findings import Finding, Severity
    from toolcert.probes.summary.scorecard import ProbeSummary
    from toolcert.verification.run.job import VerifyRun
    from toolcert.verification.verify_options import VerifyOptions

_HOMES = {
    "CompareOptions": "toolcert.comparison.compare_options",
    "Comparison": "toolcert.comparison.result",
    "Endpoint": "toolcert.api.endpoint",
    "Finding": "toolcert.core.findings",
    "Outcome": "toolcert.core.cases",
    "ProbeOptions": "toolcert.api.probe",
    "ProbeRun": "toolcert.api.probe",
    "ProbeSummary": "toolcert.probes.summary.scorecard",
    "Severity": "toolcert.core.findings",
    "ToolcertError": "toolcert.core.errors",
    "VerifyOptions": "toolcert.verification.verify_options",
    "VerifyRun": "toolcert.verification.run.job",
    "compare_runs": "toolcert.comparison.pipeline:compare",
    "load_run": "toolcert.api.report",
    "models": "toolcert.api.endpoint",
    "models_async": "toolcert.api.endpoint",
    "probe": "toolcert.api.probe",
    "probe_async": "toolcert.api.probe",
    "report": "toolcert.api.report",
    "verify_dataset": "toolcert.api.verify:verify",
    "verify_dataset_async": "toolcert.api.verify:verify_async",
}
"""Where each name lives (`module`, or `module:other_name`); it is imported when first used, so that
`import toolcert` costs nothing. No name may be that of a room: the room would hide it once it is imported."""

__all__ = [
    "CompareOptions",
    "Comparison",
    "Endpoint",
    "Finding",
    "Outcome",
    "ProbeOptions",
    "ProbeRun",
    "ProbeSummary",
    "Severity",
    "ToolcertError",
    "VerifyOptions",
    "VerifyRun",
    "__version__",
    "compare_runs",
    "load_run",
    "models",
    "models_async",
    "probe",
    "probe_async",
    "report",
    "verify_dataset",
    "verify_dataset_async",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'toolcert' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)
