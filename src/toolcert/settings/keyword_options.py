"""Options as keyword arguments of the library, held to the same rules as flags on construction."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.values import Value
from toolcert.settings.option import Floor, Option, Text, may_carry_secret
from toolcert.settings.options import BY_KEY


class KeywordOptions(Value):
    """The base of every options class: each field follows the rule of the option of that name.

    A word stands for the member of an enum, and one text for a tuple with one item.
    """

    def __post_init__(self) -> None:
        for field in _fields(type(self)):
            given = getattr(self, field.name)
            if given is field.default:
                continue  # some defaults, such as an empty text for "not given", are no value that a user may give
            read = check_keyword(type(self).__name__, field.name, given, field.type)
            if read is not given:
                msgspec.structs.force_setattr(self, field.name, read)


def check_keyword(owner: str, name: str, given: Any, wanted: Any, option: Option | None = None) -> Any:
    """The value that `given` means as type `wanted`; UsageError where the option's rule does not allow it.

    `owner` is the class or function that takes the argument `name`.
    """
    option = option or BY_KEY.get(name)
    try:
        return msgspec.convert(given if option is None else _by_option(option, given, wanted), wanted)
    except msgspec.ValidationError:
        complaint = f"expected {_type_name(wanted)}"
    except ValueError as error:
        complaint = str(error)
    shown = "..." if option is not None and may_carry_secret(option) else f"{given!r:.60}"
    raise UsageError(f"{owner}({name}={shown}): {complaint}.")


def _by_option(option: Option, given: Any, wanted: Any) -> Any:
    """The value as the option reads it; text for a number is a slip in Python, though it is all a shell can give."""
    kinds = (wanted, *get_args(wanted))
    if (given is None and NoneType in kinds) or isinstance(option.kind, Floor):
        return given
    if isinstance(given, str) and not isinstance(option.kind, Text):
        given = None  # for the message that says what is expected
    if option.multiple and any(get_origin(kind) is tuple for kind in kinds):
        return option.read(given)
    return option.kind.read(given, Path())


def _type_name(wanted: Any) -> str:
    return wanted.__name__ if isinstance(wanted, type) and not get_args(wanted) else str(wanted)


@cache
def _fields(owner: type[KeywordOptions]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Names, types and defaults; resolving the annotations takes longer than everything else here."""
    return msgspec.structs.fields(owner)
