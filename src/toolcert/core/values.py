"""The base of every value: frozen, keyword-only, compact as JSON."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, dataclass_transform

import msgspec

JsonObject: TypeAlias = dict[str, Any]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]
"""A duration. A run that was edited may hold a negative one: such a line is not read as a record."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class ValueMeta(msgspec.StructMeta):
    """Makes every value frozen and keyword-only by default."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> ValueMeta:
        settings = {"frozen": True, "kw_only": True, "omit_defaults": True} | config
        return super().__new__(mcls, name, bases, namespace, **settings)


class Value(msgspec.Struct, metaclass=ValueMeta):
    """A plain serialisable value; fields at their default are left out of its JSON."""
