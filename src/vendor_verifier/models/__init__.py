"""The adapters by name and pattern. To add one, write its module here and register it at the end of this file."""

from __future__ import annotations

import inspect
from typing import Any

from toolcert.core.errors import UsageError
from toolcert.verification.adapters import ModelAdapter as ToolcertAdapter
from vendor_verifier.models.base import ModelAdapter
from vendor_verifier.models.generic import GenericModel
from vendor_verifier.models.kimi import KimiModel

_REGISTRY: list[type[ToolcertAdapter]] = [KimiModel]
"""Searched by pattern, the last one first."""
_TYPE_MAP: dict[str, type[ToolcertAdapter]] = {"generic": GenericModel, "kimi": KimiModel}
"""The names that `--model-type` accepts, in any case."""


def register_adapter(adapter: type[ToolcertAdapter] | str, name: str | type[ToolcertAdapter] | None = None) -> None:
    """Register an adapter from outside this package, for its patterns and for `--model-type name`.

    Adapter and name may come in either order.
    """
    if isinstance(adapter, str):
        adapter, name = name, adapter  # type: ignore[assignment]  # the other one is a class then
    if not isinstance(adapter, type):
        raise UsageError("register_adapter needs the class of an adapter.")
    _REGISTRY.append(adapter)
    if isinstance(name, str):
        _TYPE_MAP[name] = adapter


def adapter_class(model: str, model_type: str | None = None) -> type[ToolcertAdapter]:
    """The adapter of that name, or the last one whose pattern occurs in the model's name, or the generic one."""
    if model_type is None:
        return next((adapter for adapter in reversed(_REGISTRY) if adapter.matches(model)), GenericModel)
    known = {name.lower(): adapter for name, adapter in _TYPE_MAP.items()}
    if model_type.lower() not in known:
        raise UsageError(f"there is no adapter {model_type}.", remedy=f"Choose one of {', '.join(sorted(_TYPE_MAP))}.")
    return known[model_type.lower()]


def get_adapter(model_name: str, force_type: str | None = None, **settings: Any) -> ToolcertAdapter:
    """An adapter ready to use; `settings` are those of its class."""
    model_type = settings.pop("model_type", None)
    return make_adapter(adapter_class(model_name, force_type or model_type), model_name, **settings)


def make_adapter(chosen: type[ToolcertAdapter], model_name: str, **settings: Any) -> ToolcertAdapter:
    """An instance of the class; a user's `__init__` gets the model's name if it takes one, and what is set."""
    given = {name: value for name, value in settings.items() if value}
    if "model_name" in inspect.signature(chosen).parameters:
        given["model_name"] = model_name
    return chosen(**given)


__all__ = [
    "GenericModel",
    "KimiModel",
    "ModelAdapter",
    "adapter_class",
    "get_adapter",
    "make_adapter",
    "register_adapter",
]
