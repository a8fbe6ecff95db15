"""What an adapter is: toolcert's own."""

from toolcert.verify.adapters import ModelAdapter

__all__ = ["ModelAdapter"]
