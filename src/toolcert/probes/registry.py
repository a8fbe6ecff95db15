"""The registry of probes: a probe is a class with `@probe` in a module of `catalogue/`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeVar

from toolcert.core.errors import UsageError
from toolcert.core.text.spelling import did_you_mean
from toolcert.probes.base import GROUPS, Probe

_probes: dict[str, Probe] = {}
P = TypeVar("P", bound=type[Probe])


def probe(cls: P) -> P:
    """Register a probe class."""
    register(cls())
    return cls


def register(instance: Probe) -> None:
    """Register a ready probe."""
    if instance.group not in GROUPS:
        raise ValueError(f"probe {instance.name}: no such group: {instance.group}")
    if instance.name in _probes:
        raise ValueError(f"probe {instance.name} is registered twice")
    _probes[instance.name] = instance


def all_probes() -> tuple[Probe, ...]:
    """Every probe, in display order."""
    _discover()
    return tuple(sorted(_probes.values(), key=_place))


def find_probe(name: str) -> Probe:
    """The probe of that name; a wrong name is a usage error."""
    _discover()
    if name not in _probes:
        remedy = f"{did_you_mean(name, _probes)} See toolcert probe --list-probes.".lstrip()
        raise UsageError(f"there is no probe {name!r}.", remedy=remedy)
    return _probes[name]


def with_needs(names: Iterable[str]) -> tuple[Probe, ...]:
    """The named probes and, before them, those they need: an unmet precondition could be luck."""
    chosen: dict[str, Probe] = {}
    for name in names:
        _choose(name, chosen)
    return tuple(sorted(chosen.values(), key=_place))


def _choose(name: str, chosen: dict[str, Probe]) -> None:
    instance = find_probe(name)
    if name not in chosen:
        chosen[name] = instance
        for needed in instance.needs:
            _choose(needed, chosen)


def _place(instance: Probe) -> tuple[int, int, str]:
    return GROUPS.index(instance.group), instance.order, instance.name


@cache
def _discover() -> None:
    load_modules("toolcert.probes.catalogue")


def load_modules(package: str) -> Sequence[str]:
    """Import every module of a package, so that its probes register themselves."""
    path = importlib.import_module(package).__path__
    names = [f"{package}.{module.name}" for module in pkgutil.iter_modules(path)]
    for name in names:
        importlib.import_module(name)
    return names
