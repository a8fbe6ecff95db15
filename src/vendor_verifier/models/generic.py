"""The default adapter: changes nothing."""

from toolcert.verification.adapters import GenericAdapter
from vendor_verifier.models.base import ModelAdapter

__all__ = ["GenericModel"]


class GenericModel(ModelAdapter, GenericAdapter):
    """Any model behind an OpenAI-compatible server."""
