"""The faults a simulated vendor can have: `fault:<code>` as a model id switches one on."""

from collections.abc import Iterator

from toolcert.simulate.faults.base import Fault, Mode, SeenBy, Stage, named, registered


def all_faults() -> Iterator[Fault]:
    """Every fault, by code."""
    _load()
    return registered()


def find_fault(code: str) -> Fault | None:
    """The fault with this code, or None."""
    _load()
    return named(code)


def _load() -> None:
    """Import every module of this package once, so that their faults are registered."""
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


__all__ = ["Fault", "Mode", "SeenBy", "Stage", "all_faults", "find_fault"]
