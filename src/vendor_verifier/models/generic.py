"""The default adapter: changes nothing."""

from toolcert.verify.adapters import GenericAdapter as GenericModel

__all__ = ["GenericModel"]
