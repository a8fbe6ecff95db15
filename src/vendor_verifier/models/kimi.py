"""The adapter of Kimi models."""

from toolcert.verification.adapters import KimiAdapter
from vendor_verifier.models.base import ModelAdapter

__all__ = ["KimiModel"]


class KimiModel(ModelAdapter, KimiAdapter):
    """Sets the roles and fields that Kimi's template needs, and reads calls by its markers."""
