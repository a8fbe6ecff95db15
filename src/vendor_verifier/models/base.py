"""The base class of adapters, which is toolcert's."""

from toolcert.verification.adapters import ModelAdapter

__all__ = ["ModelAdapter"]
