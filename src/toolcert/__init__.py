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
    from toolcert.api.endpoint import Endpoint
    from toolcert.api.listing import models, models_async
    from toolcert.api.probing import ProbeOptions, ProbeRun, probe, probe_async
    from toolcert.api.reporting import load_run, report
    from toolcert.api.verifying import verify as verify_dataset
    from toolcert.api.verifying import verify_async as verify_dataset_async
    from toolcert.compare.comparing import compare as compare_runs
    from toolcert.compare.comparison import Comparison
    from toolcert.compare.options import Options as CompareOptions
    from toolcert.core.errors import ToolcertError
    from toolcert.core.findings import Finding, Severity
    from toolcert.core.outcomes import Outcome
    from toolcert.probes.scorecard import ProbeSummary
    from toolcert.verify.job import VerifyRun
    from toolcert.verify.options import VerifyOptions

_HOMES = {
    "CompareOptions": "toolcert.compare.options:Options",
    "Comparison": "toolcert.compare.comparison",
    "Endpoint": "toolcert.api.endpoint",
    "Finding": "toolcert.core.findings",
    "Outcome": "toolcert.core.outcomes",
    "ProbeOptions": "toolcert.api.probing",
    "ProbeRun": "toolcert.api.probing",
    "ProbeSummary": "toolcert.probes.scorecard",
    "Severity": "toolcert.core.findings",
    "ToolcertError": "toolcert.core.errors",
    "VerifyOptions": "toolcert.verify.options",
    "VerifyRun": "toolcert.verify.job",
    "compare_runs": "toolcert.compare.comparing:compare",
    "load_run": "toolcert.api.reporting",
    "models": "toolcert.api.listing",
    "models_async": "toolcert.api.listing",
    "probe": "toolcert.api.probing",
    "probe_async": "toolcert.api.probing",
    "report": "toolcert.api.reporting",
    "verify_dataset": "toolcert.api.verifying:verify",
    "verify_dataset_async": "toolcert.api.verifying:verify_async",
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
