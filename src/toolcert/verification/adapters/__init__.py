"""Model adapters: what one family of models needs that the protocol does not say."""

from toolcert.verification.adapters.base import GenericAdapter, ModelAdapter
from toolcert.verification.adapters.kimi import KimiAdapter
from toolcert.verification.adapters.registry import adapter_names, get_adapter, load_adapter, register_adapter

__all__ = [
    "GenericAdapter",
    "KimiAdapter",
    "ModelAdapter",
    "adapter_names",
    "get_adapter",
    "load_adapter",
    "register_adapter",
]
