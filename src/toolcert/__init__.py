"""toolcert: can I trust this model, at this endpoint, to call tools?

>>> from toolcert import Endpoint, ProbeOptions, probe
>>> run = probe(Endpoint("http://localhost:8000"), options=ProbeOptions(iterations=10))
>>> run.summary.headline

Every function has an async twin: `probe_async`, `models_async`, ...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolcert.version import __version__

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint
    from toolcert.api.listing import models, models_async
    from toolcert.api.probing import ProbeOptions, ProbeRun, probe, probe_async
    from toolcert.core.errors import ToolcertError
    from toolcert.core.findings import Finding, Severity
    from toolcert.core.outcomes import Outcome
    from toolcert.probes.scorecard import ProbeSummary

_HOMES = {
    "Endpoint": "toolcert.api.endpoint",
    "Finding": "toolcert.core.findings",
    "Outcome": "toolcert.core.outcomes",
    "ProbeOptions": "toolcert.api.probing",
    "ProbeRun": "toolcert.api.probing",
    "ProbeSummary": "toolcert.probes.scorecard",
    "Severity": "toolcert.core.findings",
    "ToolcertError": "toolcert.core.errors",
    "models": "toolcert.api.listing",
    "models_async": "toolcert.api.listing",
    "probe": "toolcert.api.probing",
    "probe_async": "toolcert.api.probing",
}
"""Where each name lives; it is imported when first used, so that `import toolcert` costs nothing."""

__all__ = [
    "Endpoint",
    "Finding",
    "Outcome",
    "ProbeOptions",
    "ProbeRun",
    "ProbeSummary",
    "Severity",
    "ToolcertError",
    "__version__",
    "models",
    "models_async",
    "probe",
    "probe_async",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'toolcert' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
