"""vendor-verifier, as its users know it, on top of toolcert."""

from typing import Any

from toolcert.version import __version__
from vendor_verifier.models import ModelAdapter, get_adapter, register_adapter
from vendor_verifier.validator import Evaluation, ToolCallsValidator, Validator

__all__ = [
    "Evaluation",
    "ModelAdapter",
    "ToolCallsValidator",
    "Validator",
    "__version__",
    "compare_results",
    "get_adapter",
    "register_adapter",
]


def __getattr__(name: str) -> Any:
    """Import `compare_results` on demand: `vendor_verifier.compare` is also a program, to be imported only once."""
    if name == "compare_results":
        from vendor_verifier.compare import compare_results

        return compare_results
    raise AttributeError(f"module 'vendor_verifier' has no attribute {name!r}")
