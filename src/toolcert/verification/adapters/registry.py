"""Which adapter a model gets: by name, by pattern, from a file or from a plugin."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.core.text.spelling import did_you_mean
from toolcert.core.values import JsonObject
from toolcert.settings.packages import offers_entry_points
from toolcert.verification.adapters.base import GenericAdapter, ModelAdapter
from toolcert.verification.adapters.kimi import KimiAdapter

ENTRY_POINTS = "toolcert.adapters"
GENERIC = "generic"

_registered: dict[str, type[ModelAdapter]] = {GENERIC: GenericAdapter, "kimi": KimiAdapter}
_OURS = (GenericAdapter, KimiAdapter)


def register_adapter(name: str, adapter: type[ModelAdapter]) -> None:
    """Register an adapter as `name`; it replaces an earlier one of that name."""
    _registered[name] = adapter


def adapter_names() -> list[str]:
    """The names `--model-type` takes, plugins included."""
    return sorted(_known())


def get_adapter(
    model: str,
    model_type: str | None = None,
    *,
    use_raw_completions: bool = False,
    tokenizer_model: str | None = None,
) -> ModelAdapter:
    """The adapter called `model_type`, or the one whose pattern is part of the model's name, or the generic one."""
    chosen = _by_name(model_type) if model_type else _by_pattern(model)
    careful = chosen if chosen in _OURS else _on_a_copy(chosen)
    return careful(use_raw_completions=use_raw_completions, tokenizer_model=tokenizer_model)


def load_adapter(reference: str) -> str:
    """Load an adapter from `file.py:Class` and return the name it is registered under."""
    path, _, name = reference.rpartition(":")
    if not path or not name.isidentifier():
        raise UsageError(f"--adapter {reference} is not of the form file.py:Class.")
    adapter = getattr(_module(Path(path)), name, None)
    if not (isinstance(adapter, type) and issubclass(adapter, ModelAdapter)):
        raise ConfigurationError(
            f"{path} has no adapter {name}.",
            remedy="Derive the class from toolcert.verification.adapters.ModelAdapter.",
        )
    register_adapter(reference, adapter)
    return reference


def _on_a_copy(adapter: type[ModelAdapter]) -> type[ModelAdapter]:
    """Make an adapter work on a copy: a user's adapter may change messages in place, but a row must not change."""

    class Careful(adapter):  # type: ignore[valid-type, misc]  # the base is known at run time only
        def transform_messages(self, messages: list[JsonObject]) -> list[JsonObject]:
            transformed: list[JsonObject] = super().transform_messages(deepcopy(messages))
            return messages if transformed == messages else transformed

    Careful.__name__ = adapter.__name__
    return Careful


def _known() -> dict[str, type[ModelAdapter]]:
    return _plugins() | _registered


@cache
def _plugins() -> dict[str, type[ModelAdapter]]:
    """Adapters of installed packages; looked up once, because the lookup is slow to load."""
    if not offers_entry_points(ENTRY_POINTS):
        return {}
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}


def _by_name(name: str) -> type[ModelAdapter]:
    known = _known()
    if name not in known:
        remedy = f"{did_you_mean(name, known)} Choose one of {', '.join(sorted(known))}.".lstrip()
        raise UsageError(f"there is no adapter {name!r}.", remedy=remedy)
    return known[name]


def _by_pattern(model: str) -> type[ModelAdapter]:
    # The last one registered wins, so that a user's adapter takes precedence over ours.
    return next((adapter for adapter in reversed(_known().values()) if adapter.matches(model)), GenericAdapter)


def _module(path: Path) -> ModuleType:
    loader = SourceFileLoader(f"toolcert_adapter_{path.stem}", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    try:
        loader.exec_module(module)
    except OSError as error:
        raise ConfigurationError(f"cannot read the adapter {path}: {error.strerror or error}.") from error
    except Exception as error:  # a user's file may raise anything
        raise ConfigurationError(f"the adapter {path} cannot be loaded: {type(error).__name__}: {error}.") from error
    return module
