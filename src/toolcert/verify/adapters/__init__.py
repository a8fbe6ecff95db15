"""Model adapters: what one family of models needs that the protocol does not say."""

from toolcert.verify.adapters.base import ModelAdapter
from toolcert.verify.adapters.generic import GenericAdapter
from toolcert.verify.adapters.kimi import KimiAdapter
from toolcert.verify.adapters.registry import adapter_names, get_adapter, load_adapter, register_adapter

__all__ = [
    "GenericAdapter",
    "KimiAdapter",
    "ModelAdapter",
    "adapter_names",
    "get_adapter",
    "load_adapter",
    "register_adapter",
]
