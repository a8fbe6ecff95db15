"""The adapter of Kimi models."""

from toolcert.verify.adapters import KimiAdapter as KimiModel

__all__ = ["KimiModel"]
