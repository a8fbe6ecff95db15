"""The default adapter: changes nothing."""

from toolcert.verification.adapters import GenericAdapter as GenericModel

__all__ = ["GenericModel"]
