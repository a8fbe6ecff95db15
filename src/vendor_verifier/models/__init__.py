"""The adapters by name and pattern. To add one, write its module here and register it at the end of this file."""

from __future__ import annotations

from toolcert.core.errors import UsageError
from vendor_verifier.models.base import ModelAdapter
from vendor_verifier.models.generic import GenericModel
from vendor_verifier.models.kimi import KimiModel

_REGISTRY: list[type[ModelAdapter]] = [KimiModel]
"""Searched by pattern, the last one first."""
_TYPE_MAP: dict[str, type[ModelAdapter]] = {"generic": GenericModel, "kimi": KimiModel}
"""The names that `--model-type` accepts."""


def register_adapter(name: str, adapter: type[ModelAdapter]) -> None:
    """Register an adapter from outside this package."""
    _REGISTRY.append(adapter)
    _TYPE_MAP[name] = adapter


def adapter_class(model: str, model_type: str | None = None) -> type[ModelAdapter]:
    """The adapter of that name, or the last one whose pattern occurs in the model's name, or the generic one."""
    if model_type is None:
        return next((adapter for adapter in reversed(_REGISTRY) if adapter.matches(model)), GenericModel)
    if model_type not in _TYPE_MAP:
        raise UsageError(f"there is no adapter {model_type}.", remedy=f"Choose one of {', '.join(sorted(_TYPE_MAP))}.")
    return _TYPE_MAP[model_type]


def get_adapter(
    model: str, model_type: str | None = None, *, use_raw_completions: bool = False, tokenizer_model: str | None = None
) -> ModelAdapter:
    """An adapter ready to use."""
    chosen = adapter_class(model, model_type)
    return chosen(use_raw_completions=use_raw_completions, tokenizer_model=tokenizer_model)


__all__ = ["GenericModel", "KimiModel", "ModelAdapter", "adapter_class", "get_adapter", "register_adapter"]
