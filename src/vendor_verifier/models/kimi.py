"""The adapter of Kimi models."""

from toolcert.verification.adapters import KimiAdapter as KimiModel

__all__ = ["KimiModel"]
