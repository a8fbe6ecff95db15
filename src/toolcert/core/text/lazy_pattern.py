"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile` for what many runs never look for: compiling costs more than importing the module around it."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern:
    """Becomes the compiled pattern at the first use: its methods are then plain attributes."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._expression, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self._expression, self._flags)
        self.__dict__.update((each, getattr(compiled, each)) for each in dir(compiled) if not each.startswith("_"))
        return self.__dict__[name]
