"""The base of every value: frozen, made with keywords, compact as JSON."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, dataclass_transform

import msgspec

JsonObject: TypeAlias = dict[str, Any]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]
"""A duration. A run that was edited may hold a negative one: such a line is not read as a record."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plain serialisable value; fields at their default are left out of its JSON.

    That its fields are given by keyword is for type checkers to hold: a metaclass that holds it as well makes Python
    3.11 take four times as long for each value. A value that users make says `kw_only=True` itself, and so does one
    with a required field behind others.
    """
