"""What an adapter is: toolcert's own."""

from toolcert.verification.adapters import ModelAdapter

__all__ = ["ModelAdapter"]
